import fc from 'fast-check'
import type { BinType, EmbeddableModel, EntityClass, MapKeyKind, ValueCodec } from '#src/model/index.js'
import { partOf, type PropertySpec } from './build-model.js'

/** A declared type together with the values that it can store without loss. */
export interface TypeExample {
  readonly type: BinType
  readonly value: fc.Arbitrary<unknown>
  readonly parts: readonly EmbeddableModel[]
}

/** Names that would break out of a careless template, or meet something of the language. */
export const nastyName = fc.oneof(
  fc.constantFrom(
    'a"];process.exit()//',
    "'",
    '`${process.exit()}`',
    '\\',
    '*/',
    '\u2028',
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'valueOf',
    '__defineGetter__',
    'prototype',
    'this',
    'e',
    's0',
    'p0',
    'b',
    '',
    '0',
    '-1',
  ),
  fc.string({ unit: 'binary', maxLength: 10 }),
  fc.stringMatching(/^[a-z]{1,8}$/),
)

const text = fc.string({ unit: 'binary', maxLength: 12 }).filter((each) => !each.includes('\0'))
const mapKeyText = text.filter((each) => each !== '__proto__')
const int64 = fc.bigInt(-(2n ** 63n), 2n ** 63n - 1n)
const { value: json } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.oneof(text, fc.double(), fc.maxSafeInteger(), fc.boolean(), fc.constant(null), fc.constant(2 ** 60)),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(mapKeyText, tie('value'), { maxKeys: 3, noNullPrototype: true }),
  ),
}))

export class Money {
  constructor(readonly cents: number) {}
}
const money: ValueCodec<Money> = { name: 'money', encode: (m) => m.cents, decode: (c) => new Money(Number(c)) }
/** Stores a map with integer keys and is compared by its own rule. */
const weights: ValueCodec<Money> = {
  name: 'weights',
  encode: (m) => new Map([[1, m.cents]]),
  decode: (stored) => new Money((stored as Record<string, number>)['1']),
  equals: (a, b) => a.cents === b.cents,
}

const scalar = (kind: BinType['kind'], value: fc.Arbitrary<unknown>): TypeExample => ({
  type: { kind } as BinType,
  value,
  parts: [],
})
const primitives: readonly TypeExample[] = [
  scalar('int', fc.maxSafeInteger()),
  scalar('string', text),
  scalar('boolean', fc.boolean()),
  scalar('bigint', int64),
  scalar('double', fc.double()),
]
const scalars: readonly TypeExample[] = [
  ...primitives,
  scalar('date', fc.date({ noInvalidDate: true })),
  scalar(
    'bytes',
    fc.uint8Array({ maxLength: 6 }).map((bytes) => Buffer.from(bytes)),
  ),
  scalar(
    'json',
    json.filter((each) => each !== null),
  ),
  scalar(
    'geojson',
    fc
      .tuple(fc.integer({ min: -180, max: 180 }), fc.integer({ min: -90, max: 90 }))
      .map((coordinates) => ({ type: 'Point', coordinates })),
  ),
  { type: { kind: 'enum', values: ['red', 'green', 3] }, value: fc.constantFrom('red', 'green', 3), parts: [] },
  {
    type: { kind: 'custom', codec: money },
    value: fc.maxSafeInteger().map((cents) => new Money(cents)),
    parts: [],
  },
  {
    type: { kind: 'custom', codec: weights },
    value: fc.maxSafeInteger().map((cents) => new Money(cents)),
    parts: [],
  },
]

/** Bytes as keys are for the map of a bin alone; test/records/byte-keys.test.ts has them. */
type InnerKey = Exclude<MapKeyKind, 'bytes'>

