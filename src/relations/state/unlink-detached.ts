import type { Tracked } from '../contract/contributor.js'
import { stateOf, type Deleted } from './unlink-deleted.js'
import type { RelationStrategy } from '../contract/relation-strategy.js'

/** The entity is let go of, and its changes with it: its links are as stored again at their other ends. */
export function forgetAtOthers(tracked: Tracked, strategies: readonly RelationStrategy[]): void {
  for (const { model } of strategies) stateOf(tracked, model)?.forgetAtOthers()
}

/** Whoever links to what is let go of does so by its key. */
export function keepKeys(tracked: Tracked, strategies: readonly RelationStrategy[], detached: Deleted): void {
  for (const { model } of strategies) {
    const state = stateOf(tracked, model)
    if (state !== undefined) for (const key of detached(model.target)) state.keepKey(key)
  }
}
