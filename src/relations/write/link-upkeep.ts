import { read } from '../../plan/command.js'
import type { Draft, Settle } from '../../plan/draft.js'
import { isWrittenOrMissing } from '../../plan/outcome.js'
import { recordId, userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import type { MemberStore, StoredMember } from '../contract/member-store.js'
import type { LinkBin } from './link-bin.js'

/** An end of a link: one of its two records, and where its class keeps links. */
export interface LinkSide {
  readonly store: MemberStore
  readonly key: RecordKey
  /** The value under which the other end holds this record. */
  readonly ref: UserKey
  /** Write of its record in the same flush. */
  readonly written?: Pick<StoredMember, 'isOwnerNew' | 'isOwnerUpserted' | 'isOwnerMade'>
}

/** The two records of a link; the owner's is the truth. */
export interface LinkPair {
  readonly owner: LinkSide
  readonly other: LinkSide
}

/** A further comparison of both sides of a link. */
interface PairCheck {
  check(pair: LinkPair, draft: Draft): void
}

/** Side of several links: the keys that its record is asked for, and those that it has. */
interface Side {
  readonly end: LinkSide
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
  readonly #ended: PairCheck | undefined

  constructor(bin: LinkBin, name: string, ended?: PairCheck) {
    this.#bin = bin
    this.#name = name
    this.#ended = ended
  }

  /** Notes a link that was changed on both sides outside of a transaction; all links of a stage are read in one batch, each record once. */
  check(pair: LinkPair, draft: Draft): void {
    this.#ended?.check(pair, draft)
    if (!draft.isInside) draft.collect(`links ${this.#name}`, pair, (pairs) => this.#compare(pairs, draft))
  }

  #compare(pairs: readonly LinkPair[], draft: Draft): void {
    const sides = new Map<string, Side>()
    for (const { owner, other } of pairs) {
      sideOf(owner, sides).asked.push(other.ref)
      sideOf(other, sides).asked.push(owner.ref)
    }
    const all = [...sides.values()]
    const questions = all
      .filter(({ end }) => isKnown(end.store))
      .flatMap(({ end, asked, has }) => end.store.among(end.key, asked).map((question) => ({ ...question, has })))
    const unknown = all.filter(({ end }) => !isKnown(end.store))
    let open = questions.length + unknown.length
    const answered = (side: Set<string>, found: readonly UserKey[]): void => {
      for (const key of found) side.add(userKeyId(key))
      if (--open === 0) for (const pair of pairs) this.#bringInLine(pair, sides, draft)
    }
    for (const { command, found, has } of questions) draft.check(command, (record) => answered(has, found(record)))
    for (const { end, asked, has } of unknown)
      draft.followUp(async (access) => {
        // A link that cannot be read is not compared: verify finds it.
        const found = await end.store.held(end.key, asked, access).catch(() => undefined)
        if (found !== undefined) answered(has, found)
      })
  }

  #bringInLine({ owner, other }: LinkPair, sides: Map<string, Side>, draft: Draft): void {
    const isThere = sideOf(owner, sides).has.has(userKeyId(other.ref))
    if (isThere === sideOf(other, sides).has.has(userKeyId(owner.ref))) return
    const [holding, lacking] = isThere ? [owner, other] : [other, owner]
    askArchive(lacking, holding, draft, (isHeld) => {
      if (isHeld === undefined) this.#align({ owner, other }, isThere, draft)
      else if (!isHeld) void holding.store.remove(linkFrom(holding, lacking), draft, 'undo', isWrittenOrMissing)
    })
  }

  #align({ owner, other }: LinkPair, isThere: boolean, draft: Draft): void {
    if (!isThere) this.#unlink({ owner, other }, draft)
    else if (this.#bin.attributesOf === undefined) this.#link({ owner, other }, undefined, draft)
    else if (!isKnown(owner.store)) {
      draft.followUp(async (access) => {
        const at = linkFrom(owner, other)
        const carried = await owner.store.attributesOf(at, access).catch(() => null)
        if (carried !== null) this.#link({ owner, other }, carried, draft)
      })
    } else {
      const { model, bin } = owner.store
      const home = owner.store.homeOf(owner.key, other.ref)
      draft.check(read(model.name, home, 'none', [this.#bin.attributesOf(bin, other.ref)]), (record) =>
        this.#link({ owner, other }, record?.bins[bin] ?? undefined, draft),
      )
    }
  }

  #link({ owner, other }: LinkPair, attributes: Value | undefined, draft: Draft): void {
    void other.store.add({ ...linkFrom(other, owner), attributes }, draft, 'undo', ({ state, reason }) => {
      if (state === 'written') this.check({ owner, other }, draft)
      if (reason !== 'missing' && reason !== 'guard') return state === 'written'
      // A record that is gone cannot be a member.
      void owner.store.remove(linkFrom(owner, other), draft, 'undo', isWrittenOrMissing)
      return true
    })
  }

  #unlink({ owner, other }: LinkPair, draft: Draft): void {
    void other.store.remove(linkFrom(other, owner), draft, 'undo', (outcome) => {
      if (outcome.state === 'written') this.check({ owner, other }, draft)
      return isWrittenOrMissing(outcome)
    })
  }
}

/** Takes a link out of one side, because the record of the other takes none; one that is archived, and has the link, keeps it. */
export function dropLink(from: LinkSide, to: LinkSide, draft: Draft, settle: Settle): void {
  askArchive(to, from, draft, (isHeld) => {
    if (isHeld !== true) void from.store.remove(linkFrom(from, to), draft, 'undo', settle)
  })
}

/** Asks the archive whether it has the record of a side, and whether that has the link to the other; undefined where it has no record. */
function askArchive(
  { store, key }: LinkSide,
  other: LinkSide,
  draft: Draft,
  then: (isHeld: boolean | undefined) => void,
): void {
  const { archive } = store.model
  if (archive === undefined || draft.isInside) return then(undefined)
  const [{ command, found }] = store.among({ ...key, namespace: archive }, [other.ref])
  draft.check(command, (record) => then(record === null ? undefined : found(record).length > 0))
}

/** True where the key of a member says which record holds it. */
const isKnown = ({ growing, lookup }: MemberStore): boolean => growing === undefined && lookup === undefined

/** The link as one of its sides stores it. */
const linkFrom = (here: LinkSide, there: LinkSide): StoredMember => ({
  owner: here.key,
  member: there.ref,
})

function sideOf(end: LinkSide, sides: Map<string, Side>): Side {
  const id = `${recordId(end.key)}#${end.store.bin}`
  const side = sides.get(id) ?? { end, asked: [], has: new Set<string>() }
  sides.set(id, side)
  return side
}
