import { goneUnless, read, write, type ReadCommand } from '../../../plan/command.js'
import type { Draft } from '../../../plan/draft.js'
import { bin, eq, mapCount, mapGet, value } from '../../../plan/expression.js'
import { readExpression } from '../../../plan/operations.js'
import { isWrittenOrMissing } from '../../../plan/outcome.js'
import { recordId, type RecordKey, type UserKey } from '../../../plan/record-key.js'
import { sameValue } from '../../../plan/same-value.js'
import type { StoredRecord } from '../../../plan/outcome.js'
import { endedBinOf, type EndedLink } from '../../write/ended-bin.js'
import { linkWrite } from '../../write/link-bin.js'
import type { LinkPair, LinkSide } from '../../write/link-upkeep.js'

/** Question to one of two records. */
interface Asked {
  readonly end: LinkSide
  /** The record that keeps these links. */
  readonly home: RecordKey
  readonly others: UserKey[]
}

/**
 * Keeps what both sides store of ended links the same while several sessions end a link and make it again: whoever has changed one reads
 * both records afterwards, and where they disagree brings the other in line with the owner.
 */
export class EndedUpkeep {
  readonly #name: string
  readonly #recode: (link: EndedLink) => EndedLink

  constructor(name: string, recode: (link: EndedLink) => EndedLink) {
    this.#name = name
    this.#recode = recode
  }

  check(pair: LinkPair, draft: Draft): void {
    if (!draft.isInside) draft.collect(`ended links ${this.#name}`, pair, (pairs) => this.#compare(pairs, draft))
  }

  #compare(pairs: readonly LinkPair[], draft: Draft): void {
    const asked = new Map<string, Asked>()
    const found = new Map<string, EndedLink | undefined>()
    for (const { owner, other } of pairs) {
      askedOf(owner, other.ref, asked).others.push(other.ref)
      askedOf(other, owner.ref, asked).others.push(owner.ref)
    }
    let open = asked.size
    for (const each of asked.values())
      draft.check(questionOf(each), (record) => {
        each.others.forEach((other, i) => found.set(idOf(each.end, other), linkIn(record, i)))
        if (--open === 0) for (const pair of pairs) this.#bringInLine(pair, found, draft)
      })
  }

  #bringInLine({ owner, other }: LinkPair, found: ReadonlyMap<string, EndedLink | undefined>, draft: Draft): void {
    const [right, there] = [found.get(idOf(owner, other.ref)), found.get(idOf(other, owner.ref))]
    if (right === undefined ? there === undefined : there !== undefined && sameValue(right, there)) return
    const { model, bin: links, ended: name } = other.store
    const ended = endedBinOf(name!)
    const member = owner.ref
    const home = other.store.homeOf(other.key, member)
    if (right === undefined)
      return draft.add('undo', linkWrite(model, home, [ended.forget([member])]), isWrittenOrMissing)
    // A link that is there again is not an ended one.
    const unlinked = goneUnless(eq(mapCount(bin('map', links), member), value(0)))
    const copy = write(model.name, home, [ended.copy(member, this.#recode(right))], {
      exists: 'mustExist',
      ttl: 'keep',
      guards: [unlinked],
    })
    draft.add('undo', copy, (outcome) => isWrittenOrMissing(outcome) || outcome.reason === 'guard')
  }
}

const idOf = ({ store, key }: LinkSide, other: UserKey): string => `${recordId(key)}#${store.bin}#${String(other)}`

function askedOf(end: LinkSide, other: UserKey, all: Map<string, Asked>): Asked {
  const home = end.store.homeOf(end.key, other)
  const id = `${recordId(home)}#${recordId(end.key)}#${end.store.bin}`
  const known = all.get(id) ?? { end, home, others: [] }
  all.set(id, known)
  return known
}

function questionOf({ end: { store }, home, others }: Asked): ReadCommand {
  const map = bin('map', store.ended!)
  return read(
    store.model.name,
    home,
    'none',
    others.map((other, i) => readExpression(nameOf(i), mapGet(map, other, 'list'))),
  )
}

const nameOf = (i: number): string => `_sk.ended${i}`

function linkIn(record: StoredRecord | null, i: number): EndedLink | undefined {
  const link = record?.bins[nameOf(i)]
  return link == null ? undefined : (link as unknown as EndedLink)
}
