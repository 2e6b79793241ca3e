import type { KeyValue } from '../../keys/index.js'
import type { Tracked } from '../contract/tracked.js'
import type { Deleted, OnRollback } from '../contract/contributor.js'
import { CollectionState } from './collection-state.js'
import type { RefState } from './ref-state.js'
import { stateOf } from './state-of.js'
import type { RelationStrategy } from '../contract/relation-strategy.js'

/** Links to what is to be deleted, which were made here and are not stored yet, will not be, unless it stays after all. */
export function takeBackLinks(
  tracked: Tracked,
  strategies: readonly RelationStrategy[],
  deleted: Deleted,
  onTakeBack: OnRollback,
  isPreview: boolean,
): void {
  for (const strategy of strategies) {
    strategy.takeBack?.(tracked, deleted, onTakeBack, isPreview)
    const state = stateOf(tracked, strategy)
    const unsent = state && deleted(strategy.model.target).filter((key) => state.isUnsent(key))
    for (const key of unsent ?? []) onTakeBack(takeBackTentatively(state!, key, isPreview))
  }
}

function takeBackTentatively(state: RefState | CollectionState, key: KeyValue, isPreview: boolean): () => void {
  const takeBack = (): void => state.takeBack(key)
  if (state instanceof CollectionState) return state.tentatively(key, takeBack, isPreview)
  return state.tentatively(takeBack, isPreview)
}

/** Removes deleted entities from loaded references and collections. */
export function forgetLinks(tracked: Tracked, strategies: readonly RelationStrategy[], deleted: Deleted): void {
  for (const strategy of strategies) {
    const state = stateOf(tracked, strategy)
    if (state !== undefined) for (const key of deleted(strategy.model.target)) state.forget(key)
  }
}

/** Hides entities that were deleted softly in loaded references and collections. */
export function hideLinks(tracked: Tracked, strategies: readonly RelationStrategy[], deleted: Deleted): void {
  for (const strategy of strategies) {
    const state = stateOf(tracked, strategy)
    if (state !== undefined) for (const key of deleted(strategy.model.target)) state.hide(key)
  }
}
