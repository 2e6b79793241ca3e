import type { KeyValue } from '../../keys/index.js'
import { deletedBinOf } from '../../model/index.js'
import { userKeyId } from '../../plan/record-key.js'
import type { Binding } from '../contract/binding.js'
import type { Member } from '../contract/member.js'
import type { CollectionState } from '../state/collection-state.js'
import { shownMembers } from './shown-members.js'

/** True where a question is also, or only, about links that were ended. */
export const asksEnded = ({ deleted, strategy }: Binding): boolean =>
  deleted !== undefined && strategy.ended !== undefined

/**
 * Keys of members with those whose links were ended, or only these and those who were deleted softly; a link that is ended here, and not
 * sent yet, is an ended one.
 */
export async function keysWithEnded(state: CollectionState, binding: Binding): Promise<KeyValue[]> {
  const { tracked, reader, strategy, relation, deleted } = binding
  const target = reader.entityModel(relation.target)
  const isAmong = (key: KeyValue): boolean => state.asShown(() => state.isRemoved(key))
  const [linked, gone, ended] = await Promise.all([
    strategy.members!.keys(tracked, reader),
    deleted === 'only' && deletedBinOf(target) !== undefined
      ? shownMembers(strategy.members!, target, 'only').keys(tracked, reader)
      : [],
    strategy.ended!.keys(tracked, reader),
  ])
  const added = state.asShown(() => state.added.flatMap((member) => state.keyOf(member) ?? []))
  if (deleted === 'include') return distinct([...linked, ...ended, ...added])
  // A link that is there is not an ended one, also where a process died before it was forgotten.
  const again = new Set([...added, ...linked].map(userKeyId))
  const left = ended.filter((key) => !again.has(userKeyId(key)))
  return distinct([...gone, ...left, ...linked.filter(isAmong)])
}

/** True where the member is shown, with or without ended links; the keys of the others are not read. */
export async function hasWithEnded(state: CollectionState, binding: Binding, member: Member): Promise<boolean> {
  const { tracked, reader, strategy, relation, deleted } = binding
  if (state.asShown(() => state.isAdded(member))) return deleted === 'include'
  const key = state.keyOf(member)
  if (key === null) return false
  const isEnding = state.asShown(() => state.isRemoved(member))
  const target = reader.entityModel(relation.target)
  const mode = deleted === 'include' || isEnding ? 'include' : 'only'
  const isAsked = mode === 'include' || deletedBinOf(target) !== undefined
  const [linked, ended] = await Promise.all([
    isAsked ? shownMembers(strategy.members!, target, mode).countOf(tracked, [key], reader) : 0,
    strategy.ended!.attributesOf(tracked, key, reader),
  ])
  if (linked > 0 || ended === null || mode === 'include') return linked > 0 || ended !== null
  return (await strategy.members!.countOf(tracked, [key], reader)) === 0
}

const distinct = (keys: readonly KeyValue[]): KeyValue[] => [
  ...new Map(keys.map((key) => [userKeyId(key), key])).values(),
]
