import {
  listAppend,
  listClear,
  listIncrement,
  listInsert,
  listRemoveIndexRange,
  listRemoveValues,
  listSet,
} from '../plan/operations.js'
import type { BinType } from '../model/index.js'
import { isDeepStrictEqual } from 'node:util'
import { itemType } from './place.js'
import { PlaceHandle, type Slice } from './place-handle.js'
import { inValueOrder } from './value-order.js'
import { question } from './question.js'

/**
 * A list of a record that need not be loaded. Changes are sent by the next flush; questions are answered by the server.
 *
 * @example
 * session.at(User, 'alice').list('log').append('signed in')
 */
export class ListHandle<V> extends PlaceHandle {
  get #item(): BinType {
    return itemType(this.place.type)
  }

  /** Adds items at the end. */
  append(...items: readonly V[]): void {
    if (items.length === 0) return
    const { bin, path } = this.place
    const operation = listAppend(
      bin,
      items.map((item) => this.encode(this.#item, item)),
      'unordered',
      path,
    )
    this.record(operation, (list) => void (list as V[]).push(...items))
  }

  /** Inserts items before an index; a negative one counts from the end. */
  insert(index: number, ...items: readonly V[]): void {
    this.checkInteger('index', index)
    if (items.length === 0) return
    const { bin, path } = this.place
    const operation = listInsert(
      bin,
      index,
      items.map((item) => this.encode(this.#item, item)),
      path,
    )
    this.record(operation, (list) => void (list as V[]).splice(index, 0, ...items))
  }

  /** Replaces the item at an index. */
  set(index: number, item: V): void {
    this.checkInteger('index', index)
    const { bin, path } = this.place
    this.record(listSet(bin, index, this.encode(this.#item, item), path), (list) => {
      const items = list as V[]
      items[index < 0 ? items.length + index : index] = item
    })
  }

  /** Adds to the number at an index. */
  increment(index: number, by: number | bigint = 1): void {
    this.checkInteger('index', index)
    const { bin, path } = this.place
    this.record(listIncrement(bin, index, this.checkDelta(by), path), (list) => {
      const items = list as (number | bigint)[]
      const at = index < 0 ? items.length + index : index
      items[at] = addNumbers(items[at], by)
    })
  }

  /** Removes every item that equals one of these. */
  remove(...items: readonly V[]): void {
    if (items.length === 0) return
    const { bin, path } = this.place
    const operation = listRemoveValues(
      bin,
      items.map((item) => this.encode(this.#item, item)),
      'none',
      path,
    )
    this.record(operation, (list) => {
      const kept = (list as V[]).filter((each) => !items.some((item) => isDeepStrictEqual(item, each)))
      ;(list as V[]).splice(0, Infinity, ...kept)
    })
  }

  /** Removes items by position; a negative index counts from the end. */
  removeAt(index: number, count = 1): void {
    this.checkInteger('index', index)
    this.checkInteger('count', count, 1)
    const { bin, path } = this.place
    this.record(
      listRemoveIndexRange(bin, index, count, 'none', path),
      (list) => void (list as V[]).splice(index, count),
    )
  }

  clear(): void {
    this.record(listClear(this.place.bin, this.place.path), (list) => void (list as V[]).splice(0))
  }

  size(): Promise<number> {
    return this.askNumber(question('listSize'))
  }

  /** The item at an index, or null; a negative index counts from the end. */
  async get(index: number): Promise<V | null> {
    const [item] = await this.slice({ offset: index, count: 1 })
    return item ?? null
  }

  /** Items by position; `{ offset: -20, count: 20 }` are the last 20. */
  async slice({ offset = 0, count }: Slice): Promise<V[]> {
    this.checkInteger('offset', offset)
    this.checkInteger('count', count, 1)
    const [items] = await this.ask(question('listSlice', offset, count))
    return this.decodeAll(this.#item, items) as V[]
  }

  first(count: number): Promise<V[]> {
    return this.slice({ offset: 0, count })
  }

  last(count: number): Promise<V[]> {
    return this.slice({ offset: -count, count })
  }

  async contains(item: V): Promise<boolean> {
    return (await this.askNumber(question('listCountOf', this.encode(this.#item, item)))) > 0
  }

  /** Position of the first item that equals this one, or null. */
  async indexOf(item: V): Promise<number | null> {
    const [indexes] = await this.ask(question('listIndexesOf', this.encode(this.#item, item)))
    const found = (indexes ?? []) as readonly number[]
    return found.length === 0 ? null : Math.min(...found)
  }

  /** The greatest items in value order, the greatest first. */
  async top(count: number): Promise<V[]> {
    this.checkInteger('count', count, 1)
    const [items] = await this.ask(question('listRankSlice', -count, count))
    return this.decodeAll(this.#item, inValueOrder(items)).reverse() as V[]
  }

  /** Items from `lower` up to, but not including, `upper`, in value order. */
  async between(lower: V, upper: V): Promise<V[]> {
    const [items] = await this.ask(
      question('listInterval', this.encode(this.#item, lower), this.encode(this.#item, upper)),
    )
    return this.decodeAll(this.#item, inValueOrder(items)) as V[]
  }

  countBetween(lower: V, upper: V): Promise<number> {
    return this.askNumber(question('listIntervalCount', this.encode(this.#item, lower), this.encode(this.#item, upper)))
  }
}

export function addNumbers(value: unknown, by: number | bigint): number | bigint {
  if (typeof value === 'bigint') return value + BigInt(by)
  return typeof by === 'bigint' && (value === undefined || value === null) ? by : Number(value ?? 0) + Number(by)
}
