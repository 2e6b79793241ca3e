import { SkeinError } from '../errors/index.js'
import type { EntityModel } from '../model/index.js'
import type { FoundRecord } from '../plan/outcome.js'
import { isDouble, type Value } from '../plan/value.js'
import type { Field } from './field.js'
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
      lost = total - sum - next
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

/** The smallest (largest) value as people see it; null where there is none. */
export function extremeOf(decode: (stored: Value) => unknown, isMax: boolean): Aggregate<unknown> {
  let best: Value | undefined
  return {
    add(stored) {
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

interface Group<R> {
  readonly key: unknown
  readonly into: Aggregate<R>
}

/** The same for each value of another field; a list counts under each of its members once. Throws past `max` groups. */
export async function aggregateGroups<K, R>(
  found: AsyncIterable<readonly FoundRecord[]>,
  by: Field,
  field: Field | undefined,
  start: () => Aggregate<R>,
  max: number,
  model: EntityModel,
): Promise<Map<K | null, R>> {
  const groups = new Map<string | null, Group<R>>()
  for await (const records of found) {
    for (const record of records) {
      const value = field === undefined ? true : storedIn(record, field)
      for (const [token, key] of keysOf(record, by)) {
        let group = groups.get(token)
        if (group === undefined) {
          if (groups.size === max) throw tooManyGroups(model, by, max)
          groups.set(token, (group = { key, into: start() }))
        }
        if (value !== undefined) group.into.add(value)
      }
    }
  }
  return new Map([...groups.values()].map(({ key, into }) => [key as K | null, into.result()]))
}

/** The groups that a record belongs to: a token that tells them apart, and the value as people see it. */
function keysOf(record: FoundRecord, by: Field): Map<string | null, unknown> {
  const stored = storedIn(record, by)
  if (stored === undefined) return new Map([[null, null]])
  const { shape } = by
  if (shape.kind === 'list') {
    const items = stored as readonly Value[]
    return new Map(items.map((item) => [tokenOf(item), shape.decode!(item)]))
  }
  const isOne = shape.kind === 'scalar' || shape.kind === 'ref'
  return new Map([[tokenOf(stored), isOne ? shape.decode(stored) : stored]])
}

function tokenOf(stored: Value): string {
  // JSON has no form for NaN and the infinities.
  if (typeof stored === 'number') return `n${stored}`
  if (isDouble(stored)) return `n${stored.value}`
  if (stored instanceof Uint8Array) return `b${Buffer.from(stored).toString('base64')}`
  return typeof stored === 'string'
    ? `s${stored}`
    : `n${JSON.stringify(stored, (_, each: unknown) => (typeof each === 'bigint' ? `${each}` : each))}`
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
