import { quoted, type SkeinError } from '../errors/index.js'
import { decodeItem, tokenOf, typeCodecOf, unreadable, unstorable } from '../codec/index.js'
import { mapClear, mapIncrement, mapPut, mapPutItems, mapRemoveKeys, MAX_CONTEXTS } from '../plan/operations.js'
import type { MapKey, Value } from '../plan/value.js'
import { atPlace, badArgument, wrongHandle } from './handle-errors.js'
import { addNumbers } from './add-numbers.js'
import { byKey, byValue, type SortableEntry, type StoredEntry } from './entry-order.js'
import { ListHandle } from './list-handle.js'
import {
  deleteEntry,
  entryOf,
  fieldKeysOf,
  getEntry,
  isPart,
  keyOfEntry,
  mapSubtypeOf,
  nested,
  setEntry,
  shapeOf,
  withoutCreating,
  type Entry,
} from './place.js'
import { ALL, PlaceHandle, type Slice } from './place-handle.js'
import { sliceOf } from './local-answers.js'
import { question, type Question } from './question.js'
import { SetHandle } from './set-handle.js'
import { compareValues } from '../plan/value-order.js'
import type { ItemConditions } from './conditions.js'
import type { EntriesOf, ItemOf, KeyOf, KindOf, NumberKeyOf, PartOf, ValueOf } from './handle-types.js'
import { itemsWhere, type ItemsHandle } from './items-handle.js'

/**
 * A Map, a part or a JSON object of a record that need not be loaded. Entries have two orders, in the server's words: `index` is their
 * place in key order, `rank` in value order.
 *
 * @example
 * session.at(User, 'alice').map('stats').at('accolades').increment('jokes')
 */
export class MapHandle<M> extends PlaceHandle {
  /** A handle on the list, set or map under a key; a change there makes it where it is missing. */
  at<K extends KeyOf<M>>(key: K): HandleOf<ValueOf<M, K>> {
    const { target, place } = this
    const entry = this.#entry(key)
    if (place.path.length === MAX_CONTEXTS) {
      const what = `a handle reaches ${MAX_CONTEXTS} levels deep, and ${quoted(key)} lies deeper`
      throw badArgument(target, place.property, what, 'Get and put it with the value that it is part of.')
    }
    const inner = nested(place, entry, target.codecs)
    switch (shapeOf(entry.type)) {
      case 'list':
        return new ListHandle(target, inner) as HandleOf<ValueOf<M, K>>
      case 'set':
        return new SetHandle(target, inner) as HandleOf<ValueOf<M, K>>
      case 'map':
        return new MapHandle(target, inner) as HandleOf<ValueOf<M, K>>
      default:
        throw wrongHandle(
          target,
          place.property,
          `a list or map at ${quoted(key)}`,
          'Use get and put for single values.',
        )
    }
  }

  /**
   * The parts of a map of parts (`@Embedded(() => Part, { as: 'map' })`) that meet conditions, asked and changed by the server. Needs server
   * 8.1.2.
   *
   * @example
   * session.at(User, 'alice').map('devices').where({ os: 'android' }).set({ active: false })
   */
  where(conditions: ItemConditions<PartOf<M>>): ItemsHandle<PartOf<M>> {
    const { path, type } = this.place
    return itemsWhere(this.target, this.place, withoutCreating(path), type, conditions)
  }

