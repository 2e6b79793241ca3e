import type { KeyValue } from '../../../keys/index.js'
import { userKeyId } from '../../../plan/record-key.js'
import type { MapKey, Value } from '../../../plan/value.js'
import { compareValues } from '../../../plan/value-order.js'
import { cut, type KeyRange } from '../../contract/collection-members.js'
import { compareKeys } from '../consolidate/key-order.js'
import type { PartClass } from '../consolidate/part-class.js'
import type { PartOrder } from '../consolidate/part-order.js'
import type { PartQuestions } from '../consolidate/part-questions.js'

interface PartInHand {
  readonly id: KeyValue
  readonly place: MapKey
  readonly part: object
  readonly value: Value
}

/** Answers about children that have been read as a whole, as the server would give them. */
export class PartsInHand implements PartQuestions {
  readonly #parts: PartClass
  /** In the order of their places. */
  readonly #all: readonly PartInHand[]

  constructor(parts: PartClass, children: readonly Value[]) {
    this.#parts = parts
    this.#all = children
      .map((value) => {
        const part = parts.decoded(value)
        return { id: parts.idOf(part), place: parts.placeOf(part), part, value }
      })
      .sort((a, b) => compareKeys(a.place, b.place))
  }

  get(ids: readonly KeyValue[]): Promise<readonly Value[]> {
    return values(this.#among(ids))
  }

  count(ids: readonly KeyValue[]): Promise<{ readonly all: number; readonly found: number }> {
    return Promise.resolve({ all: this.#all.length, found: this.#among(ids).length })
  }

  places(range?: KeyRange): Promise<readonly MapKey[]> {
    const some = range === undefined ? this.#all : cut(this.#all, range)
    return Promise.resolve(some.map(({ place }) => place))
  }

  slice(offset: number, count: number): Promise<readonly Value[]> {
    return values(cut(this.#all, { offset, count }))
  }

  after(place: MapKey | undefined, count: number): Promise<readonly Value[]> {
    const rest = this.#all.filter((each) => place === undefined || compareKeys(each.place, place) > 0)
    return values(rest.slice(0, count))
  }

  range(from: MapKey | null, to: MapKey | null): Promise<readonly Value[]> {
    return values(
      this.#all.filter(
        ({ place }) => (from === null || compareKeys(place, from) >= 0) && (to === null || compareKeys(place, to) < 0),
      ),
    )
  }

  positionOf(id: KeyValue): Promise<number | null> {
    const at = this.#all.findIndex((each) => userKeyId(each.id) === userKeyId(id))
    return Promise.resolve(at < 0 ? null : at)
  }

  orderSize(order: PartOrder): Promise<number> {
    return Promise.resolve(this.#tuples(order).length)
  }

  orderSlice(order: PartOrder, range: KeyRange): Promise<readonly Value[]> {
    return Promise.resolve(cut(this.#tuples(order), range))
  }

  orderRange(order: PartOrder, begin: Value, end: Value): Promise<readonly Value[]> {
    const isIn = (tuple: Value): boolean =>
      (begin === null || compareValues(tuple, begin) >= 0) && (end === null || compareValues(tuple, end) < 0)
    return Promise.resolve(this.#tuples(order).filter(isIn))
  }

  #among(ids: readonly KeyValue[]): readonly PartInHand[] {
    const wanted = new Set(ids.map(userKeyId))
    return this.#all.filter(({ id }) => wanted.has(userKeyId(id)))
  }

  #tuples(order: PartOrder): readonly Value[] {
    const at = this.#parts.orders.indexOf(order)
    const tuples = this.#all.map(({ part }) => this.#parts.tuplesOf(part)[at])
    return tuples.filter((tuple) => tuple !== undefined).sort(compareValues)
  }
}

const values = (found: readonly PartInHand[]): Promise<readonly Value[]> =>
  Promise.resolve(found.map(({ value }) => value))
