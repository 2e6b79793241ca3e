import { sameValue } from '../../plan/same-value.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { FindingKind } from '../contract/finding.js'
import type { StoredLink } from '../contract/link-verification.js'

/** End of a link as it was read. */
export interface Reading {
  readonly exists: boolean
  readonly holds: boolean
  /** Set when its delete has begun: whoever finishes that also takes care of its links. */
  readonly isDeleting: boolean
  /** Set when its record is in the archive, or outside of it, and that of the other end, which belongs to it, is not. */
  readonly isMoved?: boolean
  /** Set when its record is in the archive. */
  readonly isCold?: true
  /** Set while its record is being archived, or comes back: whoever goes on with that also takes care of its links. */
  readonly isMoving?: boolean
  /** Milliseconds since its last write. */
  readonly age: number
  readonly generation: number
  /** The record that the link is kept in, if that is another one: its age and generation are given. */
  readonly home?: { readonly key: RecordKey; readonly isThere: boolean }
  /** Attributes that it stores with the link. */
  readonly carried?: Value
  /** Set when the link, which was ended, is there again. */
  readonly isAgain?: boolean
  /** The one that it holds, where it can hold only one. */
  readonly held?: Value
  /** Set when that one is another record, which has the same link to it. */
  readonly isTaken?: boolean
}

export interface Verdict {
  readonly kind: FindingKind
  /** The end that has to change. */
  readonly wrong: 'owner' | 'mirror'
  readonly change: 'add' | 'remove'
}

const DIFFERENT: Verdict = Object.freeze({ kind: 'differentAttributes', wrong: 'mirror', change: 'add' })

const isSame = (owner: Reading, mirror: Reading): boolean =>
  owner.carried === undefined || mirror.carried === undefined || sameValue(owner.carried, mirror.carried)

/** Returns what is wrong with a link that was found at one side; undefined when its ends agree. */
export function judge(
  link: StoredLink,
  owner: Reading,
  mirror: Reading,
  side: 'owner' | 'mirror',
): Verdict | undefined {
  if ([owner, mirror].some(({ isDeleting, isMoving }) => isDeleting || isMoving === true)) return undefined
  if (link.isNote) {
    return owner.holds && !mirror.holds ? { kind: link.unmirrored, wrong: 'owner', change: 'remove' } : undefined
  }
  // Whether the mirror has it again follows from the owner.
  if (owner.isAgain === true)
    return { owner, mirror }[side].holds ? { kind: 'endedAgain', wrong: side, change: 'remove' } : undefined
  if (owner.exists && mirror.exists && owner.isCold !== mirror.isCold) return judgeApart(link, owner, mirror)
  if (owner.holds) {
    if (!mirror.exists) return { kind: 'danglingKey', wrong: 'owner', change: 'remove' }
    if (link.mirror.holds === undefined) return undefined
    if (mirror.holds) return isSame(owner, mirror) ? undefined : DIFFERENT
    // Two that agree are right, and a third that names one of them is not.
    if (mirror.isTaken) return { kind: link.unmirrored, wrong: 'owner', change: 'remove' }
    return { kind: link.unmirrored, wrong: 'mirror', change: 'add' }
  }
  if (!mirror.holds) return undefined
  return { kind: owner.exists ? 'oneSidedLink' : 'danglingKey', wrong: 'mirror', change: 'remove' }
}

/** An archived record takes no changes, and the other end may have dropped the link since: what both hold is a link. */
function judgeApart(link: StoredLink, owner: Reading, mirror: Reading): Verdict | undefined {
  if (link.mirror.holds === undefined || owner.holds === mirror.holds) return undefined
  if (owner.holds) return { kind: link.unmirrored, wrong: 'owner', change: 'remove' }
  return { kind: 'oneSidedLink', wrong: 'mirror', change: 'remove' }
}
