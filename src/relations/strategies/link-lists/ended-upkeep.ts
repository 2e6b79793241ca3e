import { goneUnless, read, write, type ReadCommand } from '../../../plan/command.js'
import type { Draft, Settle } from '../../../plan/draft.js'
import { bin, eq, mapCount, mapGet, value } from '../../../plan/expression.js'
import { readExpression } from '../../../plan/operations.js'
import { isWrittenOrMissing } from '../../../plan/outcome.js'
import { recordId, type RecordKey, type UserKey } from '../../../plan/record-key.js'
import { sameValue } from '../../../plan/same-value.js'
import type { Outcome, StoredRecord } from '../../../plan/outcome.js'
import type { Value } from '../../../plan/value.js'
import type { EndedEntry, EndedLink } from '../../contract/ended-entries.js'
import type { MemberStore } from '../../contract/member-store.js'
import type { Reader } from '../../contract/reader.js'
import { endedBinOf } from '../../write/ended-bin.js'
import { linkWrite } from '../../write/link-bin.js'
import type { LinkPair, LinkSide } from '../../write/link-upkeep.js'

type Ended = EndedLink | undefined
type Access = Pick<Reader, 'read'>

/** Entries that an end stores of a link. */
interface Found {
  readonly ended?: Ended
  /** Entry that counts, where a link may have several. */
  readonly entry?: EndedEntry
  /** Set where the link itself is there, and its ended entries are not in the same record. */
  readonly isLinked?: boolean
}

/** Question to one of two records. */
interface Asked {
  readonly end: LinkSide
  /** The record that keeps these links. */
  readonly home: RecordKey
  readonly others: UserKey[]
}

/**
 * Keeps what both sides store of ended links the same while several sessions end a link and make it again: whoever has changed one reads
 * both records afterwards, and where they disagree brings the other in line with the owner, until they do not.
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

  /** Drops entries that do not count at the only end of a link. */
  checkAlone(end: LinkSide, member: UserKey, draft: Draft): void {
    if (draft.isInside || end.store.endedEntries === undefined) return
    const again = (): void => this.checkAlone(end, member, draft)
    draft.followUp(async (access) => {
      await this.#counting(end, member, again, draft, access).catch(() => undefined)
    })
  }

  #compare(pairs: readonly LinkPair[], draft: Draft): void {
    const asked = new Map<string, Asked>()
    const found = new Map<string, Found>()
    for (const { owner, other } of pairs) {
      askedOf(owner, other.ref, asked).others.push(other.ref)
      askedOf(other, owner.ref, asked).others.push(owner.ref)
    }
    let open = asked.size
    const answered = ({ end, others }: Asked, links: readonly Found[]): void => {
      others.forEach((other, i) => found.set(idOf(end, other), links[i]))
      if (--open === 0) for (const pair of pairs) this.#bringInLine(pair, found, draft)
    }
    const again = (): void => pairs.forEach((pair) => this.check(pair, draft))
    for (const each of asked.values()) {
      if (each.end.store.endedLinks === undefined)
        draft.check(questionOf(each), (record) =>
          answered(
            each,
            each.others.map((_, i) => ({ ended: linkIn(record, i) })),
          ),
        )
      else
        draft.followUp(async (access) => {
          const links = each.others.map((member) => this.#apart(each.end, member, again, draft, access))
          // Links that cannot be read are not compared: verify finds them.
          const read = await Promise.all(links).catch(() => undefined)
          if (read !== undefined) answered(each, read)
        })
    }
  }

  /** The ended link of an end that keeps it in whichever record. */
  async #apart(end: LinkSide, member: UserKey, again: () => void, draft: Draft, access: Access): Promise<Found> {
    const { endedLinks, endedEntries } = end.store
    if (endedEntries !== undefined) return this.#counting(end, member, again, draft, access)
    return { ended: asLink(await endedLinks!.attributesOf({ owner: end.key, member }, access)) }
  }

  /** Drops entries of a link that is there again. Earlier entries of an ended one stay: clocks differ, and none of several may be lost. */
  async #counting(
    { store, key: owner }: LinkSide,
    member: UserKey,
    again: () => void,
    draft: Draft,
    access: Access,
  ): Promise<Found> {
    const entries = await store.endedEntries!.of(owner, member, access)
    const isLinked = (await store.held(owner, [member], access)).length > 0
    if (isLinked) for (const each of entries) this.#drop(each, { store, member }, again, draft)
    const entry = isLinked ? undefined : entries.at(-1)
    return { isLinked, entry, ended: entry?.link }
  }

  #drop(
    entry: EndedEntry,
    { store, member }: { readonly store: MemberStore; readonly member: UserKey },
    again: () => void,
    draft: Draft,
  ): void {
    draft.addApart('undo', store.endedEntries!.drop(entry, member), corrected(again))
  }

  #bringInLine(pair: LinkPair, found: ReadonlyMap<string, Found>, draft: Draft): void {
    const { owner, other } = pair
    const { ended: right } = found.get(idOf(owner, other.ref))!
    const { ended: there, entry, isLinked } = found.get(idOf(other, owner.ref))!
    if (right === undefined ? there === undefined : there !== undefined && this.#isSame(right, there)) return
    const again = (): void => this.check(pair, draft)
    // Takes one step: the check after it takes the next.
    if (entry !== undefined) this.#drop(entry, { store: other.store, member: owner.ref }, again, draft)
    // A link that is there again is not an ended one.
    else if (isLinked !== true) this.#bring(pair, right, corrected(again), draft)
  }

  #isSame(right: EndedLink, there: EndedLink): boolean {
    return sameValue(right, there) || sameValue(this.#recode(right), there)
  }

  #bring({ owner, other }: LinkPair, right: Ended, settle: Settle, draft: Draft): void {
    const { model, bin: links, ended: name, endedLinks } = other.store
    const at = { owner: other.key, member: owner.ref }
    if (endedLinks !== undefined && right === undefined) return void endedLinks.remove(at, draft, 'undo', settle)
    if (endedLinks !== undefined)
      return void endedLinks.add({ ...at, attributes: this.#recode(right!) }, draft, 'undo', settle)
    const ended = endedBinOf(name!)
    const member = owner.ref
    const home = other.store.homeOf(other.key, member)
    if (right === undefined) return draft.add('undo', linkWrite(model, home, [ended.forget([member])]), settle)
    const unlinked = goneUnless(eq(mapCount(bin('map', links), member), value(0)))
    const copy = write(model.name, home, [ended.copy(member, this.#recode(right))], {
      exists: 'mustExist',
      ttl: 'keep',
      guards: [unlinked],
    })
    draft.add('undo', copy, settle)
  }
}

/** Settles a correction; others may have changed the link meanwhile, so that it is checked again. */
const corrected =
  (again: () => void): Settle =>
  (outcome) => {
    if (outcome.state === 'written') again()
    return isWrittenOrMissing(outcome) || isRefused(outcome)
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
