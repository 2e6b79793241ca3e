import fc from 'fast-check'
import { compareValues } from '#src/embedded/value/compare.js'
import { Bytes, Float, ListValue, MapValue, type Value } from '#src/embedded/value/value.js'

const scalar: fc.Arbitrary<Value> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer({ min: -5, max: 5 }),
  fc.bigInt({ min: 2n ** 60n, max: 2n ** 60n + 2n }),
  fc.string({ maxLength: 3 }),
  fc.double({ noNaN: true, min: -2, max: 2 }).map((value) => new Float(value)),
  fc.uint8Array({ maxLength: 2 }).map((bytes) => new Bytes(4, Buffer.from(bytes))),
)

export const key: fc.Arbitrary<Value> = fc.oneof(fc.integer({ min: -5, max: 5 }), fc.string({ maxLength: 2 }))

/** Values of every type, small enough for duplicates to be common. */
export const value: fc.Arbitrary<Value> = fc.letrec<{ value: Value }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 3 }).map((items) => new ListValue(items)),
    fc.array(fc.tuple(key, tie('value')), { maxLength: 3 }).map((entries) => mapOf(entries, 0)),
  ),
})).value

export const unorderedList: fc.Arbitrary<ListValue> = fc
  .array(value, { maxLength: 20 })
  .map((items) => new ListValue(items))

export const anyList: fc.Arbitrary<ListValue> = fc
  .tuple(fc.array(value, { maxLength: 20 }), fc.boolean())
  .map(([items, ordered]) => (ordered ? new ListValue(items.sort(compareValues), 1) : new ListValue(items)))

export const anyMap: fc.Arbitrary<MapValue> = fc
  .tuple(fc.array(fc.tuple(key, value), { maxLength: 20 }), fc.constantFrom(0, 1, 3))
  .map(([entries, flags]) => mapOf(entries, flags))

export function mapOf(entries: [Value, Value][], flags: number): MapValue {
  const sorted = entries
    .toSorted(([a], [b]) => compareValues(a, b))
    .filter(([a], i, all) => i === 0 || compareValues(all[i - 1][0], a) !== 0)
  return new MapValue(
    sorted.map(([a]) => a),
    sorted.map(([, b]) => b),
    flags,
  )
}
