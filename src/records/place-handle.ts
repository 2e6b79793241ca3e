import { decodeItem, encodeItem, inOrder, typeCodecOf, unreadable, unstorable } from '../codec/index.js'
import type { BinType } from '../model/index.js'
import type { Value } from '../plan/value.js'
import { deltaOf } from './add-numbers.js'
import type { Change } from './change.js'
import { badArgument } from './handle-errors.js'
import { changeAt, type Place } from './place.js'
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
  protected record(operation: Change['operation'], change: (value: unknown) => void): void {
    const { target, place } = this
    const rootType = place.rootType ?? target.model.properties.find(({ name }) => name === place.property)!.type
    const apply = (value: unknown): unknown => changeAt(value, place, target.codecs, rootType, change)
    target.record({ property: place.property, operation, apply })
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
  protected encode(type: BinType, value: unknown): Value {
    const { codecs, model, key } = this.target
    try {
      return encodeItem(typeCodecOf(type, codecs), value, this.place.path.length)
    } catch (error) {
      throw unstorable(model, key, error)
    }
  }

  /** @internal */
  protected decodeAll(type: BinType, stored: Value | undefined): unknown[] {
    const { codecs, model, key } = this.target
    const codec = typeCodecOf(type, codecs)
    try {
      return ((stored ?? []) as readonly Value[]).map((item) => decodeItem(codec, item))
    } catch (error) {
      throw unreadable(model, key, error)
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

  /** @internal */
  protected checkSlice(offset: number, count: number): void {
    this.checkInteger('offset', offset)
    this.checkInteger('count', count, 1)
  }

  /** @internal */
  protected checkInteger(name: string, value: number, least = -Infinity): void {
    if (Number.isSafeInteger(value) && value >= least) return
    const { target, place } = this
    const given = typeof value === 'number' ? String(value) : typeof value
    throw badArgument(
      target,
      place.property,
      `the ${name} cannot be ${given}`,
      `Give a whole number${least > -Infinity ? ` from ${least} on` : ''}.`,
    )
  }

  /** @internal */
  protected checkDelta(type: BinType, delta: number | bigint): Value {
    const { target, place } = this
    return deltaOf(type, delta, (what, fix) => badArgument(target, place.property, what, fix))
  }
}

/** Part of a list or of the entries of a map; a negative offset counts from the end. */
export interface Slice {
  readonly offset?: number
  readonly count: number
}
