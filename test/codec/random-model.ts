import fc from 'fast-check'
import { compileCodecs, type EntityCodec } from '#src/codec/index.js'
import type { BinType, EntityClass } from '#src/model/index.js'
import { entityOf, modelOf, type PropertySpec } from './build-model.js'
import { instanceOf, nastyName, randomType, type TypeExample } from './random-type.js'

/** A class with random properties, compiled both ways, and entities of it. */
export interface ModelExample {
  readonly generated: EntityCodec
  readonly interpreted: EntityCodec
  /** Entities as a user makes them; every property may be missing. */
  readonly entity: fc.Arbitrary<object>
  /** Entities whose properties hold anything at all. */
  readonly wildEntity: fc.Arbitrary<object>
  readonly bins: readonly string[]
  /** Text that a failed run prints. */
  readonly [fc.toStringMethod]: () => string
}

// A part in bins cannot lie inside another value: the model's own checks refuse it.
const isNestable = ({ type }: TypeExample): boolean => !hasInnerBins(type, true)
function hasInnerBins(type: BinType, isOutermost: boolean): boolean {
  if (type.kind === 'list' || type.kind === 'set') return hasInnerBins(type.item, false)
  if (type.kind === 'map') return hasInnerBins(type.value, false)
  return type.kind === 'embedded' && type.shape === 'bins' && !isOutermost
}
const hasOnlyWholeParts = (example: TypeExample): boolean =>
  isNestable(example) && example.parts.every((part) => part.properties.every(({ type }) => !hasInnerBins(type, false)))

const WILD = fc.oneof(
  fc.anything({
    withDate: true,
    withMap: true,
    withSet: true,
    withBigInt: true,
    withTypedArray: true,
    withSparseArray: true,
  }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    null,
    undefined,
    -0,
    NaN,
    new Date(NaN),
    '\0',
    '\ud800',
    2 ** 53,
    5n,
    2n ** 63n,
    [],
    {},
    new Map(),
    new Set(),
  ),
)

export const randomModel = (name: fc.Arbitrary<string> = nastyName): fc.Arbitrary<ModelExample> =>
  fc
    .record({
      properties: fc.uniqueArray(fc.tuple(name, randomType(2, name).filter(hasOnlyWholeParts)), {
        maxLength: 5,
        selector: ([name]) => name,
      }),
      bins: fc.uniqueArray(name, { minLength: 5, maxLength: 5 }),
      hasConstructor: fc.boolean(),
    })
    .filter(({ properties, bins }) => !bins.includes('id') && properties.every(([name]) => name !== 'id'))
    .map(({ properties, bins, hasConstructor }) => {
      const entityClass: EntityClass = hasConstructor
        ? class Entity {
            constructor() {
              // Values of initialisers must not survive in a loaded entity.
              for (const [name] of properties)
                Object.defineProperty(this, name, {
                  value: 'initial',
                  enumerable: true,
                  configurable: true,
                  writable: true,
                })
            }
          }
        : class Entity {
            constructor(required: string) {
              throw new Error(`called without ${required}`)
            }
          }
      const specs: Record<string, PropertySpec> = { id: { type: { kind: 'int' }, role: 'key' } }
      for (const [i, [name, { type }]] of properties.entries()) {
        Object.defineProperty(specs, name, { value: { type, bin: bins[i] } satisfies PropertySpec, enumerable: true })
      }
      const model = modelOf(
        [entityOf(entityClass, specs, { name: 'Entity' })],
        properties.flatMap(([, { parts }]) => parts),
      )
      const make = (values: (example: TypeExample) => fc.Arbitrary<unknown>): fc.Arbitrary<object> =>
        fc
          .tuple(
            fc.constant(7),
            ...properties.map(([, example]) => fc.option(values(example), { nil: undefined, freq: 5 })),
          )
          .map((row) =>
            instanceOf(entityClass, [['id', row[0]], ...properties.map(([name], i) => [name, row[i + 1]] as const)]),
          )
      return {
        [fc.toStringMethod]: () => JSON.stringify(properties.map(([name, { type }], i) => [name, bins[i], type])),
        generated: compileCodecs(model, { generate: true }).entity('Entity'),
        interpreted: compileCodecs(model, { generate: false }).entity('Entity'),
        entity: make(({ value }) => value),
        wildEntity: make(({ value }) => fc.oneof(value, WILD)),
        bins: [
          'id',
          ...properties.flatMap(([, { type }], i) =>
            type.kind === 'embedded' && type.shape === 'bins' ? type.fields.map(({ bin }) => bin) : bins[i],
          ),
        ],
      }
    })

export const randomStored: fc.Arbitrary<unknown> = WILD
