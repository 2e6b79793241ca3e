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

/** Lets Refs and Collections know that their changes are under way, so that what is changed meanwhile is not taken for sent. */
export async function whileSent<T>(entities: Iterable<Sent>, send: () => Promise<T>): Promise<T> {
  const states = [...entities].flatMap(changedStates)
  for (const state of states) state.beginSending()
  try {
    return await send()
  } finally {
    for (const state of states) state.endSending()
  }
}

function changedStates({ tracked, strategies }: Sent): (CollectionState | RefState)[] {
  return strategies.flatMap((strategy) => {
    const state = stateOf(tracked, strategy)
    return state?.isChanged === true ? [state] : []
  })
}
