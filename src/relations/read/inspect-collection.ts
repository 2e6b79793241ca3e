import type { CollectionState } from '../state/collection-state.js'
import { isComplete } from './asked-collection.js'

/** Prints as `Collection(2) [ … ]`. */
const ShownMembers = { Collection: class Collection<T> extends Array<T> {} }.Collection

/** Returning the members (and not their text) lets inspect find cycles by itself. */
export function inspectLoaded(members: readonly object[]): unknown {
  return ShownMembers.from(members)
}

/** Text for a collection that is not loaded, with the number of members that are known. */
export function inspectUnloaded(state: CollectionState): string {
  const { added } = state
  const known = isComplete(state) ? `${added.length} members, ` : added.length > 0 ? `${added.length} added, ` : ''
  return `Collection(${known}not loaded)`
}
