import { deltaOf } from './add-numbers.js'
import { decodeItem, encodeItem, inEntry, typeCodecOf, unreadable, unstorable } from '../codec/index.js'
import { quoted, shown, type SkeinError } from '../errors/index.js'
import type { BinType } from '../model/index.js'
import { edited } from '../plan/collection-expression.js'
import type { Expression, PathLevel } from '../plan/expression.js'
import { changeByPath } from '../plan/operations.js'
import { children, loopVariable, takenOut } from '../plan/path-expression.js'
import type { MapKey, Value } from '../plan/value.js'
import { compileConditions, type ItemConditions } from './conditions.js'
import { atPlace, badArgument, wrongHandle } from './handle-errors.js'
import type { ItemOf, ListName, MapName, NumberKeyOf, PartOf } from './handle-types.js'
import { entryOf, itemType, shapeOf, type Entry, type Place } from './place.js'
import type { RecordTarget } from './record-target.js'

/** Values to give to all items; `null` removes a field. */
export type ItemValues<V> = { readonly [K in keyof V & string]?: V[K] | null }

/**
 * The items of a list or map of parts that meet conditions, asked and changed by the server without loading it. Needs server 8.1.2.
 *
 * @example
 * session.at(User, 'alice').list('items').where({ from: 'carol', read: false }).set({ read: true })
 */
export class ItemsHandle<V> {
  readonly #target: RecordTarget
  readonly #place: Place
  readonly #levels: readonly PathLevel[]
  readonly #type: BinType
  /** No item can meet the conditions. */
  readonly #isNone: boolean

  /** @internal */
  constructor(target: RecordTarget, place: Place, levels: readonly PathLevel[], type: BinType, isNone: boolean) {
    this.#target = target
    this.#place = place
    this.#levels = levels
    this.#type = type
    this.#isNone = isNone
  }

  /** A list or map of parts inside the items, for conditions on its own items. */
  at<K extends (ListName<V> | MapName<V>) & keyof V>(name: K): NestedItems<InnerOf<V[K]>> {
    const entry = this.#entry(name as string)
    if (shapeOf(entry.type) !== 'list' && shapeOf(entry.type) !== 'map')
      throw wrongHandle(this.#target, name, 'a list or map of parts', 'Name one of them.')
    const levels: PathLevel[] = [...this.#levels, { in: 'mapKey', key: entry.key }]
    return {
      where: (conditions) => itemsWhere(this.#target, this.#place, levels, entry.type, conditions, this.#isNone),
    }
  }

  /** The items, in the order of the list, or of the keys of the map. */
  async select(): Promise<V[]> {
    const found = this.#isNone ? [] : await this.#target.askPath(this.#place, this.#levels, false)
    const { model, key, codecs } = this.#target
    const codec = typeCodecOf(this.#type, codecs)
    try {
      return ((found ?? []) as readonly Value[]).map((item) => decodeItem(codec, item) as V)
    } catch (error) {
      throw unreadable(model, key, atPlace(this.#place, [], error))
    }
  }

  /** Number of these items; nothing else crosses the wire. */
  async count(): Promise<number> {
    return this.#isNone ? 0 : Number((await this.#target.askPath(this.#place, this.#levels, true)) ?? 0)
  }

  /** Gives all of them these values. */
  set(values: ItemValues<V>): void {
    if (typeof values !== 'object' || values === null)
      throw this.#bad(`set() takes an object, not ${shown(values)}`, 'Give the fields to set: { read: true }.')
    const given = Object.entries(values).map(([name, value]) => ({ entry: this.#entry(name), value: value }))
    if (given.length === 0) throw this.#bad('set() names no field', 'Give at least one: { read: true }.')
    const puts = given.filter(({ value }) => value !== null && value !== undefined)
    const gone = given.filter(({ value }) => value === null || value === undefined).map(({ entry }) => entry.key)
    const items = new Map(puts.map(({ entry, value }): [MapKey, Value] => [entry.key, this.#encode(entry, value)]))
    let item: Expression = loopVariable('map')
    if (items.size > 0) item = edited('mapPutItems', item, [items], 'map')
    if (gone.length > 0) item = edited('mapRemoveKeys', item, [gone], 'map')
    this.#record(item, false)
  }

  /** Adds to a number of each of them; a missing one counts as 0. */
  increment(name: NumberKeyOf<V> & string, by: number | bigint = 1): void {
    const { key, type } = this.#entry(name)
    const delta = deltaOf(type, by, (what, fix) => this.#bad(what, fix))
    this.#record(edited('mapIncrement', loopVariable('map'), [key, delta], 'map'), true)
  }

  /** Takes them out. */
  remove(): void {
    this.#record(takenOut(), false)
  }

  #record(change: Expression, adds: boolean): void {
    const { property, bin, rootType } = this.#place
    if (this.#isNone) return
    const root = rootType ?? this.#target.model.properties.find(({ name }) => name === property)!.type
    const type = shapeOf(root) === 'map' ? 'map' : 'list'
    const operation = changeByPath(bin, type, this.#levels, change, adds)
    this.#target.record({ property, operation, isByServer: true, apply: (value) => value })
  }

  #entry(name: string): Entry {
    const entry = entryOf(this.#type, name, this.#target.codecs)
    if (entry !== undefined) return entry
    throw wrongHandle(
      this.#target,
      this.#place.property,
      `a list of parts with the field ${quoted(name)}`,
      'Name a stored field.',
    )
  }

  #encode({ type }: Entry, value: unknown): Value {
    const { codecs, model, key } = this.#target
    try {
      return encodeItem(typeCodecOf(type, codecs), value, this.#levels.length)
    } catch (error) {
      throw unstorable(model, key, inEntry(this.#place.property, undefined, error))
    }
  }

  #bad(what: string, fix: string): SkeinError {
    return badArgument(this.#target, this.#place.property, what, fix)
  }
}

/** Item of a list, or part of a map. */
type InnerOf<V> = NonNullable<V> extends ReadonlyMap<unknown, unknown> ? PartOf<V> : ItemOf<V>

/** A list or map inside the items of another. */
export interface NestedItems<V> {
  where(conditions: ItemConditions<V>): ItemsHandle<V>
}

const holdsParts = (type: BinType): boolean =>
  type.kind !== 'embedded' || type.shape === 'array' || type.shape === 'map'

/** The items of a list or map of parts that meet the conditions; `levels` lead to it. */
export function itemsWhere<V>(
  target: RecordTarget,
  place: Place,
  levels: readonly PathLevel[],
  parts: BinType,
  conditions: ItemConditions<V>,
  isNone = false,
): ItemsHandle<V> {
  const type = itemType(parts)
  if (!holdsParts(parts) || type.kind !== 'embedded' || shapeOf(type) !== 'map')
    throw wrongHandle(
      target,
      place.property,
      'a list or map of parts',
      "Declare it with @Embedded(() => Part, { as: 'array' }) or { as: 'map' }.",
    )
  target.requirePaths(place.property)
  const where = compileConditions(target.model, type.part, conditions, target.codecs)
  const all = [...levels, children(where === false ? undefined : where)]
  return new ItemsHandle<V>(target, place, all, type, isNone || where === false)
}
