import type { KeyValue, TimeRange } from '../../keys/index.js'
import type { RangeOptions } from '../../model/index.js'
import type { FoundPage, FoundStep, Reader } from './reader.js'
import type { Tracked } from './tracked.js'

/** A part of a collection, in the order the server keeps it; a negative offset counts from the end. */
export interface KeyRange {
  readonly offset: number
  readonly count: number
}

/** Cuts a range out of all members, as the server does: what lies before the first one is left out. Without a range it is all of them. */
export function cut<T>(all: readonly T[], range: KeyRange | undefined): readonly T[] {
  if (range === undefined) return all
  const { offset, count } = range
  const begin = offset < 0 ? all.length + offset : offset
  return all.slice(Math.max(0, begin), Math.max(0, begin + count))
}

/** Key of a member, and the time that it is kept by. */
export interface TimedKey {
  readonly key: KeyValue
  readonly time: number
}

/** Questions about the members of a collection, each answered by one command. */
export interface CollectionMembers {
  count(owner: Tracked, reader: Reader): Promise<number>
  /** Counts those of these keys that are members. */
  countOf(owner: Tracked, keys: readonly KeyValue[], reader: Reader): Promise<number>
  keys(owner: Tracked, reader: Reader, range?: KeyRange): Promise<readonly KeyValue[]>
  /** An index finds them, and leaves out itself what was deleted softly. */
  readonly isByIndex?: true
  /** Only where members have no numbers: the page that follows a position, and all of them a bounded number at a time. */
  readonly byPosition?: {
    page(owner: Tracked, reader: Reader, count: number, after?: string): Promise<FoundPage>
    stream(owner: Tracked, reader: Reader): AsyncIterable<FoundStep>
  }
  /** Only where members are kept by time: those of a range, and the first or last ones, from the oldest. */
  readonly byTime?: {
    window(owner: Tracked, reader: Reader, range: TimeRange): Promise<readonly TimedKey[]>
    nearest(owner: Tracked, reader: Reader, count: number, end: 'first' | 'last'): Promise<readonly TimedKey[]>
    /** The time of a link with these attributes that is made now. */
    timeOf(attributes: object | undefined): number | undefined
  }
}

/** Questions about members in one of their further orders. */
export interface OrderView {
  count(): Promise<number>
  page(range: KeyRange): Promise<readonly object[]>
  first(count: number): Promise<readonly object[]>
  last(count: number): Promise<readonly object[]>
  range(options: RangeOptions): Promise<readonly object[]>
}

/** A page of members that are not entities, and the cursor of the next one. */
export interface PartPage {
  readonly members: readonly object[]
  readonly next: string | undefined
}

/** Everything that can be asked of a collection whose members are stored with their owner. */
export interface CollectionView {
  contains(member: object | KeyValue): Promise<boolean>
  count(): Promise<number>
  keys(range?: KeyRange): Promise<readonly KeyValue[]>
  page(range: KeyRange): Promise<readonly object[]>
  /** The page that follows a cursor; only where members are in several records. */
  pageAfter?(count: number, after: string | undefined): Promise<PartPage>
  /** Members of a range of time; only where they are kept by a date. */
  window?(range: TimeRange): Promise<readonly object[]>
  /** All members, a bounded number at a time. */
  stream(): AsyncIterable<object>
  get(key: KeyValue): Promise<object | null>
  getMany(keys: readonly KeyValue[]): Promise<readonly (object | null)[]>
  range(options: RangeOptions): Promise<readonly object[]>
  first(count: number): Promise<readonly object[]>
  last(count: number): Promise<readonly object[]>
  indexOf(member: object | KeyValue): Promise<number | null>
  /** Undefined where there is no order of that name. */
  by(order: string): OrderView | undefined
}
