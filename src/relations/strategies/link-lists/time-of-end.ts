import { userKeyId } from '../../../plan/record-key.js'
import type { Member } from '../../contract/member.js'
import type { CollectionState } from '../../state/collection-state.js'

/** When a link was ended: the same for both of its records, also when the flush is repeated. */
export function timeOfEnd(state: CollectionState, member: Member): number {
  let times = endTimes.get(state)
  if (times === undefined) endTimes.set(state, (times = new Map<string, number>()))
  const id = userKeyId(state.keyOf(member)!)
  const at = times.get(id) ?? Date.now()
  times.set(id, at)
  return at
}

/** Stored in both records: a link that is made again and ended again has a time of its own. */
export function forgetTimeOfEnd(state: CollectionState, member: Member): void {
  endTimes.get(state)?.delete(userKeyId(state.keyOf(member)!))
}

const endTimes = new WeakMap<CollectionState, Map<string, number>>()
