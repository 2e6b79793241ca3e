import type { KeyValue } from '../../../keys/index.js'
import type { MapKey, Value } from '../../../plan/value.js'
import type { KeyRange } from '../../contract/collection-members.js'
import type { PartOrder } from './part-order.js'

/** Questions to the server about the parts of one owner. */
export interface PartQuestions {
  /** The stored parts with these ids, those that there are. */
  get(ids: readonly KeyValue[]): Promise<readonly Value[]>
  /** Number of parts, and how many of these ids are among them. */
  count(ids: readonly KeyValue[]): Promise<{ readonly all: number; readonly found: number }>
  /** The places of parts, in order; all of them, or those in a range. */
  places(range?: KeyRange): Promise<readonly MapKey[]>
  /** Parts by their position; a negative one counts from the end. */
  slice(index: number, count: number): Promise<readonly Value[]>
  /** The first parts after a place, in order. */
  after(place: MapKey | undefined, count: number): Promise<readonly Value[]>
  /** Parts from one place to another; null leaves a side open. */
  range(from: MapKey | null, to: MapKey | null): Promise<readonly Value[]>
  positionOf(id: KeyValue): Promise<number | null>
  orderSize(order: PartOrder): Promise<number>
  /** Tuples of an order by their position. */
  orderSlice(order: PartOrder, range: KeyRange): Promise<readonly Value[]>
  /** Tuples of an order between two of them; null leaves a side open. */
  orderRange(order: PartOrder, begin: Value, end: Value): Promise<readonly Value[]>
}
