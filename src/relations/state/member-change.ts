import { KeyedMembers } from './keyed-members.js'
import type { Member } from '../contract/member.js'

/**
 * `added`: to be stored as a member. `removed`: to be taken out of what is stored.
 * `orphaned`: added here and taken out before that was sent; where orphans are deleted, it is one.
 */
export type ChangeKind = 'added' | 'removed' | 'orphaned'

/**
 * Knowledge of a session about whether a member is stored.
 * `elsewhere`: its own record names another owner; another session may have moved it here since that was read.
 */
export type Knowledge = 'stored' | 'absent' | 'elsewhere' | 'unknown'

/** How a member of a collection is to change. Never modified, so that whoever has planned one can tell whether it is still the same. */
export interface MemberChange {
  readonly kind: ChangeKind
  readonly member: Member
  /** The change may have reached one of the records it concerns, and not yet all: it is carried through, or turned back, but never forgotten. */
  readonly isPartlySent: boolean
  /** The instance to show for a member that is known by its key alone since it was detached. */
  readonly shown?: object
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
 * The change of a member after it was taken out. `orphaned` is no change at all where orphans are kept, and where the other side let go.
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

/** The changes of a collection by member, in the order they were made. */
export class MemberChanges extends KeyedMembers<MemberChange> {
  protected memberOf({ member }: MemberChange): Member {
    return member
  }

  /** The members that are to be stored. */
  get added(): Member[] {
    return this.#of((kind) => kind === 'added')
  }

  /** The members that are to be taken out, and those that were before they were stored. */
  get removed(): Member[] {
    return this.#of((kind) => kind !== 'added')
  }

  #of(isWanted: (kind: ChangeKind) => boolean): Member[] {
    if (this.size === 0) return []
    const members: Member[] = []
    for (const { kind, member } of this) if (isWanted(kind)) members.push(member)
    return members
  }
}
