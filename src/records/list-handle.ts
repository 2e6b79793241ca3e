import { addNumbers } from './add-numbers.js'
import { distinct } from '../codec/index.js'
import type { BinType } from '../model/index.js'
import { intervalOf } from '../plan/collection-expression.js'
import {
  listAppend,
  listAppendUnique,
  listClear,
  listIncrement,
  listInsert,
  listRemoveIndexRange,
  listRemoveInterval,
  listRemoveRankRange,
  listRemoveValues,
  listSet,
} from '../plan/operations.js'
import type { Value } from '../plan/value.js'
import { badArgument, noSuchIndex, wrongHandle } from './handle-errors.js'
import type { IfNumber } from './handle-types.js'
import type { ItemConditions } from './conditions.js'
import { itemsWhere, type ItemsHandle } from './items-handle.js'
import { boundOf, intervalFrom, isWithin, type Bound, type Fields } from './interval.js'
import { insertAt, missingFrom, removeAt, removeItems, replaceAll, replaceAt } from './list-effects.js'
import { itemType, subtypeOf, withoutCreating, type ListSubtype } from './place.js'
import { PlaceHandle, type Slice } from './place-handle.js'
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

  get #subtype(): ListSubtype {
    return subtypeOf(this.place)
  }

  /**
   * The items of a list of parts that meet conditions, asked and changed by the server. Needs server 8.1.2.
   *
   * @example
   * const unread = await session.at(User, 'alice').list('items').where({ read: false }).select()
   */
  where(conditions: ItemConditions<V>): ItemsHandle<V> {
    const { path, type } = this.place
    return itemsWhere(this.target, this.place, withoutCreating(path), type, conditions)
  }

  /** Adds items at the end; to a sorted list where they belong, to a unique one if they are not there yet. */
  append(...items: readonly V[]): void {
    if (items.length === 0) return
    const { bin, path } = this.place
    const { isSorted, isUnique } = this.#subtype
    const order = isSorted ? 'ordered' : 'unordered'
    const stored = this.#stored(items)
    const operation = isUnique ? listAppendUnique(bin, stored, path, order) : listAppend(bin, stored, order, path)
    this.record(operation, (list) => {
      const all = list as V[]
      all.push(...this.#missing(all, items))
      if (isSorted) this.#settle(all)
    })
  }

  /** Inserts items before an index; a negative one counts from the end. */
  insert(index: number, ...items: readonly V[]): void {
    this.#checkPositions('insert')
    this.checkInteger('index', index)
    if (items.length === 0) return
    const { bin, path } = this.place
    this.record(
      listInsert(bin, index, this.#stored(items), path, this.#subtype.isUnique),
      (list) => insertAt(this.#settle(list as V[]), index, this.#missing(list as V[], items)),
      (list) => this.#checkIndex(list, index),
    )
  }

  /** Replaces the item at an index. */
  set(index: number, item: V): void {
    this.#checkPositions('set')
    this.checkInteger('index', index)
    const { bin, path } = this.place
    this.record(
      listSet(bin, index, this.encode(this.#item, item), path),
      (list) => replaceAt(this.#settle(list as V[]), index, () => item),
      (list) => this.#checkIndex(list, index),
    )
  }

  /** Adds to the number at an index. */
  increment(index: IfNumber<V, number>, by: number | bigint = 1): void {
    this.#checkPositions('increment')
    const at: number = index
    this.checkInteger('index', at)
    const { bin, path } = this.place
    this.record(
      listIncrement(bin, at, this.checkDelta(this.#item, by), path),
      (list) => replaceAt(this.#settle(list as V[]), at, (item) => addNumbers(item, by)),
      (list) => {
        this.#checkIndex(list, at)
        this.checkNumber((list as readonly unknown[] | undefined)?.at(at), `item ${at}`)
      },
    )
  }

  /** Removes every item that equals one of these. */
  remove(...items: readonly V[]): void {
    if (items.length === 0) return
    const { bin, path } = this.place
    this.record(listRemoveValues(bin, this.#stored(items), 'none', path), (list) => removeItems(list as V[], items))
  }

  /** Removes items by position; a negative index counts from the end. */
  removeAt(index: number, count = 1): void {
    this.checkInteger('index', index)
    this.checkInteger('count', count, 1)
    const { bin, path } = this.place
    const operation = this.#subtype.isSorted
      ? listRemoveRankRange(bin, index, count, path)
      : listRemoveIndexRange(bin, index, count, 'none', path)
    this.record(operation, (list) => removeAt(this.#settle(list as V[]), index, count))
  }

  /** Removes items from `lower` up to, but not including, `upper`; undefined leaves a side open. */
  removeBetween(lower?: Bound<V>, upper?: Bound<V>): void {
    this.#cut(this.#bound(lower), this.#bound(upper), false)
  }

  /** Removes all items but those from `lower` up to, but not including, `upper`. */
  keepBetween(lower?: Bound<V>, upper?: Bound<V>): void {
    this.#cut(this.#bound(lower), this.#bound(upper), true)
  }

  /** Removes the tuples that begin with these fields. */
  removeStartingWith(...fields: Fields<V>): void {
    const [begin, end] = this.#startingWith(fields)
    this.#cut(begin, end, false)
  }

  clear(): void {
    this.record(listClear(this.place.bin, this.place.path), (list) => void (list as V[]).splice(0))
  }

  size(): Promise<number> {
    return this.askNumber(question('listSize'))
  }

  /** The item at an index, or null; a negative index counts from the end. */
  async get(index: number): Promise<V | null> {
    this.checkInteger('index', index)
    const [item] = await this.byIndex({ offset: index, count: 1 })
    return item ?? null
  }

  /** Items by position; `{ offset: -20, count: 20 }` are the last 20. */
  async byIndex(slice: Slice): Promise<V[]> {
    if (this.#subtype.isSorted) return this.byRank(slice)
    const { offset, count } = this.slice(slice)
    const [items] = await this.ask(question('listSlice', offset, count))
    return this.decodeAll(this.#item, items) as V[]
  }

  /** Items in value order; a negative offset counts from the greatest. */
  async byRank(slice: Slice): Promise<V[]> {
    const { offset, count } = this.slice(slice)
    const [items] = await this.ask(question('listRankSlice', offset, count))
    return this.decodeSorted(this.#item, items) as V[]
  }

  first(count: number): Promise<V[]> {
    return this.byIndex({ offset: 0, count })
  }

  async last(count: number): Promise<V[]> {
    this.checkInteger('count', count, 1)
    return this.byIndex({ offset: -count, count })
  }

  async contains(item: V): Promise<boolean> {
    return (await this.askNumber(question('listCountOf', this.encode(this.#item, item)))) > 0
  }

  /** Position of the first item that equals this one, or null. */
  indexOf(item: V): Promise<number | null> {
    return this.#position(this.#subtype.isSorted ? 'listRanksOf' : 'listIndexesOf', item)
  }

  /** Place of the first item that equals this one in value order, from 0 for the least; null where there is none. */
  rankOf(item: V): Promise<number | null> {
    return this.#position('listRanksOf', item)
  }

  /** The greatest items in value order, the greatest first. */
  async top(count: number): Promise<V[]> {
    this.checkInteger('count', count, 1)
    return (await this.byRank({ offset: -count, count })).reverse()
  }

  /** The least items in value order, the least first. */
  bottom(count: number): Promise<V[]> {
    return this.byRank({ offset: 0, count })
  }

  /** Items from `lower` up to, but not including, `upper`, in value order; undefined leaves a side open, tuples may be given by their first fields. */
  between(lower?: Bound<V>, upper?: Bound<V>): Promise<V[]> {
    return this.#interval(this.#bound(lower), this.#bound(upper))
  }

  countBetween(lower?: Bound<V>, upper?: Bound<V>): Promise<number> {
    return this.#count(this.#bound(lower), this.#bound(upper))
  }

  /** Tuples that begin with these fields, in value order. */
  startingWith(...fields: Fields<V>): Promise<V[]> {
    return this.#interval(...this.#startingWith(fields))
  }

  countStartingWith(...fields: Fields<V>): Promise<number> {
    return this.#count(...this.#startingWith(fields))
  }

  #stored(items: readonly V[]): Value[] {
    return items.map((item) => this.encodeMember(this.#item, item))
  }

  async #interval(begin: Value, end: Value): Promise<V[]> {
    const [items] = await this.ask(question('listInterval', ...intervalOf(begin, end)))
    return this.decodeSorted(this.#item, items) as V[]
  }

  #count(begin: Value, end: Value): Promise<number> {
    return this.askNumber(question('listIntervalCount', ...intervalOf(begin, end)))
  }

  #cut(begin: Value, end: Value, keep: boolean): void {
    const { bin, path } = this.place
    this.record(listRemoveInterval(bin, begin, end, keep, path), (list) => {
      const all = list as V[]
      const kept = all.filter((item) => isWithin(this.encode(this.#item, item), begin, end) === keep)
      replaceAll(all, kept)
    })
  }

  #bound(given: Bound<V> | undefined): Value {
    return given === undefined
      ? null
      : boundOf(this.#item, given, this.target, (type, value) => this.encode(type, value))
  }

  #startingWith(fields: readonly unknown[]): [Value, Value] {
    const { target, place } = this
    const interval = intervalFrom(boundOf(this.#item, fields, target, (type, value) => this.encode(type, value)))
    if (interval !== undefined) return interval
    const fix = 'Give one field or more, the last of which is not a map.'
    throw badArgument(target, place.property, 'these are not the first fields of a tuple', fix)
  }

  async #position(name: 'listIndexesOf' | 'listRanksOf', item: V): Promise<number | null> {
    const [positions] = await this.ask(question(name, this.encode(this.#item, item)))
    const found = (positions ?? []) as readonly number[]
    return found.length === 0 ? null : Math.min(...found)
  }

  /** Items that a unique list does not have yet; all of them for another list. */
  #missing(list: readonly V[], items: readonly V[]): readonly V[] {
    return this.#subtype.isUnique ? missingFrom(list, items) : items
  }

  /** Brings a loaded list into the state that is stored, where positions count: sorted and without repeats, as declared. */
  #settle(list: V[]): V[] {
    const { isSorted, isUnique } = this.#subtype
    if (isUnique)
      replaceAll(
        list,
        distinct(list, (item) => this.encode(this.#item, item)),
      )
    if (isSorted) replaceAll(list, this.sorted(this.#item, list) as V[])
    return list
  }

  /** Throws where a loaded list shows that it is too short for a negative index. */
  #checkIndex(list: unknown, index: number): void {
    const { length } = (list ?? []) as readonly unknown[]
    if (index >= -length) return
    throw noSuchIndex(this.target, this.place.property, index, length)
  }

  /** Rejects positions in a sorted list, and what could give a unique one an item twice. */
  #checkPositions(name: 'insert' | 'set' | 'increment'): void {
    const { target, place } = this
    const { isSorted, isUnique } = this.#subtype
    const fix = `A ${isSorted ? 'sorted list puts items where they belong' : 'unique list holds each item once'}: use append and remove instead of ${name}.`
    if (isSorted) throw wrongHandle(target, place.property, 'a list in insertion order', fix)
    if (isUnique && name !== 'insert') throw wrongHandle(target, place.property, 'a list that may repeat an item', fix)
  }
}
