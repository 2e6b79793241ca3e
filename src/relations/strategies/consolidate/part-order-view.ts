import type { KeyValue } from '../../../keys/index.js'
import type { RangeOptions } from '../../../model/index.js'
import type { Value } from '../../../plan/value.js'
import { compareValues } from '../../../plan/value-order.js'
import { cut, type KeyRange, type OrderView } from '../../contract/collection-members.js'
import type { PartOrder } from './part-order.js'
import type { PartQuestions } from './part-questions.js'

/** Answers of a view of all children that the view of one order needs. */
interface OrderSource {
  /** True where the session knows all children, or has changes that the server does not know. */
  readonly isLocal: boolean
  /** All children as the session sees them, with their tuples. */
  all(order: PartOrder): Promise<readonly OrderedPart[]>
  /** Children by id, null where there is none. */
  find(ids: readonly KeyValue[]): Promise<readonly (object | null)[]>
}

interface OrderedPart {
  readonly part: object
  readonly tuple: readonly Value[]
}

/** Answers about consolidated children in one of their further orders: from the list of tuples, then the children that it names. */
export class PartOrderView implements OrderView {
  readonly #order: PartOrder
  readonly #reads: PartQuestions | undefined
  readonly #source: OrderSource

  /** `reads` is not needed where all children are at hand. */
  constructor(order: PartOrder, reads: PartQuestions | undefined, source: OrderSource) {
    this.#order = order
    this.#reads = reads
    this.#source = source
  }

  async count(): Promise<number> {
    return this.#source.isLocal ? (await this.#sorted()).length : this.#reads!.orderSize(this.#order)
  }

  async page(range: KeyRange): Promise<readonly object[]> {
    if (range.count === 0) return []
    if (this.#source.isLocal) return cut(await this.#sorted(), range).map(({ part }) => part)
    return this.#named(await this.#reads!.orderSlice(this.#order, range))
  }

  first(count: number): Promise<readonly object[]> {
    return this.page({ offset: 0, count })
  }

  last(count: number): Promise<readonly object[]> {
    return this.page({ offset: -count, count })
  }

  async range({ from, to }: RangeOptions): Promise<readonly object[]> {
    const begin = from === undefined ? null : this.#order.bound(from)
    const end = to === undefined ? null : this.#order.bound(to)
    if (!this.#source.isLocal) return this.#named(await this.#reads!.orderRange(this.#order, begin, end))
    const isIn = ({ tuple }: OrderedPart): boolean =>
      (begin === null || compareValues(tuple, begin) >= 0) && (end === null || compareValues(tuple, end) < 0)
    return (await this.#sorted()).filter(isIn).map(({ part }) => part)
  }

  async #sorted(): Promise<readonly OrderedPart[]> {
    return (await this.#source.all(this.#order)).toSorted((a, b) => compareValues(a.tuple, b.tuple))
  }

  /** Children that were removed since their tuples were read are left out. */
  async #named(tuples: readonly Value[]): Promise<readonly object[]> {
    if (tuples.length === 0) return []
    const found = await this.#source.find(tuples.map((tuple) => this.#order.idIn(tuple)))
    return found.filter((part) => part !== null)
  }
}
