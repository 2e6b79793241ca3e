import { DELETING_BIN, type EntityModel } from '../../model/index.js'
import { read, write, type ReadCommand, type WriteCommand } from '../../plan/command.js'
import { readExpression } from '../../plan/operations.js'
import type { Outcome, StoredRecord } from '../../plan/outcome.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import type { SplitAccess } from '../../plan/split-access.js'
import type { Finding } from '../contract/finding.js'
import type { InsideVerification, MisplacedPart, PartsApart } from '../contract/inside-verification.js'
import { describeHomeMarker, describeMember, type ShowKey } from './describe-finding.js'
import type { InsideSubject, InsideVerifier } from './inside-verifier.js'
import { ABOUT_RECORD, readingOf } from './read-ends.js'
import type { RepairResult } from './repair-links.js'

/** Records read at a time: each may be as large as the server allows. */
const GROUP = 8
/** Children moved at a time. */
const CHUNK = 200

interface PartHomeAccess {
  read(commands: readonly ReadCommand[]): Promise<(StoredRecord | null)[]>
  write(commands: readonly WriteCommand[]): Promise<Outcome[]>
  readonly split: SplitAccess
  readonly showKey: ShowKey
}

/** A record that holds children of an owner, or may. */
interface PartHome {
  readonly model: EntityModel
  readonly owner: RecordKey
  readonly key: RecordKey
  readonly inside: InsideVerification
  readonly apart: PartsApart
}

/** Checks companion records that hold children: each is right inside, none is closed while its owner is there, and each child is in its own. */
export class PartHomeVerifier {
  readonly #access: PartHomeAccess
  readonly #inside: InsideVerifier
  readonly #repair: boolean
  readonly #own = new Set<string>()
  readonly #settle: number
  readonly #unsettled: () => void

  constructor(
    access: PartHomeAccess,
    inside: InsideVerifier,
    { repair, settle }: { readonly repair: boolean; readonly settle: number },
    unsettled: () => void,
  ) {
    this.#access = access
    this.#inside = inside
    this.#repair = repair
    this.#settle = settle
    this.#unsettled = unsettled
  }

