import type { Collection, Ref } from '../../model/related.js'
import { CollectionState } from './collection-state.js'
import { RefState } from './ref-state.js'
import { setSide, sideOf } from './relation-side.js'

// Kept beside the objects and not on them: what people see of a Ref or a Collection is only what they can use.

export function setRefState(ref: Ref<object>, state: RefState): void {
  setSide(ref, state)
}

export function setCollectionState(collection: Collection<object>, state: CollectionState): void {
  setSide(collection, state)
}

/** Undefined for one that another copy of the package made. */
export function findRefState(ref: object): RefState | undefined {
  const side = sideOf(ref)
  return side instanceof RefState ? side : undefined
}

export function findCollectionState(collection: object): CollectionState | undefined {
  const side = sideOf(collection)
  return side instanceof CollectionState ? side : undefined
}

/** True for what belongs to an entity that a session manages. */
export function isBound(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return (findRefState(value) ?? findCollectionState(value))?.binding !== undefined
}

export const refStateOf = (ref: object): RefState => sideOf(ref) as RefState
export const collectionStateOf = (collection: object): CollectionState => sideOf(collection) as CollectionState
