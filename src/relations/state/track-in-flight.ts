import { readProperty } from '../../codec/index.js'
import type { CollectionState } from './collection-state.js'
import type { Tracked } from '../contract/contributor.js'
import { findCollectionState } from './state-of.js'
import type { RelationStrategy } from '../contract/relation-strategy.js'

/** An entity whose changes are being sent, and how its relations are stored. */
export interface Sent {
  readonly tracked: Tracked
  readonly strategies: readonly RelationStrategy[]
}

/** Lets collections know that their changes are under way, so that what is changed meanwhile is not taken for sent. */
export async function whileSent<T>(entities: Iterable<Sent>, send: () => Promise<T>): Promise<T> {
  const states = [...entities].flatMap(changedStates)
  for (const state of states) state.beginSending()
  try {
    return await send()
  } finally {
    for (const state of states) state.endSending()
  }
}

function changedStates({ tracked, strategies }: Sent): CollectionState[] {
  return strategies.flatMap(({ model: { name, holds, strategy } }) => {
    const related =
      holds === 'collection' && strategy !== 'consolidate' ? readProperty(tracked.entity, name) : undefined
    const state = typeof related === 'object' && related !== null ? findCollectionState(related) : undefined
    return state?.isChanged === true ? [state] : []
  })
}
