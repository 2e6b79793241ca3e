import type { KeyValue } from '../../keys/index.js'
import type { Tracked } from '../contract/tracked.js'
import type { Deleted, OnRollback } from '../contract/contributor.js'
import type { DeletedKeys } from '../contract/deleted-keys.js'
import { CollectionState } from './collection-state.js'
import type { RefState } from './ref-state.js'
import { refStateOf, stateOf } from './state-of.js'
import type { LinkClass } from '../contract/link-class.js'
import { readProperty } from '../../codec/index.js'
import type { RelationStrategy } from '../contract/relation-strategy.js'

/** Links to what is to be deleted, which were made here and are not stored yet, will not be, unless it stays after all. */
export function rollbackLinks(
  tracked: Tracked,
  strategies: readonly RelationStrategy[],
  deleted: Deleted,
  onRollback: OnRollback,
  isPreview: boolean,
): void {
  for (const strategy of strategies) {
    strategy.rollback?.(tracked, deleted, onRollback, isPreview)
    const state = stateOf(tracked, strategy)
    // A link record that is not stored is forgotten as a whole, and has its ends until then.
    if (state === undefined || (strategy.isEndOfLink === true && tracked.state === 'new')) continue
    const unsent = [...state.linkedAmong(deleted(strategy.model.target))].filter((key) => state.isUnsent(key))
    for (const key of unsent) onRollback(rollbackTentatively(state, key, isPreview))
  }
}

function rollbackTentatively(state: RefState | CollectionState, key: KeyValue, isPreview: boolean): () => void {
  const rollback = (): void => state.rollback(key)
  if (state instanceof CollectionState) return state.tentatively(key, rollback, isPreview)
  return state.tentatively(rollback, isPreview)
}

/** Removes deleted entities from loaded references and collections. */
export function forgetLinks(tracked: Tracked, strategies: readonly RelationStrategy[], deleted: Deleted): void {
  for (const strategy of strategies) {
    const state = stateOf(tracked, strategy)
    if (state === undefined) continue
    const keys = deleted(strategy.model.target)
    dropReadBin(state, keys)
    for (const key of state.linkedAmong(keys)) {
      if (isStillListed(state, strategy, key)) state.keepKey(key)
      else state.forget(key)
    }
    if (strategy.links !== undefined && state instanceof CollectionState)
      dropLinksTo(state, strategy.links, deleted(strategy.links.target.name))
  }
}

/** True for an orphan that is gone and not yet taken off a list with one side, which comes last. */
const isStillListed = (state: RefState | CollectionState, { model }: RelationStrategy, key: KeyValue): boolean =>
  state instanceof CollectionState && model.orphans === 'delete' && model.inverse === undefined && state.isRemoved(key)

/** Hides entities that were deleted softly in loaded references and collections. */
export function hideLinks(tracked: Tracked, strategies: readonly RelationStrategy[], deleted: Deleted): void {
  for (const strategy of strategies) {
    const state = stateOf(tracked, strategy)
    if (state === undefined) continue
    const keys = deleted(strategy.model.target)
    dropReadBin(state, keys)
    for (const key of state.linkedAmong(keys)) state.hide(key)
  }
}

/** Links that are not stored yet, to what is deleted. */
function dropLinksTo(state: CollectionState, { far }: LinkClass, keys: DeletedKeys): void {
  if (keys.size === 0) return
  for (const link of state.addedEntities) {
    const { key } = refStateOf(readProperty(link, far) as object)
    if (key !== null && keys.has(key)) state.mark(link, undefined)
  }
}

/** A list that was read with its record, and not looked at yet, may name them. */
function dropReadBin(state: RefState | CollectionState, keys: DeletedKeys): void {
  if (keys.size > 0 && state instanceof CollectionState) state.loaded.dropBin()
}
