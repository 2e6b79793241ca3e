import type { CollectionState } from './collection-state.js'
import type { RefState } from './ref-state.js'
import type { Tracked } from '../contract/tracked.js'
import { stateOf } from './unlink-deleted.js'
import type { RelationStrategy } from '../contract/relation-strategy.js'

/** An entity whose changes are being sent, and how its relations are stored. */
export interface Sent {
  readonly tracked: Tracked
  readonly strategies: readonly RelationStrategy[]
}

/** Marks changed Refs and Collections as being sent, so that what is changed meanwhile is not taken for sent; returns what ends it. */
export function beginSending(entities: Iterable<Sent>): () => void {
  const states = [...entities].flatMap(changedStates)
  for (const state of states) state.beginSending()
  return () => states.forEach((state) => state.endSending())
}

function changedStates({ tracked, strategies }: Sent): (CollectionState | RefState)[] {
  return strategies.flatMap((strategy) => {
    const state = stateOf(tracked, strategy)
    return state?.isChanged === true ? [state] : []
  })
}
