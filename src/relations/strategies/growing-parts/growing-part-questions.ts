import type { KeyValue } from '../../../keys/index.js'
import type { RecordKey } from '../../../plan/record-key.js'
import type { MapKey, Value } from '../../../plan/value.js'
import type { KeyRange } from '../../contract/collection-members.js'
import type { Reader } from '../../contract/reader.js'
import type { Tracked } from '../../contract/tracked.js'
import { PartsAcross } from '../companion-parts/parts-across.js'
import type { PartClass } from '../consolidate/part-class.js'
import type { PartOrder } from '../consolidate/part-order.js'
import type { PartQuestions } from '../consolidate/part-questions.js'
import type { GrowingPartHomes } from './growing-part-homes.js'
import { childrenIn } from './part-bin.js'
import { PartsInHand } from './parts-in-hand.js'

/** Questions about children that may move while they are asked: then all of them are read, and the answer is made here. */
export class GrowingPartQuestions implements PartQuestions {
  readonly #parts: PartClass
  readonly #homes: GrowingPartHomes
  readonly #owner: RecordKey
  readonly #reader: Reader
  readonly #settled: PartsAcross

  constructor(parts: PartClass, homes: GrowingPartHomes, owner: Tracked, reader: Reader) {
    this.#parts = parts
    this.#homes = homes
    this.#owner = owner.key
    this.#reader = reader
    this.#settled = new PartsAcross(parts, homes, owner, reader)
  }

  get(ids: readonly KeyValue[]): Promise<readonly Value[]> {
    return this.#answer((questions) => questions.get(ids))
  }

  count(ids: readonly KeyValue[]): Promise<{ readonly all: number; readonly found: number }> {
    return this.#answer((questions) => questions.count(ids))
  }

  places(range?: KeyRange): Promise<readonly MapKey[]> {
    return this.#answer((questions) => questions.places(range))
  }

  slice(offset: number, count: number): Promise<readonly Value[]> {
    return this.#answer((questions) => questions.slice(offset, count))
  }

  after(place: MapKey | undefined, count: number): Promise<readonly Value[]> {
    return this.#answer((questions) => questions.after(place, count))
  }

  range(from: MapKey | null, to: MapKey | null): Promise<readonly Value[]> {
    return this.#answer((questions) => questions.range(from, to))
  }

  positionOf(id: KeyValue): Promise<number | null> {
    return this.#answer((questions) => questions.positionOf(id))
  }

  orderSize(order: PartOrder): Promise<number> {
    return this.#answer((questions) => questions.orderSize(order))
  }

  orderSlice(order: PartOrder, range: KeyRange): Promise<readonly Value[]> {
    return this.#answer((questions) => questions.orderSlice(order, range))
  }

  orderRange(order: PartOrder, begin: Value, end: Value): Promise<readonly Value[]> {
    return this.#answer((questions) => questions.orderRange(order, begin, end))
  }

  async #answer<T>(ask: (questions: PartQuestions) => Promise<T>): Promise<T> {
    try {
      return await ask(this.#settled)
    } catch (error) {
      if (!this.#homes.isMoving(error)) throw error
      const stored = await this.#homes.growth.reads.whole(this.#owner, this.#reader)
      return ask(new PartsInHand(this.#parts, childrenIn(stored)))
    }
  }
}
