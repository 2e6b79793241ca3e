import { readProperty } from '../../codec/index.js'
import type { KeyValue } from '../../keys/index.js'
import type { RelationModel } from '../../model/index.js'
import type { OnRollback, Tracked } from '../contract/contributor.js'
import { CollectionState } from './collection-state.js'
import type { RefState } from './ref-state.js'
import { findCollectionState, findRefState } from './state-of.js'
import type { RelationStrategy } from '../contract/relation-strategy.js'

/** The keys that are deleted, of those that a relation to that class may lead to. */
export type Deleted = (target: string) => readonly KeyValue[]

/** Links to what is to be deleted, which were made here and are not stored yet, will not be, unless it stays after all. */
export function takeBackLinks(
  tracked: Tracked,
  strategies: readonly RelationStrategy[],
  deleted: Deleted,
  onTakeBack: OnRollback,
): void {
  for (const strategy of strategies) {
    strategy.takeBack?.(tracked, deleted, onTakeBack)
    const state = stateOf(tracked, strategy.model)
    const unsent = state && deleted(strategy.model.target).filter((key) => state.isUnsent(key))
    for (const key of unsent ?? []) onTakeBack(takeBackTentatively(state!, key))
  }
}

function takeBackTentatively(state: RefState | CollectionState, key: KeyValue): () => void {
  const takeBack = (): void => state.takeBack(key)
  return state instanceof CollectionState ? state.tentatively(key, takeBack) : state.tentatively(takeBack)
}

/** What is deleted vanishes from whatever is loaded. */
export function forgetLinks(tracked: Tracked, strategies: readonly RelationStrategy[], deleted: Deleted): void {
  for (const { model } of strategies) {
    const state = stateOf(tracked, model)
    if (state !== undefined) for (const key of deleted(model.target)) state.forget(key)
  }
}

/** Undefined where its members are stored with their owner. */
export function stateOf({ entity }: Tracked, { name, holds, strategy }: RelationModel) {
  const value = strategy === 'consolidate' ? undefined : readProperty(entity, name)
  if (typeof value !== 'object' || value === null) return undefined
  return holds === 'ref' ? findRefState(value) : findCollectionState(value)
}
