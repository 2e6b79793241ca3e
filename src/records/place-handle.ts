import { decodeItem, encodeItem, inOrder, orderable, typeCodecOf, unreadable, unstorable } from '../codec/index.js'
import { quoted, shown } from '../errors/index.js'
import { isOptions } from '../model/call-options.js'
import type { BinType } from '../model/index.js'
import type { Value } from '../plan/value.js'
import { deltaOf, isAddable } from './add-numbers.js'
import { isRemoval, type Change } from './change.js'
import { atPlace, badArgument, partMissing, wayOf } from './handle-errors.js'
import { changeAt, getEntry, hasEntries, keepsValueOrder, shapeOf, valueAt, type Place } from './place.js'
import type { Question } from './question.js'
import type { RecordTarget } from './record-target.js'

/** Base of the handles on lists, sets and maps. */
export abstract class PlaceHandle {
  /** @internal */
  protected readonly target: RecordTarget
  /** @internal */
  protected readonly place: Place

  /** @internal */
  constructor(target: RecordTarget, place: Place) {
    this.target = target
    this.place = place
  }

  /** @internal */
  protected record(
    operation: Change['operation'],
    change: (value: unknown) => void,
    check?: (value: unknown) => void,
  ): void {
    const { target, place } = this
    const rootType = place.rootType ?? target.model.properties.find(({ name }) => name === place.property)!.type
    const apply = (value: unknown): unknown =>
      changeAt(value, place, target.codecs, rootType, change, isRemoval(operation))
    const { property } = place
    target.record({
      property,
      operation,
      apply,
      check: (value) => {
        this.#checkWay(value)
        check?.(valueAt(value, place))
      },
    })
  }

  /** Throws where a loaded value shows that the way leads to nothing that the server could change. */
  #checkWay(root: unknown): void {
    const { type, steps } = this.place
    let at: unknown = root ?? undefined
    for (const [i, { key, make, isField }] of steps.entries()) {
      if (at !== undefined) this.#checkEntries(at, i)
      at = at === undefined ? undefined : getEntry(at, key)
      if (at === undefined && make === undefined) throw partMissing(this.target, this.place, i)
      // A field of a part that is null is not stored.
      if (at === null && isField) at = undefined
    }
    if (at === null || (at !== undefined && shapeOf(type) === 'map')) this.#checkEntries(at, steps.length)
  }

  /** Throws for a value without entries, which lies so many steps inside the property. */
  #checkEntries(at: unknown, depth: number): void {
    if (hasEntries(at)) return
    const what = `${wayOf(this.place, depth)} is ${shown(at)} and not an object, so it has no entries to change`
    throw badArgument(this.target, this.place.property, what, 'Put an object there first.')
  }

  /** @internal */
  protected ask(...questions: readonly Question[]): Promise<readonly (Value | undefined)[]> {
    return this.target.ask(this.place, questions)
  }

  /** @internal */
  protected async askNumber(question: Question): Promise<number> {
    const [answer] = await this.ask(question)
    return Number(answer ?? 0)
  }

  /** @internal */
  protected encode(type: BinType, value: unknown, ...entry: readonly unknown[]): Value {
    const { codecs, model, key } = this.target
    try {
      return encodeItem(typeCodecOf(type, codecs), value, this.place.path.length)
    } catch (error) {
      throw unstorable(model, key, atPlace(this.place, entry, error))
    }
  }

  /** Encodes an item, member or value of an entry to be stored, or removed, where this one keeps values in order. @internal */
  protected encodeMember(type: BinType, value: unknown, ...entry: readonly unknown[]): Value {
    const stored = this.encode(type, value, ...entry)
    try {
      return keepsValueOrder(this.place.type) ? orderable(stored) : stored
    } catch (error) {
      throw unstorable(this.target.model, this.target.key, atPlace(this.place, entry, error))
    }
  }

  /** @internal */
  protected decodeAll(type: BinType, stored: Value | undefined): unknown[] {
    const { codecs, model, key } = this.target
    const codec = typeCodecOf(type, codecs)
    try {
      return ((stored ?? []) as readonly Value[]).map((item) => decodeItem(codec, item))
    } catch (error) {
      throw unreadable(model, key, atPlace(this.place, [], error))
    }
  }

  /** Decodes what the server selected by value, in value order: of an unordered list it answers in no order that can be relied on. @internal */
  protected decodeSorted(type: BinType, stored: Value | undefined): unknown[] {
    return this.sorted(type, this.decodeAll(type, stored))
  }

  /** @internal */
  protected sorted(type: BinType, items: unknown[]): unknown[] {
    return inOrder(items, (item) => this.encode(type, item))
  }

  /** Offset and count of a slice, both checked. @internal */
  protected slice(given: Partial<Slice>, all?: number): Required<Slice> {
    const { target, place } = this
    const isObject = isOptions(given)
    const unknown = isObject ? Object.keys(given).find((name) => name !== 'offset' && name !== 'count') : ''
    if (unknown !== undefined) {
      const what = isObject ? `${quoted(unknown)} is not an option of a slice` : `a slice cannot be ${shown(given)}`
      throw badArgument(target, place.property, what, 'Give { count } or { offset, count }.')
    }
    const { offset = 0, count = all } = given
    this.checkInteger('offset', offset)
    this.checkInteger('count', count, 1)
    return { offset, count: count! }
  }

  /** @internal */
  protected listOf<I>(call: string, given: Iterable<I>): I[] {
    const isList = typeof given === 'object' && given !== null && Symbol.iterator in given
    if (isList) return [...given]
    const fix = 'Give an array, or another iterable; Object.entries() makes one.'
    throw badArgument(this.target, this.place.property, `${call}() takes a list`, fix)
  }

  /** @internal */
  protected checkInteger(name: string, value: number | undefined, least = -Infinity): void {
    if (Number.isSafeInteger(value) && value! >= least) return
    const { target, place } = this
    const given = typeof value === 'number' ? String(value) : typeof value
    throw badArgument(
      target,
      place.property,
      `the ${name} cannot be ${given}`,
      `Give a whole number${least > -Infinity ? ` of at least ${least}` : ''}.`,
    )
  }

  /** @internal */
  protected checkDelta(type: BinType, delta: number | bigint): Value {
    const { target, place } = this
    return deltaOf(type, delta, (what, fix) => badArgument(target, place.property, what, fix))
  }

  /** Throws where the loaded value is not a number, which the server would refuse to add to. @internal */
  protected checkNumber(value: unknown, entry: string): void {
    if (isAddable(value)) return
    const what = `${entry} is not a number, so nothing can be added to it`
    throw badArgument(this.target, this.place.property, what, 'Put a number there, or remove the entry.')
  }
}

/** As many as the server can return. */
export const ALL = 2 ** 31 - 1

/** Part of a list or of the entries of a map; a negative offset counts from the end. */
export interface Slice {
  readonly offset?: number
  readonly count: number
}
