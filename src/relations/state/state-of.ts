import type { Collection, Ref } from '../../model/related.js'
import type { CollectionState } from './collection-state.js'
import type { RefState } from './ref-state.js'
import { setSide } from './relation-side.js'

// Kept beside the objects and not on them: what people see of a Ref or a Collection is only what they can use.
const refs = new WeakMap<object, RefState>()
const collections = new WeakMap<object, CollectionState>()

export function setRefState(ref: Ref<object>, state: RefState): void {
  refs.set(ref, state)
  setSide(ref, state)
}

export function setCollectionState(collection: Collection<object>, state: CollectionState): void {
  collections.set(collection, state)
  setSide(collection, state)
}

/** Undefined for one that another copy of the package made. */
export const findRefState = (ref: object): RefState | undefined => refs.get(ref)
export const findCollectionState = (collection: object): CollectionState | undefined => collections.get(collection)

/** True for what belongs to an entity that a session manages. */
export function isBound(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return (refs.get(value) ?? collections.get(value))?.binding !== undefined
}

export const refStateOf = (ref: object): RefState => refs.get(ref)!
export const collectionStateOf = (collection: object): CollectionState => collections.get(collection)!
