import { goneUnless, read, write, type ReadCommand } from '../../../plan/command.js'
import type { Draft } from '../../../plan/draft.js'
import { bin, eq, mapCount, mapGet, value } from '../../../plan/expression.js'
import { readExpression } from '../../../plan/operations.js'
import { isWrittenOrMissing } from '../../../plan/outcome.js'
import { recordId, type RecordKey, type UserKey } from '../../../plan/record-key.js'
import { sameValue } from '../../../plan/same-value.js'
import type { Outcome, StoredRecord } from '../../../plan/outcome.js'
import type { Value } from '../../../plan/value.js'
import type { MemberStore } from '../../contract/member-store.js'
import type { Reader } from '../../contract/reader.js'
import { endedBinOf, type EndedLink } from '../../write/ended-bin.js'
import { linkWrite } from '../../write/link-bin.js'
import type { LinkPair, LinkSide } from '../../write/link-upkeep.js'

type Ended = EndedLink | undefined
type Access = Pick<Reader, 'read'>

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
    const found = new Map<string, Ended>()
    for (const { owner, other } of pairs) {
      askedOf(owner, other.ref, asked).others.push(other.ref)
      askedOf(other, owner.ref, asked).others.push(owner.ref)
    }
    let open = asked.size
    const answered = ({ end, others }: Asked, links: readonly Ended[]): void => {
      others.forEach((other, i) => found.set(idOf(end, other), links[i]))
      if (--open === 0) for (const pair of pairs) this.#bringInLine(pair, found, draft)
    }
    for (const each of asked.values()) {
      const { endedLinks } = each.end.store
      if (endedLinks === undefined)
        draft.check(questionOf(each), (record) =>
          answered(
            each,
            each.others.map((_, i) => linkIn(record, i)),
          ),
        )
      else
        draft.followUp(async (access) => {
          const links = each.others.map((member) => this.#apart(each.end, member, draft, access))
          // Links that cannot be read are not compared: verify finds them.
          const read = await Promise.all(links).catch(() => undefined)
          if (read !== undefined) answered(each, read)
        })
    }
  }

  /** The ended link of an end that keeps it in whichever record; where the link itself may be in another one, it may be there again. */
  async #apart({ store, key: owner }: LinkSide, member: UserKey, draft: Draft, access: Access): Promise<Ended> {
    const { endedLinks, lookup } = store
    const ended = asLink(await endedLinks!.attributesOf({ owner, member }, access))
    if (ended === undefined || lookup === undefined) return ended
    if ((await store.held(owner, [member], access)).length === 0) return ended
    void endedLinks!.remove({ owner, member }, draft, 'undo', isWrittenOrMissing)
    return undefined
  }

  #bringInLine({ owner, other }: LinkPair, found: ReadonlyMap<string, Ended>, draft: Draft): void {
    const [right, there] = [found.get(idOf(owner, other.ref)), found.get(idOf(other, owner.ref))]
    if (right === undefined ? there === undefined : there !== undefined && sameValue(right, there)) return
    if (other.store.endedLinks !== undefined)
      return this.#bringApart(other.store.endedLinks, { owner, other }, right, draft)
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
    draft.add('undo', copy, (outcome) => isWrittenOrMissing(outcome) || isRefused(outcome))
  }

  /** Changes what the other end keeps of a link in whichever record that is by now. */
  #bringApart(ended: MemberStore, { owner, other }: LinkPair, right: Ended, draft: Draft): void {
    const at = { owner: other.key, member: owner.ref }
    if (right === undefined) return void ended.remove(at, draft, 'undo', isWrittenOrMissing)
    void ended.add(
      { ...at, attributes: this.#recode(right) },
      draft,
      'undo',
      (outcome) => isWrittenOrMissing(outcome) || isRefused(outcome),
    )
  }
}

const isRefused = ({ reason }: Outcome): boolean => reason === 'guard'

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

function linkIn(record: StoredRecord | null, i: number): Ended {
  return asLink(record?.bins[nameOf(i)])
}

const asLink = (stored: Value | undefined): Ended => (stored == null ? undefined : (stored as unknown as EndedLink))
