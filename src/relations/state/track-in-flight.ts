import { readProperty } from '../../codec/index.js'
import type { CollectionState } from './collection-state.js'
import type { RefState } from './ref-state.js'
import type { Tracked } from '../contract/contributor.js'
import { findCollectionState, findRefState } from './state-of.js'
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
  return strategies.flatMap(({ model: { name, strategy } }) => {
    const related = strategy === 'consolidate' ? undefined : readProperty(tracked.entity, name)
    if (typeof related !== 'object' || related === null) return []
    const state = findCollectionState(related) ?? findRefState(related)
    return state?.isChanged === true ? [state] : []
  })
}
