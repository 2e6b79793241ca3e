import { SkeinError } from '../errors/index.js'
import type { EntityModel } from '../model/index.js'
import type { FoundRecord } from '../plan/outcome.js'
import { isDouble, type Value } from '../plan/value.js'
import type { Field } from './field.js'
import { groupDecoder, groupKey } from './group-key.js'
import { storedIn } from './stored-order.js'

/** A running result over the values of one property; absent ones are left out. */
export interface Aggregate<R> {
  add(stored: Value): void
  result(): R
}

type Comparable = number | bigint | string | boolean

export function countValues(): Aggregate<number> {
  let count = 0
  return { add: () => void count++, result: () => count }
}

/** The sum: a bigint for a bigint property, otherwise a number. Nothing sums up to 0. */
export function sumOf(isBigint: boolean): Aggregate<number | bigint> {
  if (isBigint) {
    let sum = 0n
    return { add: (stored) => void (sum += BigInt(stored as number | bigint)), result: () => sum }
  }
  // Kahan's compensation: the error of many additions stays that of one.
  let sum = 0
  let lost = 0
  return {
    add(stored) {
      const next = Number(stored) - lost
      const total = sum + next
      // Infinity minus itself is not a number.
      lost = Number.isFinite(total) ? total - sum - next : 0
      sum = total
    },
    result: () => sum,
  }
}

export function averageOf(): Aggregate<number | null> {
  const sum = sumOf(false)
  let count = 0
  return {
    add(stored) {
      sum.add(stored)
      count++
    },
    result: () => (count === 0 ? null : (sum.result() as number) / count),
  }
}

/** The smallest (largest) value as people see it; null where there is none. NaN is neither. */
export function extremeOf(decode: (stored: Value) => unknown, isMax: boolean): Aggregate<unknown> {
  let best: Value | undefined
  return {
    add(stored) {
      if (Number.isNaN(isDouble(stored) ? stored.value : stored)) return
      const isBetter = best === undefined || (isMax ? compare(stored, best) > 0 : compare(stored, best) < 0)
      if (isBetter) best = stored
    },
    result: () => (best === undefined ? null : decode(best)),
  }
}

function compare(a: Value, b: Value): number {
  if (typeof a === 'string' || a instanceof Uint8Array)
    return Buffer.compare(Buffer.from(a as string), Buffer.from(b as string))
  return (a as Comparable) < (b as Comparable) ? -1 : (a as Comparable) > (b as Comparable) ? 1 : 0
}

/** Feeds all values of a field to an aggregate. */
export async function aggregate<R>(
  found: AsyncIterable<readonly FoundRecord[]>,
  field: Field,
  into: Aggregate<R>,
): Promise<R> {
  for await (const records of found) {
    for (const record of records) {
      const stored = storedIn(record, field)
      if (stored !== undefined) into.add(stored)
    }
  }
  return into.result()
}

/** Aggregates for each value of another field; a list counts under each of its members once. Throws past `max` groups. */
export async function aggregateGroups<K, R>(
  found: AsyncIterable<readonly FoundRecord[]>,
  by: Field,
  field: Field | undefined,
  start: () => Aggregate<R>,
  max: number,
  model: EntityModel,
): Promise<Map<K | null, R>> {
  const groups = new Map<unknown, Aggregate<R>>()
  for await (const records of found) {
    for (const record of records) {
      const value = field === undefined ? true : storedIn(record, field)
      for (const key of keysOf(record, by)) {
        let group = groups.get(key)
        if (group === undefined) {
          if (groups.size === max) throw tooManyGroups(model, by, max)
          groups.set(key, (group = start()))
        }
        if (value !== undefined) group.add(value)
      }
    }
  }
  return new Map([...groups].map(([key, into]) => [key as K | null, into.result()]))
}

/** Keys of the groups that a record belongs to. */
function keysOf(record: FoundRecord, by: Field): Iterable<unknown> {
  const stored = storedIn(record, by)
  if (stored === undefined) return [null]
  const decode = groupDecoder(by)!
  if (by.shape.kind !== 'list') return [groupKey(stored, decode)]
  return new Set((stored as readonly Value[]).map((item) => (item === null ? null : groupKey(item, decode))))
}

function tooManyGroups({ name }: EntityModel, { path }: Field, max: number): SkeinError {
  return new SkeinError(
    'SKEIN_2512',
    `${name}.${path} has more than ${max} different values, each a group in memory.`,
    {
      className: name,
      property: path,
      fix: 'Narrow the query, group by something with fewer values, or raise it: groupBy(…, { max: … }).',
    },
  )
}
