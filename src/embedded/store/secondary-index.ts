import { PARTITIONS } from '../protocol/constants.js'
import type { Particle } from '../value/particle.js'
import { IndexKind, type IndexDefinition } from './index-definition.js'
import { indexKeys, type IndexKey } from './index-keys.js'
import type { CommitObserver, Namespace } from './namespace.js'
import type { RecordState } from './record-state.js'
import type { Slot } from './slot.js'
import { SortedList } from './sorted-list.js'
import { TimeSlice } from './time-slice.js'

export interface IndexEntry {
  readonly key: IndexKey
  readonly slot: Slot
}

const NO_KEYS: readonly IndexKey[] = []

/** Finds records by the value of a bin. It follows every commit, so what it holds is what is committed. */
export class SecondaryIndex implements CommitObserver {
  readonly #entries = new SortedList<IndexEntry>(compareEntries)
  #populatedPartitions = 0
  #dropped = false

  constructor(
    readonly namespace: Namespace,
    public name: string,
    readonly definition: IndexDefinition,
  ) {}

  get entryCount(): number {
    return this.#entries.size
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
      for (const slot of this.namespace.slotsOf(partition)) this.update(slot, undefined, slot.committed)
      this.#populatedPartitions++
      if (slice.over()) await slice.pause()
    }
  }

  drop(): void {
    this.#dropped = true
  }

  update(slot: Slot, before: RecordState | undefined, after: RecordState | undefined): void {
    const held = this.#indexedBin(before)
    const holds = this.#indexedBin(after)
    if (held === holds) return
    const old = held === undefined ? NO_KEYS : indexKeys(this.definition, held)
    const current = holds === undefined ? NO_KEYS : indexKeys(this.definition, holds)
    for (const key of missingFrom(current, old)) this.#entries.delete({ key, slot })
    for (const key of missingFrom(old, current)) this.#entries.add({ key, slot })
  }

  /** Entries with `begin ≤ key ≤ end`, by key and then by digest. The index may change while they are read. */
  *range(begin: IndexKey, end: IndexKey): Generator<IndexEntry, void> {
    for (const entry of this.#entries.from(({ key }) => (key < begin ? -1 : 0))) {
      if (entry.key > end) return
      yield entry
    }
  }

  /** The smallest key between `begin` and `end` under which a record is found. */
  firstKey(state: RecordState, begin: IndexKey, end: IndexKey): IndexKey | undefined {
    const bin = this.#indexedBin(state)
    let first: IndexKey | undefined
    for (const key of bin === undefined ? NO_KEYS : indexKeys(this.definition, bin)) {
      if (key >= begin && key <= end && (first === undefined || key < first)) first = key
    }
    return first
  }

  /** True where a record can be found under several keys. */
  get multiple(): boolean {
    return this.definition.kind !== IndexKind.DEFAULT
  }

  #indexedBin(state: RecordState | undefined): Particle | undefined {
    if (state === undefined || this.definition.kind === IndexKind.SET) return undefined
    const { setName, bin } = this.definition
    return setName === '' || setName === state.setName ? state.bins.get(bin) : undefined
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
  const left = a.slot.digestKey
  const right = b.slot.digestKey
  return left < right ? -1 : left > right ? 1 : 0
}