const keys: { readonly [K in InnerKey]: fc.Arbitrary<unknown> } = {
  string: mapKeyText,
  int: fc.maxSafeInteger(),
  bigint: int64,
}
const mapOf = (key: InnerKey, value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.array(fc.tuple(keys[key], value), { maxLength: 4 }).map((entries) => new Map(entries))
const orNull = (value: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> => fc.option(value, { freq: 6 })

let partCount = 0

/** An embeddable class with random fields; half of them have a constructor that must not be called. */
function randomPart(
  field: fc.Arbitrary<TypeExample>,
  name: fc.Arbitrary<string>,
): fc.Arbitrary<{ model: EmbeddableModel; fields: readonly TypeExample[]; value: fc.Arbitrary<object> }> {
  return fc
    .record({
      fields: fc.uniqueArray(fc.tuple(name, field), { minLength: 1, maxLength: 3, selector: ([name]) => name }),
      hasArguments: fc.boolean(),
    })
    .map(({ fields, hasArguments }) => {
      const partClass = hasArguments
        ? class {
            constructor(required: string) {
              throw new Error(`called without ${required}`)
            }
          }
        : class {}
      Object.defineProperty(partClass, 'name', { value: `Part${partCount++}` })
      const specs = Object.fromEntries(
        fields.map(([name, example]) => [name, { type: example.type } satisfies PropertySpec]),
      )
      if (fields.some(([name]) => name === '__proto__')) {
        Object.defineProperty(specs, '__proto__', {
          value: { type: fields.find(([name]) => name === '__proto__')![1].type },
          enumerable: true,
        })
      }
      const value = fc
        .tuple(
          ...fields.map(([, example], i) => (i === 0 ? example.value : fc.option(example.value, { nil: undefined }))),
        )
        .map((values) =>
          instanceOf(
            partClass,
            fields.map(([name], i) => [name, values[i]]),
          ),
        )
      return { model: partOf(partClass, specs), fields: fields.map(([, example]) => example), value }
    })
}

export function instanceOf(
  entityClass: EntityClass,
  values: readonly (readonly [name: string, value: unknown])[],
): object {
  const instance = Object.create(entityClass.prototype as object) as object
  for (const [name, value] of values) {
    Object.defineProperty(instance, name, { value, enumerable: true, configurable: true, writable: true })
  }
  return instance
}

const withParts = (example: Omit<TypeExample, 'parts'>, from: TypeExample): TypeExample => ({
  ...example,
  parts: from.parts,
})

/** Any type, nested at most `depth` deep. */
export function randomType(depth: number, name: fc.Arbitrary<string>): fc.Arbitrary<TypeExample> {
  const scalarType = fc.constantFrom(...scalars)
  if (depth === 0) return scalarType
  const inner = randomType(depth - 1, name)
  const keyKind = fc.constantFrom<InnerKey>('string', 'int', 'bigint')
  const part = randomPart(inner, name)
  return fc.oneof(
    { weight: 4, arbitrary: scalarType },
    {
      weight: 1,
      arbitrary: inner.map((item) =>
        withParts(
          { type: { kind: 'list', item: item.type }, value: fc.array(orNull(item.value), { maxLength: 4 }) },
          item,
        ),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.tuple(scalarType, scalarType).map(([first, second]) =>
        withParts(
          {
            type: { kind: 'tuple', items: [first.type, second.type] },
            value: fc.tuple(orNull(first.value), orNull(second.value)),
          },
          second,
        ),
      ),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(...primitives).map((item): TypeExample => ({
        type: { kind: 'set', item: item.type },
        value: fc.array(item.value, { maxLength: 4 }).map((values) => new Set(values)),
        parts: [],
      })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(keyKind, inner)
        .map(([key, item]) =>
          withParts({ type: { kind: 'map', key, value: item.type }, value: mapOf(key, orNull(item.value)) }, item),
        ),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom('one', 'array', 'map'), keyKind, part)
        .map(([shape, key, { model, fields, value }]) => {
          const parts = [model, ...fields.flatMap((field) => field.parts)]
          const type = { kind: 'embedded', shape, part: model.name, ...(shape === 'map' && { key }) } as BinType
          if (shape === 'one') return { type, value, parts }
          return { type, value: shape === 'array' ? fc.array(value, { maxLength: 3 }) : mapOf(key, value), parts }
        }),
    },
    {
      weight: 1,
      arbitrary: part.map(({ model, fields, value }) => ({
        type: {
          kind: 'embedded',
          shape: 'bins',
          part: model.name,
          fields: model.properties.map(({ name, type }, i) => ({ name, bin: `${model.name}.${i}`, type })),
        } satisfies BinType,
        value,
        parts: [model, ...fields.flatMap((field) => field.parts)],
      })),
    },
  )
}
