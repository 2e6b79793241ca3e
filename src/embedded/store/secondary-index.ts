import { PARTITIONS } from '../protocol/constants.js'
import type { IndexBuilds } from './index-builds.js'
import { IndexKind, type IndexDefinition } from './index-definition.js'
import { binKeys, expressionKeys, type IndexKey } from './index-keys.js'
import type { RecordState } from './record-state.js'
import type { Slot } from './slot.js'
import { SortedList } from './sorted-list.js'
import { TimeSlice } from './time-slice.js'

interface IndexEntry {
  readonly key: IndexKey
  readonly slot: Slot
}

const NO_KEYS: readonly IndexKey[] = []

/** Observer of every committed change; secondary indexes keep themselves up to date with it. */
export interface CommitObserver {
  update(slot: Slot, before: RecordState | undefined, after: RecordState | undefined): void
}

/** Namespace, as its secondary indexes see it. */
export interface IndexedRecords {
  readonly name: string
  readonly observers: Set<CommitObserver>
  readonly indexBuilds: IndexBuilds
  slotsOf(partition: number): Iterable<Slot>
}

/** Finds records by the value of a bin or an expression. It follows every commit, so what it holds is what is committed. */
export class SecondaryIndex implements CommitObserver {
  readonly #entries = new SortedList<IndexEntry>(compareEntries)
  /** Keys of expressions, kept because time can change what an expression answers for the same record. */
  readonly #computed = new Map<Slot, readonly IndexKey[]>()
  #populatedPartitions = 0
  /** Statistics as of a number of entries. */
  #counted: { readonly size: number; readonly perValue: number } | undefined
  #dropped = false

  constructor(
    readonly namespace: IndexedRecords,
    public name: string,
    readonly definition: IndexDefinition,
  ) {}

  get entryCount(): number {
    return this.#entries.size
  }

  /** Entries that one value has, on average; 0 while the index is built, because clients then ask again and again. */
  get entriesPerValue(): number {
    const { size } = this.#entries
    if (this.loadPercent < 100) return 0
    if (this.#counted?.size !== size) this.#counted = { size, perValue: this.#countPerValue() }
    return this.#counted.perValue
  }

  #countPerValue(): number {
    let values = 0
    let last: IndexKey | undefined
    for (const { key } of this.#entries.from(() => 0)) {
      if (key !== last) values++
      last = key
    }
    return values === 0 ? 0 : Math.round(this.#entries.size / values)
  }

  /** 100 once every record that was there before the index is in it. */
  get loadPercent(): number {
    return Math.floor((this.#populatedPartitions * 100) / PARTITIONS)
  }

  get readable(): boolean {
    return this.#populatedPartitions === PARTITIONS
  }

  /** Takes in the records that are there already, a little at a time; a small store is done before the first pause. */
  async populate(): Promise<void> {
    const slice = new TimeSlice()
    for (let partition = 0; partition < PARTITIONS && !this.#dropped; partition++) {
      const turn = this.namespace.indexBuilds.turn(this.loadPercent)
      if (turn !== undefined) await turn
      for (const slot of this.namespace.slotsOf(partition)) this.update(slot, undefined, slot.committed)
      this.#populatedPartitions++
      if (slice.over()) await slice.pause()
    }
  }

  drop(): void {
    this.#dropped = true
  }

  update(slot: Slot, before: RecordState | undefined, after: RecordState | undefined): void {
    if (this.#sameBin(before, after)) return
    const old = this.#keys(slot, before)
    const current = this.#covers(after) ? this.#keysOf(after) : NO_KEYS
    if (this.definition.expression) this.#remember(slot, current)
    for (const key of missingFrom(current, old)) this.#entries.delete({ key, slot })
    for (const key of missingFrom(old, current)) this.#entries.add({ key, slot })
  }

  /** Entries with `begin ≤ key ≤ end`, by key, partition and digest. The index may change while they are read. */
  *range(begin: IndexKey, end: IndexKey): Generator<IndexEntry, void> {
    for (const entry of this.#entries.from(({ key }) => (key < begin ? -1 : 0))) {
      if (entry.key > end) return
      yield entry
    }
  }

  /** Entries of one key in a range of partitions, without looking at the others. */
  *within(wanted: IndexKey, first: number, last: number): Generator<IndexEntry, void> {
    const order = ({ key, slot }: IndexEntry): number =>
      key < wanted || (key === wanted && slot.partition < first) ? -1 : 0
    for (const entry of this.#entries.from(order)) {
      if (entry.key !== wanted || entry.slot.partition > last) return
      yield entry
    }
  }

  /** The smallest key between `begin` and `end` under which a record is found. */
  firstKey(slot: Slot, begin: IndexKey, end: IndexKey): IndexKey | undefined {
    let first: IndexKey | undefined
    for (const key of this.#keys(slot, slot.committed)) {
      if (key >= begin && key <= end && (first === undefined || key < first)) first = key
    }
    return first
  }

  /** True where a record can be found under several keys. */
  get multiple(): boolean {
    return this.definition.kind !== IndexKind.DEFAULT
  }

  /** True where a change leaves alone what is indexed. */
  #sameBin(before: RecordState | undefined, after: RecordState | undefined): boolean {
    const { kind, expression, bin } = this.definition
    if (kind === IndexKind.SET) return true
    if (expression) return false
    const held = this.#covers(before) ? before.bins.get(bin) : undefined
    const holds = this.#covers(after) ? after.bins.get(bin) : undefined
    return held === holds
  }

  /** The keys under which the index has a slot that holds this state. */
  #keys(slot: Slot, state: RecordState | undefined): readonly IndexKey[] {
    if (this.definition.expression) return this.#computed.get(slot) ?? NO_KEYS
    return this.#covers(state) ? this.#keysOf(state) : NO_KEYS
  }

  #keysOf(state: RecordState): readonly IndexKey[] {
    if (this.definition.expression) return expressionKeys(this.definition, state)
    const particle = state.bins.get(this.definition.bin)
    return particle === undefined ? NO_KEYS : binKeys(this.definition, particle)
  }

  #covers(state: RecordState | undefined): state is RecordState {
    const { setName } = this.definition
    return state !== undefined && (setName === '' || setName === state.setName)
  }

  #remember(slot: Slot, keys: readonly IndexKey[]): void {
    if (keys.length === 0) this.#computed.delete(slot)
    else this.#computed.set(slot, keys)
  }
}

function missingFrom(keys: readonly IndexKey[], wanted: readonly IndexKey[]): readonly IndexKey[] {
  if (keys.length === 0) return wanted
  if (keys.length === 1) return wanted.filter((key) => key !== keys[0])
  const known = new Set(keys)
  return wanted.filter((key) => !known.has(key))
}

function compareEntries(a: IndexEntry, b: IndexEntry): number {
  if (a.key !== b.key) return a.key < b.key ? -1 : 1
  if (a.slot.partition !== b.slot.partition) return a.slot.partition - b.slot.partition
  const left = a.slot.digestKey
  const right = b.slot.digestKey
  return left < right ? -1 : left > right ? 1 : 0
}
