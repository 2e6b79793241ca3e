import type { Value } from '../../plan/value.js'
import type { FindingKind } from './finding.js'
import type { StoredLink } from './stored-link.js'

/** One end of a link as it was read. */
export interface Reading {
  readonly exists: boolean
  readonly holds: boolean
  /** Its delete has begun: whoever finishes that also takes care of its links. */
  readonly isDeleting: boolean
  /** Milliseconds since its last write. */
  readonly age: number
  readonly generation: number
  /** What it stores with the link. */
  readonly carried?: Value
}

export interface Verdict {
  readonly kind: FindingKind
  /** The end that has to change. */
  readonly wrong: 'owner' | 'mirror'
  readonly change: 'add' | 'remove'
}

/** What is wrong with a link; undefined when its ends agree. */
export function judge(link: StoredLink, owner: Reading, mirror: Reading): Verdict | undefined {
  if (owner.isDeleting || mirror.isDeleting) return undefined
  if (owner.holds) {
    if (!mirror.exists) return { kind: 'danglingKey', wrong: 'owner', change: 'remove' }
    const follows = link.mirror.holds === undefined || mirror.holds
    return follows ? undefined : { kind: link.unmirrored, wrong: 'mirror', change: 'add' }
  }
  if (!mirror.holds) return undefined
  return { kind: owner.exists ? 'oneSidedLink' : 'danglingKey', wrong: 'mirror', change: 'remove' }
}
