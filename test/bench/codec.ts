import { instanceToPlain, plainToInstance, Type } from 'class-transformer'
import { compileCodecs } from '#src/codec/index.js'
import { writeBin } from '#src/plan/operations.js'
import type { Bins } from '#src/plan/command.js'
import { entityOf, modelOf } from '../codec/build-model.js'
import { measure, type BenchResult, type BenchSuite } from './bench.js'

/** The class of the budgets: ten flat properties. */
class Listing {
  id!: number
  title!: string
  city!: string
  street!: string
  zip!: string
  price!: number
  rooms!: number
  area!: number
  active!: boolean
  @Type(() => Date)
  listedAt!: Date
}

const listing = entityOf(Listing, {
  id: { type: { kind: 'int' }, role: 'key' },
  title: { type: { kind: 'string' } },
  city: { type: { kind: 'string' } },
  street: { type: { kind: 'string' } },
  zip: { type: { kind: 'string' } },
  price: { type: { kind: 'int' } },
  rooms: { type: { kind: 'int' } },
  area: { type: { kind: 'double' } },
  active: { type: { kind: 'boolean' } },
  listedAt: { type: { kind: 'date' } },
})
const generated = compileCodecs(modelOf([listing]), { generate: true }).entity(Listing)
const interpreted = compileCodecs(modelOf([listing]), { generate: false }).entity(Listing)

interface Stored {
  id: number
  title: string
  city: string
  street: string
  zip: string
  price: number
  rooms: number
  area: number
  active: boolean
  listedAt: number
}

const COUNT = 1024
const records: readonly Stored[] = Array.from({ length: COUNT }, (_, i) => ({
  id: i,
  title: `House ${i}`,
  city: `City ${i % 50}`,
  street: `Street ${i % 300}`,
  zip: String(10_000 + i),
  price: 100_000 + i,
  rooms: i % 9,
  area: i + 0.5,
  active: i % 2 === 0,
  listedAt: 1_700_000_000_000 + i,
}))

/** Hand-written code, without a check. */
function hydrateByHand(bins: Stored): Listing {
  const entity = new Listing()
  entity.id = bins.id
  entity.title = bins.title
  entity.city = bins.city
  entity.street = bins.street
  entity.zip = bins.zip
  entity.price = bins.price
  entity.rooms = bins.rooms
  entity.area = bins.area
  entity.active = bins.active
  entity.listedAt = new Date(bins.listedAt)
  return entity
}

function dehydrateByHand(entity: Listing): Stored {
  return {
    id: entity.id,
    title: entity.title,
    city: entity.city,
    street: entity.street,
    zip: entity.zip,
    price: entity.price,
    rooms: entity.rooms,
    area: entity.area,
    active: entity.active,
    listedAt: entity.listedAt.getTime(),
  }
}

const NOTHING: readonly unknown[] = []

function diffByHand(entity: Listing, before: Stored): readonly unknown[] {
  let operations: unknown[] | undefined
  if (entity.title !== before.title) (operations ??= []).push(writeBin('title', entity.title))
  if (entity.city !== before.city) (operations ??= []).push(writeBin('city', entity.city))
  if (entity.street !== before.street) (operations ??= []).push(writeBin('street', entity.street))
  if (entity.zip !== before.zip) (operations ??= []).push(writeBin('zip', entity.zip))
  if (entity.price !== before.price) (operations ??= []).push(writeBin('price', entity.price))
  if (entity.rooms !== before.rooms) (operations ??= []).push(writeBin('rooms', entity.rooms))
  if (entity.area !== before.area) (operations ??= []).push(writeBin('area', entity.area))
  if (entity.active !== before.active) (operations ??= []).push(writeBin('active', entity.active))
  const listedAt = entity.listedAt.getTime()
  if (listedAt !== before.listedAt) (operations ??= []).push(writeBin('listedAt', listedAt))
  return operations ?? NOTHING
}