  /** Checks also parts in the records of their owners, where those are. */
  async *check(subjects: readonly InsideSubject[]): AsyncGenerator<Finding> {
    yield* this.#inside.check(
      subjects.map((each) => ({ ...each, inside: each.inside.filter(({ apart }) => apart === undefined) })),
    )
    const homes = await this.#homesOf(subjects)
    for (const home of homes) yield* this.#checkHome(home)
    const companions = homes.filter(
      ({ key, owner, apart }) => recordId(key) !== recordId(owner) || apart.isInOwner?.(owner) === true,
    )
    yield* this.#inside.check(
      companions.map(({ model, key, owner, inside }) => ({ model, key, owner, inside: [inside] })),
    )
  }

  /** The owner's own record, where the class may have kept them before, and its companions. */
  async #homesOf(subjects: readonly InsideSubject[]): Promise<readonly PartHome[]> {
    const apart = subjects.flatMap(({ model, key, inside }) =>
      inside.flatMap((each) => (each.apart === undefined ? [] : [{ model, key, inside: each, apart: each.apart }])),
    )
    const homes: PartHome[] = []
    for (let i = 0; i < apart.length; i += GROUP) {
      const group = apart.slice(i, i + GROUP)
      const roots = await this.#access.read(
        group.map(({ model, key, apart: { schemeBins } }) => read(model.name, key, [...schemeBins, DELETING_BIN])),
      )
      group.forEach(({ key: owner, ...each }, j) => {
        const root = roots[j]
        // Finishing the delete of a record also deletes its companions.
        if (root === null || DELETING_BIN in root.bins) return
        each.apart.learn(owner, root.bins)
        // The session that finishes a move takes care of the parts that move.
        if (each.apart.growing?.isUnsettled(owner) === true) return
        for (const key of [owner, ...each.apart.homes(owner)]) homes.push({ ...each, owner, key })
      })
    }
    return homes
  }

  async *#checkHome(home: PartHome): AsyncGenerator<Finding> {
    let record = await this.#read(home)
    if (readingOf(record).isDeleting) {
      yield* this.#checkMarker(home)
      return
    }
    for (;;) {
      const misplaced = record === null ? [] : home.apart.misplacedIn(record.bins, home.key, home.owner)
      if (misplaced.length === 0) return
      const reading = readingOf(record)
      // Records that repair has written itself are settled.
      if (reading.age < this.#settle && !this.#own.has(recordId(home.key))) return this.#unsettled()
      if (!this.#repair) return yield* misplaced.map((part) => this.#finding(home, part, FOUND))
      if (!this.#own.has(`told ${recordId(home.owner)}`)) {
        const made = byHome(misplaced).map(([part]) => part.home)
        const told = await this.#send(home.apart.telling(home.owner, made))
        if (told.state !== 'repaired') return yield* misplaced.map((part) => this.#finding(home, part, told))
        this.#own.add(`told ${recordId(home.owner)}`)
        if (recordId(home.owner) === recordId(home.key)) this.#own.add(recordId(home.key))
        record = await this.#read(home)
        continue
      }
      const chunk = misplaced.slice(0, CHUNK)
      const results = await this.#mend(home, chunk, reading.generation)
      yield* chunk.map((part, i) => this.#finding(home, part, results[i]))
      if (results.some(({ state }) => state !== 'repaired')) return
      this.#own.add(recordId(home.key))
      record = await this.#read(home)
    }
  }

  async *#checkMarker({ model, owner, key, apart }: PartHome): AsyncGenerator<Finding> {
    // The owner first: a delete marks it before its companions.
    const [root] = await this.#access.read([read(model.name, owner, [DELETING_BIN])])
    const [record] = await this.#access.read([read(model.name, key, 'none', ABOUT_RECORD)])
    const { isDeleting, age, generation } = readingOf(record)
    if (root === null || DELETING_BIN in root.bins || !isDeleting) return
    if (age < this.#settle) return this.#unsettled()
    const reopening = apart.reopening(key)
    const command = write(reopening.entity, key, reopening.operations, { ...reopening, generation })
    const result = this.#repair ? await this.#send(command) : FOUND
    yield { ...describeHomeMarker(model, owner, key, apart.property, this.#access.showKey), ...result }
  }

  #finding({ model, owner, key, apart }: PartHome, { id }: MisplacedPart, result: RepairResult): Finding {
    const { otherKey, ...described } = describeMember(
      'misplacedMember',
      model,
      owner,
      key,
      apart.property,
      id,
      this.#access.showKey,
    )
    return { ...described, partKey: otherKey, ...result }
  }

  /** Stores children where they belong before they are taken out of where they are. */
  async #mend(
    { model, owner, key, apart }: PartHome,
    chunk: readonly MisplacedPart[],
    generation: number,
  ): Promise<readonly RepairResult[]> {
    const stored = new Map<MisplacedPart, RepairResult>()
    for (const parts of byHome(chunk)) {
      const [{ home }] = parts
      const holds = parts.map((part, i) => readExpression(`_sk.h${i}`, part.holds))
      const look = read(model.name, home, 'none', [...ABOUT_RECORD, ...holds])
      let [there] = await this.#access.read([look])
      if (there === null && apart.growing !== undefined) {
        // A split may have begun since: the companion is made as writers make it, and not at all where it is no home any more.
        await apart.growing.makeHome(owner, parts[0].route, this.#access.split)
        ;[there] = await this.#access.read([look])
      }
      const missing = parts.filter((_, i) => !(Number(there?.bins[`_sk.h${i}`] ?? 0) > 0))
      const isClosed = readingOf(there).isDeleting
      const result = isClosed
        ? LEFT_ALONE
        : missing.length === 0
          ? DONE
          : await this.#send(apart.addition(missing, owner, there !== null))
      for (const part of parts) stored.set(part, result)
    }
    const moved = chunk.filter((part) => stored.get(part)!.state === 'repaired')
    if (moved.length === 0) return chunk.map((part) => stored.get(part)!)
    const removal = moved.flatMap((part) => part.removal)
    const removed = await this.#send(write(model.name, key, removal, { exists: 'mustExist', ttl: 'keep', generation }))
    return chunk.map((part) => (moved.includes(part) ? removed : stored.get(part)!))
  }

  async #read({ model, key, inside }: PartHome): Promise<StoredRecord | null> {
    const [record] = await this.#access.read([read(model.name, key, 'none', [...ABOUT_RECORD, ...inside.reads])])
    return record
  }

  async #send(command: WriteCommand): Promise<RepairResult> {
    const [{ state, reason, error }] = await this.#access.write([command])
    if (state === 'written') return { state: 'repaired' }
    const isOvertaken = ['missing', 'exists', 'guard', 'generation'].includes(reason!)
    return isOvertaken ? { state: 'leftAlone' } : { state: 'failed', error }
  }
}

function byHome(parts: readonly MisplacedPart[]): readonly (readonly MisplacedPart[])[] {
  const homes = new Map<string, MisplacedPart[]>()
  for (const part of parts) {
    const id = recordId(part.home)
    const known = homes.get(id)
    if (known === undefined) homes.set(id, [part])
    else known.push(part)
  }
  return [...homes.values()]
}

const FOUND: RepairResult = Object.freeze({ state: 'found' })
const DONE: RepairResult = Object.freeze({ state: 'repaired' })
const LEFT_ALONE: RepairResult = Object.freeze({ state: 'leftAlone' })
