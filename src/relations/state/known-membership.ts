import type { Binding } from '../contract/binding.js'
import type { LoadedMembers } from './loaded-members.js'
import { isEntity, isNew, type Member } from '../contract/member.js'
import type { ChangeKind } from './members-and-changes.js'
import { otherSide, type Knowledge } from './relation-side.js'

/** Knowledge of whether a member is stored, without asking the server. */
export function knowledgeOf(member: Member, { members }: LoadedMembers, binding: Binding | undefined): Knowledge {
  // A session that takes the owner in may find it stored.
  if (binding === undefined) return 'unknown'
  if (members !== undefined) return members.has(member) ? 'stored' : 'absent'
  if (!isEntity(member) || binding.tracked.state === 'gone') return 'unknown'
  if (isNew(member, binding.reader)) return 'absent'
  return isTold(member, binding) ? ownWord(member, binding) : 'unknown'
}

/** True when the entity itself says whom it belongs to. */
export function isTold(member: Member, { relation: { kind, inverse } }: Binding): member is object {
  return isEntity(member) && kind === 'oneToMany' && inverse !== undefined
}

/** Knowledge from the child's own record about its owner. */
function ownWord(child: object, { relation, reader, tracked }: Binding): Knowledge {
  const key = reader.keyOf(tracked.entity, relation.knownAs)
  return (key === null ? undefined : otherSide(relation, child)?.wordOf(key)) ?? 'unknown'
}

/**
 * The change of a member after it was added. `+ link` is the same, but leaves `added` in every case: the attributes are to be stored.
 *
 * | knowledge | –     | added | removed | orphaned |
 * | --------- | ----- | ----- | ------- | -------- |
 * | stored    | –     | added | –       | –        |
 * | absent    | added | added | added   | added    |
 * | elsewhere | added | added | added   | added    |
 * | unknown   | added | added | added   | added    |
 *
 * A change that is partly sent or in flight leaves what is stored unknown.
 */
export function afterAdd(before: ChangeKind | undefined, knowledge: Knowledge): ChangeKind | undefined {
  return before !== 'added' && knowledge === 'stored' ? undefined : 'added'
}

/**
 * The change of a member after it was taken out. `orphaned` is not a change at all where orphans are kept, and where the other side has unlinked it.
 *
 * | knowledge | –       | added    | removed | orphaned |
 * | --------- | ------- | -------- | ------- | -------- |
 * | stored    | removed | removed  | removed | orphaned |
 * | absent    | –       | orphaned | removed | orphaned |
 * | elsewhere | removed | orphaned | removed | orphaned |
 * | unknown   | removed | removed  | removed | orphaned |
 */
export function afterRemove(before: ChangeKind | undefined, knowledge: Knowledge): ChangeKind | undefined {
  if (before === 'removed' || before === 'orphaned') return before
  if (before === 'added') return knowledge === 'absent' || knowledge === 'elsewhere' ? 'orphaned' : 'removed'
  return knowledge === 'absent' ? undefined : 'removed'
}
