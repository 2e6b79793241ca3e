import { describeKey, type KeyValue } from '../../keys/index.js'
import type { EntityModel } from '../../model/index.js'
import { NOT_DELETING, read, write, type ReadCommand, type WriteCommand } from '../../plan/command.js'
import type { Outcome, StoredRecord } from '../../plan/outcome.js'
import { recordId, type RecordKey } from '../../plan/record-key.js'
import type { ShowKey } from './describe-finding.js'
import type { Finding } from '../contract/finding.js'
import type { InsideFault, InsideRef, InsideVerification } from '../contract/inside-verification.js'
import { ABOUT_RECORD, readingOf, type AreHeld } from './read-ends.js'
import type { RepairResult } from './repair-links.js'

/** Records read at a time: each may be as large as the server allows. */
const GROUP = 8
/** Records that parts point to, looked for at a time. */
const CHUNK = 500
/** A record that others write to meanwhile is read and judged again. */
const TRIES = 3

/** A record and what it stores twice. */
export interface InsideSubject {
  readonly model: EntityModel
  readonly key: RecordKey
  /** The record that parts in this one belong to, where it is another. */
  readonly owner?: RecordKey
  readonly inside: readonly InsideVerification[]
}

interface InsideAccess {
  read(commands: readonly ReadCommand[]): Promise<(StoredRecord | null)[]>
  write(commands: readonly WriteCommand[]): Promise<Outcome[]>
  readonly areHeld: AreHeld
  readonly showKey: ShowKey
  /** Undefined for what is not a key of the class. */
  recordKeyOf(className: string, key: KeyValue): RecordKey | undefined
}

/** Reads of records that are not there, by the id of the record. */
type Gone = ReadonlyMap<string, ReadCommand>

/** Checks what records store twice inside themselves. One read shows all of it as it was at one time, so others may write meanwhile. */
export class InsideVerifier {
  readonly #access: InsideAccess
  readonly #repair: boolean
  readonly #settle: number
  readonly #unsettled: () => void

  /** `unsettled` is called for each record that changed too recently to be judged by others. */
  constructor(
    access: InsideAccess,
    { repair, settle }: { readonly repair: boolean; readonly settle: number },
    unsettled: () => void,
  ) {
    this.#access = access
    this.#unsettled = unsettled
    this.#repair = repair
    this.#settle = settle
  }

  async *check(subjects: readonly InsideSubject[]): AsyncGenerator<Finding> {
    const checked = subjects.filter(({ inside }) => inside.length > 0)
    for (let i = 0; i < checked.length; i += GROUP) {
      const group = checked.slice(i, i + GROUP)
      const records = await this.#access.read(group.map(readAll))
      const gone = await this.#look(group, records)
      for (const [j, subject] of group.entries()) yield* await this.#judge(subject, records[j], gone)
    }
  }

  /** Finds the records that parts point to and that are not there. Of those who point to them, `records` are read once more. */
  async #look(group: readonly InsideSubject[], records: (StoredRecord | null)[]): Promise<Gone> {
    const missed = await this.#missedBy(group, records)
    if (missed.size === 0) return missed
    const places = [...group.keys()].filter((i) => this.#dangling(group[i], records[i], missed).length > 0)
    const subjects = places.map((i) => readAll(group[i]))
    const held = await this.#access.areHeld([...subjects, ...missed.values()])
    // A delete takes parts that point to the record out before that goes, so those that are still there are left over.
    const again = await this.#access.read([...subjects, ...missed.values()])
    // Records of a commit that has not reached them yet are not judged.
    for (const isHeld of held) if (isHeld) this.#unsettled()
    places.forEach((i, j) => (records[i] = held[j] ? null : again[j]))
    return new Map([...missed].filter((_, j) => !held[places.length + j] && again[places.length + j] === null))
  }

