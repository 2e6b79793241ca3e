import type { Tracked } from '../contract/tracked.js'
import { stateOf } from './state-of.js'
import type { Deleted } from '../contract/contributor.js'
import type { RelationStrategy } from '../contract/relation-strategy.js'

/** The entity is detached, and its changes with it: its links are as stored again at their other ends. */
export function forgetAtOthers(tracked: Tracked, strategies: readonly RelationStrategy[]): void {
  for (const strategy of strategies) stateOf(tracked, strategy)?.forgetAtOthers()
}

/** Replaces links to detached entities by their keys. */
export function keepKeys(tracked: Tracked, strategies: readonly RelationStrategy[], detached: Deleted): void {
  for (const strategy of strategies) {
    const state = stateOf(tracked, strategy)
    if (state !== undefined) for (const key of state.linkedAmong(detached(strategy.model.target))) state.keepKey(key)
  }
}
