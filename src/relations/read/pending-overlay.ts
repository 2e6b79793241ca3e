import type { KeyValue } from '../../keys/index.js'
import { userKeyId } from '../../plan/record-key.js'
import type { Binding } from '../contract/binding.js'
import type { CollectionState } from '../state/collection-state.js'
import type { Member } from '../contract/member.js'
import { hasShownChanges } from '../state/state-of.js'
import { asksEnded, hasWithEnded, keysWithEnded } from './ended-members.js'
import { shownMembers } from './shown-members.js'
import { cut, type CollectionMembers, type KeyRange } from '../contract/collection-members.js'

// Overlays the server's answers with this session's unsent changes.

export async function hasMember(state: CollectionState, binding: Binding, member: Member): Promise<boolean> {
  if (asksEnded(binding)) return hasWithEnded(state, binding, member)
  if (state.asShown(() => state.isAdded(member))) return binding.deleted !== 'only'
  if (state.asShown(() => state.isRemoved(member))) return false
  const key = state.keyOf(member)
  if (key === null) return false
  return (await members(binding).countOf(binding.tracked, [key], binding.reader)) > 0
}

export async function countMembers(state: CollectionState, binding: Binding): Promise<number> {
  const { tracked, reader } = binding
  if (asksEnded(binding)) return (await keysWithEnded(state, binding)).length
  const source = members(binding)
  const [added, removed] = state.asShown(() => [keysOf(state, state.added), keysOf(state, state.removed)])
  const [stored, already, lost] = await Promise.all([
    source.count(tracked, reader),
    added.length === 0 ? 0 : source.countOf(tracked, added, reader),
    removed.length === 0 ? 0 : source.countOf(tracked, removed, reader),
  ])
  return stored + state.asShown(() => state.added.length) - already - lost
}

/** Keys of all members, or of those in a range. */
export async function memberKeys(
  state: CollectionState,
  binding: Binding,
  range?: KeyRange,
): Promise<readonly KeyValue[]> {
  const { tracked, reader } = binding
  if (asksEnded(binding)) {
    const keys = await keysWithEnded(state, binding)
    return range === undefined ? keys : cut(keys, range)
  }
  if (range !== undefined && hasShownChanges(state)) return changedPage(state, binding, range)
  return withChanges(state, await members(binding).keys(tracked, reader, range))
}

export async function memberPage(state: CollectionState, binding: Binding, range: KeyRange): Promise<object[]> {
  const { reader, relation } = binding
  const keys = await memberKeys(state, binding, range)
  const found = await reader.find(reader.entityModel(relation.target), keys)
  const present = found.filter((member) => member !== null)
  await reader.load(present)
  return present.map(({ entity }) => entity)
}

/** Removed members leave gaps before the page, so it is cut from what the server has up to its end. */
async function changedPage(state: CollectionState, binding: Binding, range: KeyRange): Promise<readonly KeyValue[]> {
  const { offset, count } = range
  // From the end: what was added here stands last, unless it is stored already, which only all keys tell.
  if (offset < 0) return cut(await memberKeys(state, binding), range)
  const upTo = { offset: 0, count: offset + count + state.asShown(() => state.removed.length) }
  const stored = await members(binding).keys(binding.tracked, binding.reader, upTo)
  return withChanges(state, stored).slice(offset, offset + count)
}

/** Applies to these keys what was added and removed here. */
export function withChanges(state: CollectionState, stored: readonly KeyValue[]): KeyValue[] {
  return state.asShown(() => {
    if (!state.isChanged) return [...stored]
    const kept = stored.filter((key) => !state.isRemoved(key))
    const known = new Set(kept.map(userKeyId))
    const added = keysOf(state, state.added).filter((key) => !known.has(userKeyId(key)))
    return [...kept, ...added]
  })
}

function keysOf(state: CollectionState, members: readonly Member[]): KeyValue[] {
  return members.flatMap((member) => state.keyOf(member) ?? [])
}

function members({ strategy, relation, reader, deleted }: Binding): CollectionMembers {
  return shownMembers(strategy.members!, reader.entityModel(relation.target), deleted, strategy.links)
}
