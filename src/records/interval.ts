import type { BinType, EmbeddableModel } from '../model/index.js'
import { DoubleValue, isDouble, type Value } from '../plan/value.js'
import { compareValues } from '../plan/value-order.js'
import type { RecordTarget } from './record-target.js'

/** Leading fields of a tuple; all of them, or as many as are needed. */
export type Fields<V> = V extends readonly [infer First, ...infer Rest]
  ? readonly [First] | (Rest extends readonly [] ? never : readonly [First, ...Fields<Rest>])
  : V extends object
    ? readonly unknown[]
    : readonly never[]

/** End of an interval: an item, or the first fields of a tuple. */
export type Bound<V> = V | (V extends object ? Fields<V> : never)

/** An end of an interval as stored. Tuples are compared field by field, and a shorter one is less than one that begins with it. */
export function boundOf(
  item: BinType,
  given: unknown,
  { codecs }: RecordTarget,
  encode: (type: BinType, value: unknown) => Value,
): Value {
  const fields = fieldTypes(item, (part) => codecs.model.embeddable(part))
  if (fields === undefined || !Array.isArray(given) || given.length > fields.length) return encode(item, given)
  return given.map((value, i) => encode(fields[i], value))
}

type PartOf = (name: string) => Pick<EmbeddableModel, 'properties'>

/** Types of the fields of a tuple; undefined for another type. */
function fieldTypes(item: BinType, part: PartOf): readonly BinType[] | undefined {
  if (item.kind === 'tuple') return item.items
  if (item.kind !== 'embedded' || item.shape !== 'one') return undefined
  return item.tuple ? part(item.part).properties.map(({ type }) => type) : undefined
}

/** The interval of all tuples that begin with these fields; undefined where the last is a map, which nothing follows closely. */
export function intervalFrom(begin: Value): [begin: Value, end: Value] | undefined {
  const fields = Array.isArray(begin) ? (begin as readonly Value[]) : []
  const next = fields.length === 0 ? undefined : nextValue(fields[fields.length - 1])
  return next === undefined ? undefined : [begin, [...fields.slice(0, -1), next]]
}

export function isWithin(value: Value, begin: Value, end: Value): boolean {
  return (begin === null || compareValues(value, begin) >= 0) && (end === null || compareValues(value, end) < 0)
}

const LEAST_INTEGER = -(2n ** 63n)
const GREATEST_INTEGER = 2n ** 63n - 1n

/** The least value that the server puts behind this one. */
function nextValue(value: Value): Value | undefined {
  if (value === null) return false
  if (typeof value === 'boolean') return value ? LEAST_INTEGER : true
  if (typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value)))
    return BigInt(value) < GREATEST_INTEGER ? BigInt(value) + 1n : ''
  if (typeof value === 'number') return new DoubleValue(nextDouble(value))
  if (isDouble(value)) return new DoubleValue(nextDouble(value.value))
  // No stored string has a NUL, so nothing lies between a text and the same with the next character.
  if (typeof value === 'string') return `${value}\u0001`
  if (value instanceof Uint8Array) return Buffer.concat([value, Buffer.from([0])])
  return Array.isArray(value) ? [...(value as readonly Value[]), null] : undefined
}

function nextDouble(value: number): number {
  if (value === 0) return Number.MIN_VALUE
  const view = new DataView(new ArrayBuffer(8))
  view.setFloat64(0, value)
  view.setBigInt64(0, view.getBigInt64(0) + (value > 0 ? 1n : -1n))
  return view.getFloat64(0)
}
