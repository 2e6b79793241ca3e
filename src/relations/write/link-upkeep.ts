import { read } from '../../plan/command.js'
import type { Draft } from '../../plan/plan-draft.js'
import { isWrittenOrMissing } from '../../plan/outcome.js'
import { recordId, userKeyId, type UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { LinkBin, LinkEnd } from './link-bin.js'

/** The two records of a link; the owner's is the truth. */
export interface LinkPair {
  readonly owner: LinkEnd
  readonly other: LinkEnd
}

/** Side of several links: the keys that its record is asked for, and those that it has. */
interface Side {
  readonly end: LinkEnd
  readonly asked: UserKey[]
  readonly has: Set<string>
}

/**
 * Keeps both sides of a link the same while several sessions make it and take it out: whoever has changed it reads both records
 * afterwards, and where they disagree brings the other in line with the owner, until they do not.
 */
export class LinkUpkeep {
  readonly #bin: LinkBin
  readonly #name: string

  constructor(bin: LinkBin, name: string) {
    this.#bin = bin
    this.#name = name
  }

  /** Both sides were changed outside of a transaction; all links of a stage are read in one batch, each record once. */
  check(pair: LinkPair, draft: Draft): void {
    if (!draft.isInside) draft.collect(`links ${this.#name}`, pair, (pairs) => this.#compare(pairs, draft))
  }

  #compare(pairs: readonly LinkPair[], draft: Draft): void {
    const sides = new Map<string, Side>()
    for (const { owner, other } of pairs) {
      sideOf(owner, sides).asked.push(other.key.key)
      sideOf(other, sides).asked.push(owner.key.key)
    }
    let open = sides.size
    for (const { end, asked, has } of sides.values()) {
      draft.check(read(end.model.name, end.key, 'none', [this.#bin.among(end.bin, asked)]), (record) => {
        for (const key of keysIn(record?.bins[end.bin])) has.add(userKeyId(key))
        if (--open === 0) for (const pair of pairs) this.#bringInLine(pair, sides, draft)
      })
    }
  }

  #bringInLine({ owner, other }: LinkPair, sides: Map<string, Side>, draft: Draft): void {
    const isThere = sideOf(owner, sides).has.has(userKeyId(other.key.key))
    if (isThere === sideOf(other, sides).has.has(userKeyId(owner.key.key))) return
    if (!isThere) this.#unlink({ owner, other }, draft)
    else if (this.#bin.attributesOf === undefined) this.#link({ owner, other }, undefined, draft)
    else {
      const { model, key, bin } = owner
      draft.check(read(model.name, key, 'none', [this.#bin.attributesOf(bin, other.key.key)]), (record) =>
        this.#link({ owner, other }, record?.bins[bin] ?? undefined, draft),
      )
    }
  }

  #link({ owner, other }: LinkPair, attributes: Value | undefined, draft: Draft): void {
    draft.add('undo', this.#bin.link(other, owner.key.key, attributes), ({ state, reason }) => {
      if (state === 'written') this.check({ owner, other }, draft)
      if (reason !== 'missing' && reason !== 'guard') return state === 'written'
      // A record that is gone cannot be a member.
      draft.add('undo', this.#bin.unlink(owner, other.key.key), isWrittenOrMissing)
      return true
    })
  }

  #unlink({ owner, other }: LinkPair, draft: Draft): void {
    draft.add('undo', this.#bin.unlink(other, owner.key.key), (outcome) => {
      if (outcome.state === 'written') this.check({ owner, other }, draft)
      return isWrittenOrMissing(outcome)
    })
  }
}

/** Asked for one key alone, a map answers with that key. */
function keysIn(found: Value | undefined): readonly UserKey[] {
  if (found === undefined || found === null) return []
  return Array.isArray(found) ? (found as readonly UserKey[]) : [found as UserKey]
}

function sideOf(end: LinkEnd, sides: Map<string, Side>): Side {
  const id = `${recordId(end.key)}#${end.bin}`
  const side = sides.get(id) ?? { end, asked: [], has: new Set<string>() }
  sides.set(id, side)
  return side
}
