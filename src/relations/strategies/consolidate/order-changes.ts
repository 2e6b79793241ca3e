import type { KeyValue } from '../../../keys/index.js'
import type { FoundEntry, WriteOperation } from '../../../plan/operation.js'
import { listAppendUnique, listCreate } from '../../../plan/operations.js'
import type { MapKey, Value } from '../../../plan/value.js'
import { compareValues } from '../../../plan/value-order.js'
import type { PartClass } from './part-class.js'
import type { Tuple } from './part-order.js'

/** Children in one expression, of which a server takes 1 MiB. */
const MOST_IN_ONE = 1_000

/** Changes of the further orders of one collection, in the write that changes the children. */
export class OrderChanges {
  readonly #parts: PartClass
  readonly #removed: FoundEntry[][]
  readonly #added: Value[][]

  constructor(parts: PartClass) {
    this.#parts = parts
    this.#removed = parts.orders.map(() => [])
    this.#added = parts.orders.map(() => [])
  }

  /** The child is taken out. */
  remove(id: KeyValue): void {
    for (const removed of this.#removed) removed.push({ at: this.#at(id), id })
  }

  /** The child is put, in place of one that may be there; in a new record there is none. */
  put(id: KeyValue, tuples: readonly Tuple[], isNewRecord: boolean): void {
    if (!isNewRecord) this.remove(id)
    tuples.forEach((tuple, i) => this.#add(i, tuple))
  }

  /** Fields of a child change that is at this place. */
  change(id: KeyValue, place: MapKey, before: readonly Tuple[], now: readonly Tuple[]): void {
    this.#removed.forEach((removed, i) => {
      if (isSame(before[i], now[i])) return
      removed.push({ at: { key: place }, id })
      this.#add(i, now[i])
    })
  }

  /** Before the children change: the record still says where their tuples are. */
  get removals(): readonly WriteOperation[] {
    const { orders, bin } = this.#parts
    return orders.flatMap((order, i) => {
      const removed = this.#removed[i]
      const parts = Array.from({ length: Math.ceil(removed.length / MOST_IN_ONE) }, (_, part) => part * MOST_IN_ONE)
      return parts.map((from) => order.removal(bin, removed.slice(from, from + MOST_IN_ONE)))
    })
  }

  get additions(): readonly WriteOperation[] {
    return this.#parts.orders.flatMap(({ bin }, i) =>
      this.#added[i].length === 0 ? [] : [listAppendUnique(bin, this.#added[i])],
    )
  }

  /** Gives the lists their order and index, when the record is created. */
  emptyCreation(): readonly WriteOperation[] {
    return this.#parts.orders.map(({ bin }) => listCreate(bin, 'ordered', true))
  }

  #add(index: number, tuple: Tuple): void {
    if (tuple !== undefined) this.#added[index].push(tuple)
  }

  #at(id: KeyValue): FoundEntry['at'] {
    const { sortKeyBin } = this.#parts.relation
    return sortKeyBin === undefined ? { key: id } : { foundIn: sortKeyBin }
  }
}

function isSame(a: Tuple, b: Tuple): boolean {
  return a === undefined || b === undefined ? a === b : compareValues(a, b) === 0
}
