import { and, gt, lt, not, or, value } from '../plan/expression.js'
import type { FoundRecord } from '../plan/outcome.js'
import type { Value } from '../plan/value.js'
import { DoubleValue } from '../plan/value.js'
import { BoundedHeap } from './bounded-heap.js'
import { openCursor, sealCursor } from './cursor.js'
import { isStored, typeOf, valueOf } from './field.js'
import type { RecordPage } from './query-page.js'
import type { QuerySource } from './query-source.js'
import { comparePositions, sortPosition, type SortBy, type SortPosition, type SortValue } from './stored-order.js'
import type { Term } from './term.js'

interface Placed {
  readonly position: SortPosition
  readonly record: FoundRecord
}

/** The first `count` records in an order, of any number; no more than these are held. */
export async function sortedRecords(
  found: AsyncIterable<readonly FoundRecord[]>,
  order: readonly SortBy[],
  count: number,
  after?: SortPosition,
): Promise<FoundRecord[]> {
  const compare = (a: Placed, b: Placed): number => comparePositions(a.position, b.position, order)
  const heap = new BoundedHeap<Placed>(count, compare)
  for await (const records of found) {
    for (const record of records) {
      const position = sortPosition(record, order)
      if (after === undefined || comparePositions(position, after, order) > 0) heap.add({ position, record })
    }
  }
  return heap.sorted().map(({ record }) => record)
}

/** A page of an ordered query; `records` are the first of it, and one more where there is a next page. */
export function sortedPage(
  records: readonly FoundRecord[],
  order: readonly SortBy[],
  count: number,
  identity: string,
): RecordPage {
  if (records.length <= count) return { records }
  const page = records.slice(0, count)
  return { records: page, next: sealCursor(writePosition(sortPosition(page[count - 1], order)), identity) }
}

export function sortedAfter(cursor: string, identity: string, { model }: QuerySource<object>): SortPosition {
  return readSortPosition(openCursor(cursor, identity, model))
}

/** Spares the server to send what comes before the position: whatever sorts before it by the first property. */
export function fromPosition({ values }: SortPosition, [{ field, direction }]: readonly SortBy[]): Term {
  const [first] = values
  const stored = isStored(field)
  if (first === null || Number.isNaN(first)) return { path: field.path, expression: value(true), total: value(true) }
  // Doubles come back as plain numbers, so that only the field tells them from integers.
  const bound: Value =
    field.shape.kind === 'scalar' && field.shape.type === 'float' ? new DoubleValue(first as number) : first
  const subject = valueOf(field, typeOf(bound))
  // NaN is neither less nor more, and comes last.
  const compare = not(direction === 'asc' ? lt(subject, value(bound)) : gt(subject, value(bound)))
  const expression = or(not(stored), and(stored, compare))
  return { path: field.path, expression, total: expression }
}

type Written = string | number | boolean | null | readonly ['n' | 'b' | 'd', string]

function writePosition({ values, digest }: SortPosition): Buffer {
  return Buffer.from(JSON.stringify([Buffer.from(digest).toString('base64url'), ...values.map(write)]))
}

function write(given: SortValue): Written {
  if (typeof given === 'bigint') return ['n', String(given)]
  if (given instanceof Uint8Array) return ['b', Buffer.from(given).toString('base64url')]
  return typeof given === 'number' && !Number.isFinite(given) ? ['d', String(given)] : given
}

function readSortPosition(bytes: Buffer): SortPosition {
  const [digest, ...values] = JSON.parse(bytes.toString()) as [string, ...Written[]]
  return { digest: Buffer.from(digest, 'base64url'), values: values.map(read) }
}

function read(written: Written): SortValue {
  if (!Array.isArray(written)) return written as SortValue
  const [kind, text] = written as readonly ['n' | 'b' | 'd', string]
  return kind === 'n' ? BigInt(text) : kind === 'd' ? Number(text) : Buffer.from(text, 'base64url')
}