function hydration(): readonly BenchResult[] {
  const time = measure({
    hand: (i) => hydrateByHand(records[i % COUNT]),
    generated: (i) => generated.hydrate(records[i % COUNT] as unknown as Bins),
    interpreted: (i) => interpreted.hydrate(records[i % COUNT] as unknown as Bins),
    transformer: (i) => plainToInstance(Listing, records[i % COUNT]),
  })
  return [
    {
      name: 'hydrate',
      ratio: time.generated / time.hand,
      budget: { atMost: 1.5 },
      of: `time of hand-written assignment (${ns(time.hand)})`,
    },
    {
      name: 'hydrate against class-transformer',
      ratio: time.transformer / time.generated,
      budget: { atLeast: 30 },
      of: 'times faster',
    },
    { name: 'hydrate against the interpreter', ratio: time.interpreted / time.generated, of: 'times faster' },
  ]
}

function dehydration(): readonly BenchResult[] {
  const entities = records.map((record) => hydrateByHand(record))
  const time = measure({
    hand: (i) => dehydrateByHand(entities[i % COUNT]),
    generated: (i) => generated.dehydrate(entities[i % COUNT]),
    interpreted: (i) => interpreted.dehydrate(entities[i % COUNT]),
    transformer: (i) => instanceToPlain(entities[i % COUNT]),
  })
  return [
    {
      name: 'dehydrate',
      ratio: time.generated / time.hand,
      of: `time of an object literal (${ns(time.hand)}); Skein also checks every value`,
    },
    { name: 'dehydrate against class-transformer', ratio: time.transformer / time.generated, of: 'times faster' },
    { name: 'dehydrate against the interpreter', ratio: time.interpreted / time.generated, of: 'times faster' },
  ]
}

function differences(): readonly BenchResult[] {
  const entities = records.map((record) => hydrateByHand(record))
  const before = entities.map((entity) => dehydrateByHand(entity))
  const snapshots = entities.map((entity) => generated.snapshot(entity))
  const functions = {
    hand: (i: number) => diffByHand(entities[i % COUNT], before[i % COUNT]),
    generated: (i: number) => generated.diff(entities[i % COUNT], snapshots[i % COUNT]),
    interpreted: (i: number) => interpreted.diff(entities[i % COUNT], snapshots[i % COUNT]),
  }
  const clean = measure(functions)
  for (const entity of entities) entity.price += 1
  const dirty = measure(functions)
  return [
    {
      name: 'clean diff',
      ratio: clean.generated / clean.hand,
      of: `time of hand-written comparisons (${ns(clean.hand)})`,
    },
    { name: 'clean diff against the interpreter', ratio: clean.interpreted / clean.generated, of: 'times faster' },
    {
      name: 'one-field diff',
      ratio: dirty.generated / dirty.hand,
      of: `time of hand-written comparisons (${ns(dirty.hand)})`,
    },
    { name: 'one-field diff against the interpreter', ratio: dirty.interpreted / dirty.generated, of: 'times faster' },
  ]
}

/** Entities as a flush sees them: so many that each one comes from main memory. */
function cleanSweep(): readonly BenchResult[] {
  const entities = Array.from({ length: 100_000 }, (_, i) => generated.hydrate({ ...records[i % COUNT], id: i }))
  const snapshots = entities.map((entity) => generated.snapshot(entity))
  const time = measure(
    {
      sweep: () => {
        let changed = 0
        for (let i = 0; i < entities.length; i++) changed += generated.diff(entities[i], snapshots[i]).length
        return changed
      },
    },
    { rounds: 20 },
  )
  const perEntity = time.sweep / entities.length
  return [
    { name: 'clean diff of 100,000 entities', ratio: perEntity, budget: { atMost: 100 }, of: 'nanoseconds an entity' },
  ]
}

const ns = (time: number): string => `${time.toFixed(0)} ns`

export default {
  name: 'Codec: a class of ten flat properties',
  run: () => [...hydration(), ...dehydration(), ...differences(), ...cleanSweep()],
} satisfies BenchSuite
