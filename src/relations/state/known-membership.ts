import type { Binding } from '../contract/binding.js'
import type { LoadedMembers } from './loaded-members.js'
import { isEntity, isNew, type Member } from '../contract/member.js'
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