  async #missedBy(group: readonly InsideSubject[], records: readonly (StoredRecord | null)[]): Promise<Gone> {
    const targets = new Map<string, ReadCommand>()
    for (const { className, key } of group.flatMap((subject, i) => refsIn(subject, records[i]))) {
      const recordKey = this.#access.recordKeyOf(className, key)
      if (recordKey !== undefined) targets.set(recordId(recordKey), read(className, recordKey, 'none', ABOUT_RECORD))
    }
    const asked = [...targets]
    const missed = new Map<string, ReadCommand>()
    for (let i = 0; i < asked.length; i += CHUNK) {
      const chunk = asked.slice(i, i + CHUNK)
      const found = await this.#access.read(chunk.map(([, command]) => command))
      chunk.forEach(([id, command], j) => found[j] === null && missed.set(id, command))
    }
    return missed
  }

  #dangling(subject: InsideSubject, record: StoredRecord | null, gone: Gone): InsideFault[] {
    if (gone.size === 0) return []
    return refsIn(subject, record).flatMap(({ className, key, fault }) => {
      const recordKey = this.#access.recordKeyOf(className, key)
      return recordKey !== undefined && gone.has(recordId(recordKey)) ? [fault] : []
    })
  }

  /** Disagreements inside the record; if there are none, references to records that are missing and not about to be written. */
  #faultsIn(subject: InsideSubject, record: StoredRecord | null, gone: Gone): InsideFault[] {
    const faults = this.#disagreements(subject, record)
    if (faults.length > 0) return faults
    const dangling = this.#dangling(subject, record, gone)
    if (dangling.length === 0 || readingOf(record).age >= this.#settle) return dangling
    this.#unsettled()
    return []
  }

  #disagreements({ model, key, owner = key, inside }: InsideSubject, record: StoredRecord | null): InsideFault[] {
    // Finishing the delete of a record also deletes its parts.
    if (record === null || readingOf(record).isDeleting) return []
    const own = this.#access.showKey(model, owner.key)
    return inside.flatMap((each) => each.faultsIn(record.bins, own))
  }

  async #judge(subject: InsideSubject, first: StoredRecord | null, missed: Gone): Promise<Finding[]> {
    let record = first
    let gone = missed
    for (let left = TRIES; ; left--) {
      const faults = this.#faultsIn(subject, record, gone)
      const mendable = faults.filter(isMendable)
      const isTried = this.#repair && mendable.length > 0
      const result = isTried ? await this.#mend(subject, record!, mendable) : FOUND
      if (result !== undefined || left === 1) {
        const mended = result ?? { state: 'leftAlone' }
        return faults.map((fault) => this.#finding(subject, fault, isMendable(fault) ? mended : FOUND))
      }
      const again = await this.#access.read([readAll(subject)])
      gone = await this.#look([subject], again)
      record = again[0]
    }
  }

  /** Writes only to the record that was read; undefined when somebody was faster. */
  async #mend(
    { model, key }: InsideSubject,
    record: StoredRecord,
    faults: readonly InsideFault[],
  ): Promise<RepairResult | undefined> {
    const { age, generation } = readingOf(record)
    if (age < this.#settle) return { state: 'leftAlone' }
    const operations = faults.flatMap((fault) => fault.operations)
    const command = write(model.name, key, operations, {
      exists: 'mustExist',
      ttl: 'keep',
      generation,
      guards: [NOT_DELETING],
      watchSize: true,
    })
    const [{ state, reason, error }] = await this.#access.write([command])
    if (state === 'written') return { state: 'repaired' }
    if (reason === 'generation') return undefined
    return reason === 'missing' || reason === 'guard' ? { state: 'leftAlone' } : { state: 'failed', error }
  }

  #finding({ model, key, owner = key }: InsideSubject, fault: InsideFault, result: RepairResult): Finding {
    const { kind, property, partKey, other, repair, says, error } = fault
    const shown = this.#access.showKey(model, owner.key)
    return {
      kind,
      className: model.name,
      property,
      key: shown,
      ...(partKey === undefined ? {} : { partKey }),
      ...(other === undefined ? {} : { otherClass: other.className, otherKey: other.key }),
      truth: kind === 'danglingKey' ? other!.className : `${model.name}.${property}`,
      repair,
      message: `${model.name} ${describeKey(shown)} ${says}.`,
      ...(error === undefined ? {} : { error }),
      ...result,
    }
  }
}

const FOUND: RepairResult = Object.freeze({ state: 'found' })

const isMendable = ({ operations }: InsideFault): boolean => operations.length > 0

function readAll({ model, key, inside }: InsideSubject): ReadCommand {
  return read(model.name, key, 'none', [...ABOUT_RECORD, ...inside.flatMap(({ reads }) => reads)])
}

function refsIn({ inside }: InsideSubject, record: StoredRecord | null): InsideRef[] {
  if (record === null || readingOf(record).isDeleting) return []
  return inside.flatMap((each) => each.refsIn(record.bins))
}
