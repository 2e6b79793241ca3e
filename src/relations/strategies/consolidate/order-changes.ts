import { isDeepStrictEqual } from 'node:util'
import type { KeyValue } from '../../../keys/index.js'
import type { FoundEntry, WriteOperation } from '../../../plan/operation.js'
import { listAppendUnique, listCreate } from '../../../plan/operations.js'
import type { MapKey, Value } from '../../../plan/value.js'
import { compareValues } from '../../../plan/value-order.js'
import type { PartClass } from './part-class.js'
import { tupleOf, type OrderValues, type PartOrder, type Tuple } from './part-order.js'

/** Children in one expression, of which a server takes 1 MiB. */
const MOST_IN_ONE = 1_000
/** Children in an expression that names each of them twice. */
const MOST_CORRECTED = 400

/** Places of a child before and after a change. */
type Places = readonly [from: MapKey, to: MapKey]

/** Changes of the further orders of one collection, in the write that changes the children. */
export class OrderChanges {
  readonly #parts: PartClass
  readonly #removed: FoundEntry[][]
  readonly #added: Value[][]
  /** Children of which another session may have changed further values of the order. */
  readonly #shared: (FoundEntry & { readonly tuple: Tuple })[][]

  constructor(parts: PartClass) {
    this.#parts = parts
    this.#removed = parts.orders.map(() => [])
    this.#added = parts.orders.map(() => [])
    this.#shared = parts.orders.map(() => [])
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

  /** Fields of a child change that goes from one place to another, or stays. */
  change(id: KeyValue, [from, to]: Places, before: readonly OrderValues[], now: readonly OrderValues[]): void {
    this.#parts.orders.forEach((order, i) => {
      // NaN compares as equal to every number.
      if (!isDeepStrictEqual(before[i], now[i])) order.checkComparable(now[i])
      if (compareValues(before[i], now[i]) === 0) return
      this.#removed[i].push({ at: { key: from }, id })
      const tuple = tupleOf(now[i], id)
      this.#add(i, tuple)
      if (order.isOfSeveral) this.#shared[i].push({ at: { key: to }, id, tuple })
    })
  }

  /** Before the children change: the record still says where their tuples are. */
  get removals(): readonly WriteOperation[] {
    const { orders, bin } = this.#parts
    return orders.flatMap((order, i) =>
      inSlices(this.#removed[i], MOST_IN_ONE).map((removed) => order.removal(bin, removed)),
    )
  }

  /** After the children have changed: the record says which values they have by now. */
  get additions(): readonly WriteOperation[] {
    const { orders, bin: within } = this.#parts
    return orders.flatMap((order, i) => [
      ...(this.#added[i].length === 0 ? [] : [listAppendUnique(order.bin, this.#added[i])]),
      ...this.#corrections(order, within, i),
    ])
  }

  #corrections(order: PartOrder, within: string, index: number): readonly WriteOperation[] {
    return inSlices(this.#shared[index], MOST_CORRECTED).map((shared) => {
      const assumed = shared.flatMap(({ tuple }) => (tuple === undefined ? [] : [tuple]))
      return order.correction(within, shared, assumed)
    })
  }

  /** Gives the lists their order and index, when the record is created. */
  emptyCreation(): readonly WriteOperation[] {
    return this.#parts.orders.map(({ bin }) => listCreate(bin, 'ordered', true))
  }

  #add(index: number, tuple: Tuple): void {
    if (tuple === undefined) return
    this.#parts.orders[index].checkComparable(tuple)
    this.#added[index].push(tuple)
  }

  #at(id: KeyValue): FoundEntry['at'] {
    const { sortKeyBin } = this.#parts.relation
    return sortKeyBin === undefined ? { key: id } : { foundIn: sortKeyBin }
  }
}

function inSlices<T>(all: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size))
}
