import type { SkeinError } from '../../errors/index.js'
import { read, type ReadCommand } from '../../plan/command.js'
import type { StoredRecord } from '../../plan/outcome.js'
import { recordId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import { binExists } from '../../plan/expression.js'
import { readExpression } from '../../plan/operations.js'
import { resultName } from '../../plan/effects.js'
import { sameValue } from '../../plan/same-value.js'
import { compareValues } from '../../plan/value-order.js'
import { describeLink, describeMarker, describeMoved, describeUnreadable } from './describe-finding.js'
import type { Finding } from '../contract/finding.js'
import { checkDuplicate, type DuplicateMember } from './duplicate-members.js'
import { judge, type Reading } from './judge.js'
import { HomeVerifier, misplacedIn, type Home, type Misplaced } from './home-verifier.js'
import { InsideVerifier } from './inside-verifier.js'
import { isUserKey } from './link-ends.js'
import { OwnWrites } from './own-writes.js'
import { PartHomeVerifier } from './part-home-verifier.js'
import { ABOUT_RECORD, readEnds, readingOf, withoutHeld } from './read-ends.js'
import { isDeletion, repairLinks, type Confirmed, type RepairResult } from './repair-links.js'
import type { Subject, VerifyAccess, VerifyTerms } from './verify-access.js'
import { unfinishedSplits } from './unfinished-splits.js'
import type { LinkEnd, LinkVerification, StoredLink } from '../contract/link-verification.js'

/** Keys taken from one record at a time, and links checked at a time: long lists are never held as a whole. */
const CHUNK = 500

interface Candidate {
  readonly link: StoredLink
  /** The end that is known to hold it. */
  readonly side: 'owner' | 'mirror'
}

/** A relation of a record, and the last key that was taken from it. */
interface OpenRelation {
  readonly relation: LinkVerification
  readonly last?: UserKey
  /** True where that key was found more than once. */
  readonly isTwice?: boolean
}

interface OpenSubject extends Subject {
  readonly isFirst: boolean
  readonly open: readonly OpenRelation[]
  /** Set where another record is read for the subject. */
  readonly home?: Home
}

/**
 * Checks the links that records store. What looks wrong is read again, first the other end and then the one that holds the link: a
 * delete takes references out before the record goes, so a key that is still there after its record was missed is really dangling.
 */
export class Verifier {
  readonly #access: VerifyAccess
  readonly #terms: VerifyTerms
  readonly #own = new OwnWrites()
  readonly #homes: HomeVerifier
  readonly #partHomes: PartHomeVerifier
  /** Disagreements that were not judged because a record had changed too recently. */
  unsettled = 0

  constructor(access: VerifyAccess, terms: VerifyTerms) {
    this.#access = access
    this.#terms = terms
    this.#homes = new HomeVerifier(access, this.#own, terms, () => this.unsettled++)
    const inside = new InsideVerifier(access, terms, () => this.unsettled++)
    this.#partHomes = new PartHomeVerifier(access, inside, terms, () => this.unsettled++)
  }

  async *check(subjects: readonly Subject[]): AsyncGenerator<Finding> {
    yield* unfinishedSplits(subjects, this.#access, this.#terms, () => this.unsettled++)
    let open: OpenSubject[] = [...subjects.map(begin), ...(await this.#homesOf(subjects))]
    while (open.length > 0) {
      const records = await this.#access.read(open.map(pageCommand))
      const marked = open.filter(({ isFirst }, i) => isFirst && readingOf(records[i]).isDeleting)
      const [roots, homes] = [marked.filter(({ home }) => !home), marked.filter(({ home }) => home)]
      if (roots.length > 0) yield* this.#checkMarkers(roots)
      for (const { home } of homes) yield* this.#homes.checkMarker(home!)
      for (const [i, subject] of open.entries()) yield* this.#checkLists(subject, records[i])
      const pages = open.map((subject, i) => pageOf(subject, records[i]))
      for (const misplaced of pages.flatMap((page) => page.misplaced)) yield* this.#homes.move(misplaced)
      for (const duplicate of pages.flatMap((page) => page.duplicates))
        yield* checkDuplicate(duplicate, this.#access, this.#terms, () => this.unsettled++)
      const candidates = pages.flatMap((page) => page.candidates)
      for (let i = 0; i < candidates.length; i += CHUNK) yield* this.#checkLinks(candidates.slice(i, i + CHUNK))
      open = pages.flatMap(({ rest }) => (rest === undefined ? [] : [rest]))
    }
    yield* this.#partHomes.check(subjects)
  }

  /** Records that hold the links of others, each a subject of its own; a class may have kept them in the record itself before. */
  async #homesOf(subjects: readonly Subject[]): Promise<OpenSubject[]> {
    const apart = subjects.flatMap((subject) =>
      subject.relations.flatMap((relation) =>
        relation.apart === undefined ? [] : [{ subject, relation, store: relation.apart }],
      ),
    )
    const records = await this.#access.read(
      apart.map(({ subject: { model, key }, store }) => read(model.name, key, store.schemeBins)),
    )
    return apart.flatMap(({ subject, relation, store }, i) => {
      const record = records[i]
      if (record === null) return []
      store.learn(subject.key, record.bins)
      if (store.growing?.isUnsettled(subject.key) === true) return []
      const apart = store.homes(subject.key).filter((home) => recordId(home) !== recordId(subject.key))
      return [subject.key, ...apart].map((key): OpenSubject => {
        const home = { owner: subject, key, store, relation }
        return { ...subject, isFirst: true, home, open: [{ relation }] }
      })
    })
  }

  /** A bin that is there, and of which no keys can be read, is not a list (or map) of keys, or no key: another program has written it. */
  *#checkLists({ model, key, isFirst, open }: OpenSubject, record: StoredRecord | null): Iterable<Finding> {
    if (!isFirst || record === null || readingOf(record).isDeleting) return
    for (const [at, { relation }] of open.entries()) {
      const keys = record.bins[resultName(relation.readKeys(CHUNK))!]
      const error = problemOf(relation, key, keys)
      if (error !== undefined) {
        yield { ...describeUnreadable(model, key, relation.single!.property, this.#access.showKey), ...FOUND, error }
      }
      if (relation.list === undefined || keys != null || !isThere(record.bins[thereName(at)])) continue
      yield { ...describeUnreadable(model, key, relation.list.property, this.#access.showKey), ...FOUND }
    }
  }

  async *#checkMarkers(marked: readonly Subject[]): AsyncGenerator<Finding> {
    const readings = await readEnds(marked, (commands) => this.#access.read(commands))
    for (const [i, { model, key }] of marked.entries()) {
      if (!readings[i].isDeleting) continue
      if (!this.#isSettled(key, readings[i], 0)) {
        this.unsettled++
        continue
      }
      const result = this.#terms.repair ? await this.#access.finishDelete(model, key) : FOUND
      yield { ...describeMarker(model, key, this.#access.showKey), ...result }
    }
  }

  async *#checkLinks(candidates: readonly Candidate[]): AsyncGenerator<Finding> {
    const carrying = candidates.filter(({ link, side }) => side === 'owner' && link.owner.carries !== undefined)
    const [others, own] = await Promise.all([this.#read(candidates.map(farEnd)), this.#read(carrying.map(nearEnd))])
    for (const each of candidates.filter((_, i) => others[i].isMoved === true))
      yield { ...describeMoved(nearEnd(each), farEnd(each), this.#access.showKey), ...FOUND }
    // Of most links it is enough to know that they are there; what they carry is compared from the side that is believed.
    const here = new Map(carrying.map((candidate, i) => [candidate, own[i]]))
    const suspects = candidates.filter((each, i) => judgeFrom(each, here.get(each) ?? HOLDS, others[i]) !== undefined)
    if (suspects.length === 0) return
    const confirmed = await this.#confirm(suspects)
    const results = this.#terms.repair
      ? await repairLinks(confirmed, (commands) => this.#access.write(commands), this.#own)
      : confirmed.map(() => FOUND)
    for (const [i, { link, verdict }] of confirmed.entries()) {
      yield {
        ...describeLink(link, verdict, this.#access.showKey),
        ...(await this.#finish(link[verdict.wrong], results[i])),
      }
    }
  }

  /** Goes on with the delete of a link record that the repair has marked. */
  async #finish(end: LinkEnd, result: RepairResult): Promise<RepairResult> {
    if (result.state !== 'repaired' || !isDeletion(end)) return result
    const finished = await this.#access.finishDelete(end.model, end.key)
    return finished.state === 'failed' ? finished : result
  }

  async #confirm(all: readonly Candidate[]): Promise<Confirmed[]> {
    const began = performance.now()
    const suspects = await withoutHeld(all, (each) => [nearEnd(each), farEnd(each)], this.#access.areHeld)
    this.unsettled += all.length - suspects.length
    const there = await this.#seeTaken(suspects, await this.#read(suspects.map(farEnd)))
    const here = await this.#read(suspects.map(nearEnd))
    const passed = performance.now() - began
    return suspects.flatMap((candidate, i) => {
      const verdict = judgeFrom(candidate, here[i], there[i])
      if (verdict === undefined) return []
      const isSettled =
        this.#isSettled(here[i].home?.key ?? nearEnd(candidate).key, here[i], passed) &&
        this.#isSettled(there[i].home?.key ?? farEnd(candidate).key, there[i], passed)
      if (!isSettled) {
        this.unsettled++
        return []
      }
      const { carried } = candidate.side === 'owner' ? here[i] : there[i]
      const reading = verdict.wrong === candidate.side ? here[i] : there[i]
      return [{ link: candidate.link, verdict, reading, carried }]
    })
  }

  /** Asks those who are named instead, where only one can be, whether they name it back. */
  async #seeTaken(suspects: readonly Candidate[], there: readonly Reading[]): Promise<readonly Reading[]> {
    const rivals = suspects.map((candidate, i) => {
      const { holds, held } = there[i]
      return holds || !isUserKey(held) ? undefined : farEnd(candidate).only?.rival(held)
    })
    const asked = rivals.filter((rival) => rival !== undefined)
    if (asked.length === 0) return there
    const readings = await this.#read(asked)
    return there.map((reading, i) => {
      const rival = rivals[i]
      return rival === undefined ? reading : { ...reading, isTaken: readings[asked.indexOf(rival)].holds }
    })
  }

  #read(ends: readonly LinkEnd[]): Promise<Reading[]> {
    return readEnds(ends, (commands) => this.#access.read(commands))
  }

  /** True when nothing can be in flight to it. What changed while the ends were being read is as new as what changes now. */
  #isSettled(key: RecordKey, reading: Reading, passed: number): boolean {
    const { settle } = this.#terms
    return !reading.exists || settle === 0 || reading.age >= settle + passed || this.#own.isLast(key, reading)
  }
}

const FOUND: RepairResult = Object.freeze({ state: 'found' })
const HOLDS: Reading = Object.freeze({ exists: true, holds: true, isDeleting: false, age: Infinity, generation: 0 })

const nearEnd = ({ link, side }: Candidate): LinkEnd => link[side]
const farEnd = ({ link, side }: Candidate): LinkEnd => (side === 'owner' ? link.mirror : link.owner)

function judgeFrom({ link, side }: Candidate, here: Reading, there: Reading): ReturnType<typeof judge> {
  return side === 'owner' ? judge(link, here, there, side) : judge(link, there, here, side)
}

function begin(subject: Subject): OpenSubject {
  const own = subject.relations.filter(({ apart }) => apart === undefined)
  return { ...subject, isFirst: true, open: own.map((relation) => ({ relation })) }
}

function pageCommand({ model, key, home, open, isFirst }: OpenSubject): ReadCommand {
  const keys = open.map(({ relation, last }) => relation.readKeys(CHUNK, last))
  const there = open.flatMap(({ relation: { list } }, at) =>
    isFirst && list !== undefined ? [readExpression(thereName(at), binExists(list.bin))] : [],
  )
  return read(model.name, home?.key ?? key, 'none', [...ABOUT_RECORD, ...keys, ...there])
}

const thereName = (at: number): string => `_sk.${at}.there`

const isThere = (answer: unknown): boolean => answer === true || answer === 1

interface Page {
  readonly candidates: readonly Candidate[]
  /** Members that are in another record than they belong in. */
  readonly misplaced: readonly Misplaced[]
  /** Members that are there more than once. */
  readonly duplicates: readonly DuplicateMember[]
  /** Rest of the record that is still to be read. */
  readonly rest: OpenSubject | undefined
}

// Pages begin at a key and not at a position: keys that are added and removed meanwhile, also by repair, move the positions.
function pageOf(subject: OpenSubject, record: StoredRecord | null): Page {
  if (record === null || readingOf(record).isDeleting)
    return { candidates: [], misplaced: [], duplicates: [], rest: undefined }
  const candidates: Candidate[] = []
  const misplaced: Misplaced[] = []
  const duplicates: DuplicateMember[] = []
  const open: OpenRelation[] = []
  for (const { relation, last, isTwice } of subject.open) {
    const stored = record.bins[resultName(relation.readKeys(CHUNK, last))!]
    if (problemOf(relation, subject.key, stored) !== undefined) continue
    // Of an unordered list the server answers a range of ranks in no order.
    const found = relation.list === undefined ? asList(stored) : [...asList(stored)].sort(compareValues)
    const all = found.filter((key, i) => i === 0 || !sameValue(key, found[i - 1]))
    const keys = last !== undefined && all.length > 0 && sameValue(last, all[0]) ? all.slice(1) : all
    const twice = all.length === found.length ? [] : found.filter((key, i) => i > 0 && sameValue(key, found[i - 1]))
    for (const member of new Set(twice.filter((key) => isUserKey(key) && !(isTwice && sameValue(key, last)))))
      duplicates.push(duplicateIn(subject, relation, member))
    for (const other of keys) {
      const home = misplacedIn(subject.home, other)
      if (home === undefined) candidates.push({ link: relation.link(subject.key, other), side: relation.side })
      else misplaced.push({ ...home, member: other, generation: record.generation })
    }
    if (found.length === CHUNK && keys.length > 0)
      open.push({ relation, last: keys.at(-1), isTwice: twice.some((key) => sameValue(key, keys.at(-1))) })
  }
  return {
    candidates,
    misplaced,
    duplicates,
    rest: open.length === 0 ? undefined : { ...subject, isFirst: false, open },
  }
}

function duplicateIn(subject: OpenSubject, { list }: LinkVerification, member: UserKey): DuplicateMember {
  const { property, bin } = list!
  return { owner: subject, home: subject.home?.key ?? subject.key, property, bin, member }
}

const problemOf = ({ single }: LinkVerification, here: RecordKey, stored: unknown): SkeinError | undefined =>
  stored === undefined || stored === null ? undefined : single?.problem(here, stored)

function asList(stored: unknown): readonly UserKey[] {
  if (stored === undefined || stored === null) return []
  return (Array.isArray(stored) ? stored : [stored]) as readonly UserKey[]
}