  /** Puts an entry; a field of a part is removed by `null` or `undefined`. */
  put<K extends KeyOf<M>>(key: K, value: ValueOf<M, K>): void {
    const { bin, path } = this.place
    const entry = this.#entry(key)
    if (this.#isNoValue(value)) return this.#removeEntries([entry])
    const operation = mapPut(bin, entry.key, this.encodeMember(entry.type, value, key), path, mapSubtypeOf(this.place))
    this.record(operation, (map) => setEntry(map, entry.name, value))
  }

  /** Puts entries; of equal keys the last counts. */
  putMany(entries: Iterable<readonly [KeyOf<M>, ValueOf<M, KeyOf<M>>]>): void {
    const { bin, path } = this.place
    const given = this.listOf('putMany', entries).map((one) => {
      if (!Array.isArray(one)) throw this.#bad('putMany() takes entries', 'Give [key, value] for each, or a Map.')
      const [key, value] = one as unknown as readonly [KeyOf<M>, ValueOf<M, KeyOf<M>>]
      return { entry: this.#entry(key), value }
    })
    // A server expression takes no key twice, nor equal bytes.
    const all = [...new Map(given.map((each) => [tokenOf(each.entry.key), each])).values()]
    const puts = all.filter(({ value }) => !this.#isNoValue(value))
    const items = new Map(puts.map(({ entry, value }) => [entry.key, this.encodeMember(entry.type, value, entry.name)]))
    this.#removeEntries(all.flatMap(({ entry, value }) => (this.#isNoValue(value) ? [entry] : [])))
    if (items.size === 0) return
    this.record(mapPutItems(bin, items, path, mapSubtypeOf(this.place)), (map) =>
      puts.forEach(({ entry, value }) => setEntry(map, entry.name, value)),
    )
  }

  /** Adds to the number under a key; a missing one counts as 0. */
  increment(key: NumberKeyOf<M>, by: number | bigint = 1): void {
    const { bin, path } = this.place
    const entry = this.#entry(key)
    this.record(
      mapIncrement(bin, entry.key, this.checkDelta(entry.type, by), path, mapSubtypeOf(this.place)),
      (map) => setEntry(map, entry.name, addNumbers(getEntry(map, entry.name), by)),
      (map) => this.checkNumber(this.#numberOf(map, entry), quoted(entry.name)),
    )
  }

  remove(...keys: readonly KeyOf<M>[]): void {
    this.#removeEntries(keys.map((key) => this.#entry(key)))
  }

  clear(): void {
    this.record(mapClear(this.place.bin, this.place.path), (map) => {
      for (const key of map instanceof Map ? [...map.keys()] : Object.keys(map as object)) deleteEntry(map, key)
    })
  }

  size(): Promise<number> {
    const fields = this.#fields
    return this.askNumber(fields === undefined ? question('mapSize') : question('mapCountAmong', fields))
  }

  async has(key: KeyOf<M>): Promise<boolean> {
    return (await this.askNumber(question('mapCountAmong', [this.#entry(key).key]))) > 0
  }

  /** The value under a key, or undefined where there is no such entry. */
  async get<K extends KeyOf<M>>(key: K): Promise<ValueOf<M, K> | undefined> {
    const entry = this.#entry(key)
    const [values] = await this.ask(question('mapValuesAmong', [entry.key]))
    const [value] = (values ?? []) as readonly Value[]
    return value === undefined ? undefined : (this.#decode(entry, value) as ValueOf<M, K>)
  }

  /** The entries under these keys; only they cross the wire. */
  async getMany<K extends KeyOf<M>>(keys: readonly K[]): Promise<Map<K, ValueOf<M, K>>> {
    const stored = this.listOf('getMany', keys).map((key) => this.#entry(key).key)
    const found = await this.#entries(question('mapKeysAmong', stored), question('mapValuesAmong', stored))
    return new Map(found) as Map<K, ValueOf<M, K>>
  }

  /** Keys in key order, by index; all of them unless a count is given. */
  async keys(slice: Partial<Slice> = {}): Promise<KeyOf<M>[]> {
    const { offset, count } = this.slice(slice, ALL)
    const fields = this.#fields
    const [keys] = await this.ask(
      fields === undefined ? question('mapKeySlice', offset, count) : question('mapKeysAmong', fields),
    )
    const stored = (keys ?? []) as readonly MapKey[]
    return this.#keysOf(
      fields === undefined ? stored : sliceOf(stored.toSorted(compareValues), offset, count),
    ) as KeyOf<M>[]
  }

  /** Entries in key order, by index; a negative offset counts from the end. */
  async byIndex(slice: Slice): Promise<EntriesOf<M>> {
    const { offset, count } = this.slice(slice)
    if (this.#fields !== undefined) return sliceOf(await this.#allFields(byKey), offset, count)
    return this.#entries(question('mapKeySlice', offset, count), question('mapValueSlice', offset, count))
  }

  /** Entries in value order, by rank; a negative offset counts from the greatest. */
  async byRank(slice: Slice): Promise<EntriesOf<M>> {
    const { offset, count } = this.slice(slice)
    if (this.#fields !== undefined) return sliceOf(await this.#allFields(byValue), offset, count)
    return this.#entries(question('mapKeysByRank', offset, count), question('mapValuesByRank', offset, count), byValue)
  }

  /** Entries with the greatest values, the greatest first. */
  async top(count: number): Promise<EntriesOf<M>> {
    this.checkInteger('count', count, 1)
    return (await this.byRank({ offset: -count, count })).reverse()
  }

  /** Entries with the least values, the least first. */
  bottom(count: number): Promise<EntriesOf<M>> {
    return this.byRank({ offset: 0, count })
  }

  /** Place of an entry in value order, from 0 for the least value; null where there is none. */
  rankOf(key: KeyOf<M>): Promise<number | null> {
    return this.#position('mapRankOfKey', key)
  }

  /** Place of an entry in key order, from 0; null where there is none. */
  indexOf(key: KeyOf<M>): Promise<number | null> {
    return this.#position('mapIndexOfKey', key)
  }

  async #position(name: 'mapRankOfKey' | 'mapIndexOfKey', key: KeyOf<M>): Promise<number | null> {
    const entry = this.#entry(key)
    if (this.#fields !== undefined) {
      const all = await this.#allFields(name === 'mapRankOfKey' ? byValue : byKey)
      const at = all.findIndex(([each]) => each === entry.name)
      return at < 0 ? null : at
    }
    const [position] = await this.ask(question(name, entry.key))
    return position === undefined || position === null || Number(position) < 0 ? null : Number(position)
  }

  get #fields(): readonly MapKey[] | undefined {
    return fieldKeysOf(this.place.type, this.target.codecs)
  }

  #allFields(order: typeof byKey): Promise<EntriesOf<M>> {
    return this.#entries(question('mapKeysAmong', this.#fields!), question('mapValuesAmong', this.#fields!), order)
  }

  async #entries(keys: Question, values: Question, order = byKey): Promise<EntriesOf<M>> {
    const [storedKeys, storedValues] = await this.ask(keys, values)
    const found = ((storedKeys ?? []) as readonly MapKey[]).map((key, i): StoredEntry => [
      key,
      (storedValues as Value[])[i],
    ])
    return found
      .map(([stored, value]): SortableEntry => {
        const key = keyOfEntry(this.place.type, stored, this.target.codecs)
        const entry = this.#entry(key)
        const decoded = this.#decode(entry, value)
        return { stored: [stored, this.encode(entry.type, decoded)], shown: [key, decoded] }
      })
      .sort((a, b) => order(a.stored, b.stored))
      .map(({ shown }) => shown as EntriesOf<M>[number])
  }

  #removeEntries(entries: readonly Entry[]): void {
    if (entries.length === 0) return
    const { bin, path } = this.place
    const keys = entries.map(({ key }) => key)
    this.record(mapRemoveKeys(bin, keys, 'none', path), (map) => entries.forEach(({ name }) => deleteEntry(map, name)))
  }

  /** True for what removes a field of a part; in a map, `null` is a value. */
  #isNoValue(value: unknown): boolean {
    return (value === null || value === undefined) && isPart(this.place.type)
  }

  #keysOf(stored: readonly MapKey[]): unknown[] {
    const { type } = this.place
    return stored.map((key) => keyOfEntry(type, key, this.target.codecs))
  }

  #entry(key: unknown): Entry {
    const { target, place } = this
    let entry: Entry | undefined
    try {
      entry = entryOf(place.type, key, target.codecs)
    } catch (error) {
      throw unstorable(target.model, target.key, atPlace(place, [], error))
    }
    if (entry !== undefined) return entry
    throw wrongHandle(
      target,
      place.property,
      `a part with the field ${quoted(key)}`,
      'Name a stored property of the part.',
    )
  }

  #decode({ type, name }: Entry, value: Value): unknown {
    const { codecs, model, key } = this.target
    try {
      return decodeItem(typeCodecOf(type, codecs), value)
    } catch (error) {
      throw unreadable(model, key, atPlace(this.place, [name], error))
    }
  }

  /** The loaded value of an entry; a field of a part that is null is not stored. */
  #numberOf(map: unknown, { name }: Entry): unknown {
    const value = map === undefined ? undefined : getEntry(map, name)
    return value === null && isPart(this.place.type) ? undefined : value
  }

  #bad(what: string, fix: string): SkeinError {
    return badArgument(this.target, this.place.property, what, fix)
  }
}

/** The handle for a value of type V. */
type HandleOf<V> =
  KindOf<V> extends 'list'
    ? ListHandle<ItemOf<V>>
    : KindOf<V> extends 'set'
      ? SetHandle<ItemOf<V>>
      : KindOf<V> extends 'map'
        ? MapHandle<V>
        : never
