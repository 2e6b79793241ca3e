import { deepStrictEqual } from 'node:assert'
import { expect } from 'chai'
import fc from 'fast-check'
import { SkeinError } from 'skein'
import { asReturned } from '#src/codec/types/as-returned.js'
import type { EntityCodec } from '#src/codec/index.js'
import type { Bins } from '#src/plan/command.js'
import type { Value } from '#src/plan/value.js'
import { applyOperations, toStore } from './apply-operations.js'
import { randomModel, randomStored, type ModelExample } from './random-model.js'

const RUNS = { numRuns: 400 }

/** The outcome of a call: its result, or the code and text of its error. */
function outcome(run: () => unknown): unknown {
  try {
    return { result: run() }
  } catch (error) {
    if (error instanceof SkeinError) return { code: error.code, message: error.message, details: error.details }
    throw error
  }
}

/** A record as the client returns it. */
function readBack(bins: Bins | ReadonlyMap<string, Value>): Bins {
  const record = {}
  for (const [bin, value] of bins instanceof Map ? (bins as ReadonlyMap<string, Value>) : Object.entries(bins)) {
    Object.defineProperty(record, bin, {
      value: asReturned(value as Value),
      enumerable: true,
      configurable: true,
      writable: true,
    })
  }
  return record
}

const withEntities = <N extends number>(
  count: N,
  kind: 'entity' | 'wildEntity' = 'entity',
): fc.Arbitrary<{ model: ModelExample; entities: object[] }> =>
  randomModel().chain((model) =>
    fc.record({ model: fc.constant(model), entities: fc.array(model[kind], { minLength: count, maxLength: count }) }),
  )

describe('codecs (properties over random models)', () => {
  it('bring every value back as it was', () => {
    fc.assert(
      fc.property(withEntities(1), ({ model: { generated }, entities: [entity] }) => {
        deepStrictEqual(generated.hydrate(readBack(generated.dehydrate(entity))), entity)
      }),
      RUNS,
    )
  })

  it('give instances of the class, with the properties as their own', () => {
    fc.assert(
      fc.property(withEntities(1), ({ model: { generated, interpreted }, entities: [entity] }) => {
        for (const codec of [generated, interpreted]) {
          const loaded = codec.hydrate(readBack(codec.dehydrate(entity)))
          expect(Object.getPrototypeOf(loaded)).to.equal(codec.model.class.prototype)
          for (const { name } of codec.model.properties) expect(Object.hasOwn(loaded, name)).to.equal(true)
        }
      }),
      RUNS,
    )
  })

  it('store the same, generated or interpreted, and refuse the same with the same words', () => {
    fc.assert(
      fc.property(withEntities(1, 'wildEntity'), ({ model: { generated, interpreted }, entities: [entity] }) => {
        deepStrictEqual(
          outcome(() => generated.dehydrate(entity)),
          outcome(() => interpreted.dehydrate(entity)),
        )
        deepStrictEqual(
          outcome(() => generated.create(entity)),
          outcome(() => interpreted.create(entity)),
        )
      }),
      RUNS,
    )
  })

  it('read the same, generated or interpreted, whatever is stored', () => {
    const example = randomModel().chain((model) =>
      fc.record({
        model: fc.constant(model),
        values: fc.tuple(...model.bins.map(() => fc.option(randomStored, { nil: undefined }))),
      }),
    )
    fc.assert(
      fc.property(example, ({ model: { generated, interpreted, bins }, values }) => {
        const stored = {}
        bins.forEach((bin, i) => {
          if (values[i] !== undefined)
            Object.defineProperty(stored, bin, { value: values[i], enumerable: true, configurable: true })
        })
        deepStrictEqual(
          outcome(() => generated.hydrate(stored)),
          outcome(() => interpreted.hydrate(stored)),
        )
        deepStrictEqual(
          outcome(() => fillNew(generated, stored)),
          outcome(() => fillNew(interpreted, stored)),
        )
      }),
      RUNS,
    )
  })

  it('find nothing changed in what was just loaded', () => {
    fc.assert(
      fc.property(withEntities(1), ({ model: { generated, interpreted }, entities: [entity] }) => {
        for (const codec of [generated, interpreted]) {
          const loaded = codec.hydrate(readBack(codec.dehydrate(entity)))
          deepStrictEqual(codec.diff(loaded, codec.snapshot(loaded)), [])
          deepStrictEqual(codec.diff(entity, codec.snapshot(loaded)), [])
        }
      }),
      RUNS,
    )
  })

  it('find the same changes, generated or interpreted', () => {
    const example = randomModel().chain((model) =>
      fc.record({ model: fc.constant(model), before: model.entity, after: model.wildEntity }),
    )
    fc.assert(
      fc.property(example, ({ model: { generated, interpreted }, before, after }) => {
        deepStrictEqual(generated.snapshot(before), interpreted.snapshot(before))
        const differences = [generated, interpreted].map((codec) =>
          outcome(() => codec.diff(after, codec.snapshot(before))),
        )
        deepStrictEqual(differences[0], differences[1])
      }),
      RUNS,
    )
  })

  it('send changes that turn the stored record into exactly the entity', () => {
    fc.assert(
      fc.property(withEntities(2), ({ model: { generated }, entities: [before, after] }) => {
        const operations = generated.diff(after, generated.snapshot(before))
        const store = applyOperations(toStore(generated.dehydrate(before)), operations)
        deepStrictEqual(generated.hydrate(readBack(store)), after)
      }),
      { numRuns: 1000 },
    )
  })

  it('create exactly the record that dehydrate describes', () => {
    fc.assert(
      fc.property(withEntities(1), ({ model: { generated }, entities: [entity] }) => {
        const store = applyOperations(new Map(), generated.create(entity))
        deepStrictEqual(generated.hydrate(readBack(store)), entity)
      }),
      RUNS,
    )
  })
})

function fillNew(codec: EntityCodec, stored: Bins): object {
  const target = Object.create(codec.model.class.prototype as object) as object
  codec.fill(target, stored)
  return target
}
