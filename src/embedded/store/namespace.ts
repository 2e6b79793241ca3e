import { DIGEST_SIZE, PARTITIONS } from '../protocol/constants.js'
import type { RecordChange } from '../journal/entry.js'
import type { EmbeddedLimits, NamespaceOptions } from '../options.js'
import { TransactionTable, type TransactedRecords } from '../transaction/transaction-table.js'
import { nowSeconds } from './clock.js'
import type { RecordState } from './record-state.js'
import type { CommitObserver, IndexedRecords } from './secondary-index.js'
import { IndexBuilds } from './index-builds.js'
import { SecondaryIndexes } from './secondary-indexes.js'
import { Slot } from './slot.js'

export function partitionOf(digest: Buffer): number {
  return (digest[0] | (digest[1] << 8)) & (PARTITIONS - 1)
}

const VERSIONS_PER_SECOND = 65_536

/** Data file, as namespaces see it. */
interface CommitLog {
  records(namespace: Namespace, changes: readonly RecordChange[]): void
}

export class Namespace implements TransactedRecords, IndexedRecords {
  readonly name: string
  readonly strong: boolean
  readonly transactions: TransactionTable
  readonly observers = new Set<CommitObserver>()
  readonly indexes: SecondaryIndexes
  readonly indexBuilds = new IndexBuilds()
  /** Records by set, for statistics. */
  readonly objectsBySet = new Map<string, number>()
  /** Partitions in which a set has ever had a record: nodes that hold none of them do not know the set. */
  readonly #partitionsBySet = new Map<string, Set<number>>()
  objects = 0
  /** Keeps what is committed, where the server has a data file. */
  journal: CommitLog | undefined
  readonly #partitions: (Map<string, Slot> | undefined)[] = new Array<Map<string, Slot> | undefined>(PARTITIONS)
  #lastVersion = 0
  /** Committed records that have an end; without any there is nothing to sweep. */
  #mortal = 0

  constructor(
    readonly options: Required<NamespaceOptions>,
    readonly limits: Required<EmbeddedLimits>,
  ) {
    this.name = options.name
    this.strong = options.mode === 'sc'
    this.transactions = new TransactionTable(this)
    this.indexes = new SecondaryIndexes(this)
  }

  find(digest: Buffer): Slot | undefined {
    return this.#partitions[partitionOf(digest)]?.get(digest.toString('latin1', 0, DIGEST_SIZE))
  }

  /** The slot of a digest, made if there is none. */
  slot(digest: Buffer): Slot {
    const partition = partitionOf(digest)
    const key = digest.toString('latin1', 0, DIGEST_SIZE)
    const slots = (this.#partitions[partition] ??= new Map<string, Slot>())
    let slot = slots.get(key)
    if (slot === undefined) {
      slot = new Slot(Buffer.from(digest), key, partition)
      slots.set(key, slot)
    }
    return slot
  }

  /** The committed record, unless it has expired. */
  live(slot: Slot | undefined, now = nowSeconds()): RecordState | undefined {
    const state = slot?.committed
    if (state === undefined || state.voidTime === 0 || state.voidTime > now) return state
    return undefined
  }

  nextVersion(): number {
    return ++this.#lastVersion
  }

  commit(slot: Slot, after: RecordState | undefined): void {
    this.journal?.records(this, [{ digest: slot.digest, state: after }])
    this.#apply(slot, after)
  }

  /** Brings back a record from a data file. */
  restore(digest: Buffer, state: RecordState | undefined): void {
    if (state !== undefined) this.#lastVersion = Math.max(this.#lastVersion, state.version)
    this.#apply(this.slot(digest), state)
  }

  /** Never uses a version again that a server on the same data file may have used. */
  renewVersions(): void {
    this.#lastVersion = Math.max(this.#lastVersion, nowSeconds() * VERSIONS_PER_SECOND)
  }

  #apply(slot: Slot, after: RecordState | undefined): void {
    const before = slot.committed
    slot.committed = after
    if (before?.voidTime) this.#mortal--
    if (after?.voidTime) this.#mortal++
    if (before === undefined && after !== undefined) this.#countNew(after.setName, slot.partition)
    else if (before !== undefined && after === undefined) this.#count(before.setName, -1)
    for (const observer of this.observers) observer.update(slot, before, after)
    this.dropIfEmpty(slot)
  }

  dropIfEmpty(slot: Slot): void {
    if (slot.committed === undefined && slot.provisional === undefined) {
      this.#partitions[slot.partition]?.delete(slot.digestKey)
    }
  }

  /** The slots of one partition in no particular order. */
  slotsOf(partition: number): Iterable<Slot> {
    return this.#partitions[partition]?.values() ?? []
  }

  *slots(): Iterable<Slot> {
    for (let partition = 0; partition < PARTITIONS; partition++) yield* this.slotsOf(partition)
  }

  /** Removes expired records; those that a transaction holds are left alone. A data file shows by itself what has expired. */
  sweep(): void {
    if (this.#mortal === 0) return
    const now = nowSeconds()
    for (const slot of this.slots()) {
      if (slot.committed && slot.provisional === undefined && this.live(slot, now) === undefined) {
        this.#apply(slot, undefined)
      }
    }
  }

  /** Removes the records of a set, or of all sets, last updated in an earlier millisecond; those of the same one stay. */
  truncate(setName: string | undefined, before: number): void {
    const gone: Slot[] = []
    for (const slot of this.slots()) {
      const state = slot.committed
      if (state === undefined || slot.provisional !== undefined) continue
      if ((setName === undefined || state.setName === setName) && state.lastUpdate < before) gone.push(slot)
    }
    this.journal?.records(
      this,
      gone.map(({ digest }) => ({ digest, state: undefined })),
    )
    for (const slot of gone) this.#apply(slot, undefined)
  }

  /** True where one of these partitions has, or once had, a record of the set. */
  hasSet(setName: string, isHeld: (partition: number) => boolean): boolean {
    for (const partition of this.#partitionsBySet.get(setName) ?? []) if (isHeld(partition)) return true
    return false
  }

  #countNew(setName: string, partition: number): void {
    const partitions = this.#partitionsBySet.get(setName)
    if (partitions === undefined) this.#partitionsBySet.set(setName, new Set([partition]))
    else partitions.add(partition)
    this.#count(setName, 1)
  }

  #count(setName: string, change: number): void {
    this.objects += change
    this.objectsBySet.set(setName, (this.objectsBySet.get(setName) ?? 0) + change)
  }
}
