import { Bin, Key, ManyToMany, Record, Sharded, collection, open, type Database } from 'skein'
import { trafficOf, type Traffic } from '../../examples/traffic.js'
import type { BenchResult, BenchSuite } from './bench.js'
import { isNamedServer } from '../server.js'
import { compare, CROWD } from './compare.js'
import { startBenchServer } from './server.js'

const SHARDS = 35
const MANY = 300_000
const FEW = 3_000
/** Members of the collections that 64 writers add to. */
const CROWDED = 50_000
const CHUNK = 10_000
const PAGE = 50

@Record({ set: 'shardfan' })
class Fan {
  @Key() id!: string
  @Bin() name!: string
}

@Record({ set: 'shardstar' })
class Star {
  @Key() id!: string
  @Sharded({ by: 'hash', shards: SHARDS }) @ManyToMany(() => Fan) fans = collection<Fan>()
}

@Record({ set: 'shardplain' })
class PlainStar {
  @Key() id!: string
  @ManyToMany(() => Fan) fans = collection<Fan>()
}

type AnyStar = typeof Star | typeof PlainStar

const idOf = (i: number): string => `fan-${String(i).padStart(7, '0')}`

const add = (db: Database, star: AnyStar, id: string, ...members: readonly string[]): Promise<void> =>
  db.withSession((session) => {
    session
      .at(star, id)
      .collection('fans')
      .add(...members)
  })

async function fill(db: Database, star: AnyStar, id: string, members: number): Promise<void> {
  await db.withSession((session) => void session.create(star, { id }))
  for (let first = 0; first < members; first += CHUNK) {
    const ids = Array.from({ length: Math.min(CHUNK, members - first) }, (_, i) => idOf(first + i))
    await add(db, star, id, ...ids)
  }
}

async function writers(db: Database, isNamed: boolean): Promise<BenchResult> {
  await fill(db, Star, 'crowded', CROWDED)
  await fill(db, PlainStar, 'crowded', CROWDED)
  let next = CROWDED
  const adding = (star: AnyStar) => ({ call: () => add(db, star, 'crowded', idOf(next++)) })
  const { ratio } = await compare(adding(Star), adding(PlainStar), { ...CROWD, rounds: 6 })
  return {
    name: `shards: 64 writers at ${CROWDED}`,
    ratio,
    // An embedded server writes one record after the other, whichever they are.
    ...(isNamed && { budget: { atLeast: 3 } }),
    of: `throughput of ${SHARDS} shards against one record`,
  }
}

async function oneAdd(db: Database): Promise<BenchResult[]> {
  const sent = async (id: string): Promise<Traffic> => {
    await add(db, Star, id, 'late-0')
    return trafficOf(() => add(db, Star, id, 'late-0'))
  }
  const [many, few] = [await sent('many'), await sent('few')]
  return [
    {
      name: `shards: commands of an add at ${MANY}`,
      ratio: many.commands,
      budget: { atMost: 1 },
      of: 'commands',
    },
    {
      name: `shards: bytes of an add at ${MANY}`,
      ratio: many.bytes / few.bytes,
      budget: { atMost: 1.05 },
      of: `times those at ${FEW}: ${many.bytes} against ${few.bytes}`,
    },
  ]
}

async function page(db: Database): Promise<BenchResult> {
  const first = Array.from({ length: PAGE }, (_, i) => ({ id: idOf(i), name: `Fan ${i}` }))
  await db.withSession((session) => first.forEach((values) => session.create(Fan, values)))
  const read = (id: string) => ({
    call: async () => {
      const found = await db.session().at(Star, id).collection('fans').page({ count: PAGE })
      if (found.length !== PAGE) throw new Error(`a page has ${found.length} members`)
    },
  })
  const { ratio } = await compare(read('many'), read('few'), { callers: 1, calls: 10, rounds: 20 })
  const of = `times a page at ${FEW}, both in ${SHARDS} shards`
  return { name: `shards: a page of ${PAGE} at ${MANY}`, ratio: 1 / ratio, budget: { atMost: 1.5 }, of }
}

const suite: BenchSuite = {
  name: 'Collections in shards',
  async run() {
    const server = await startBenchServer()
    const [namespace] = server.namespaces
    const entities = [Fan, Star, PlainStar]
    const db = await open({ hosts: server.hosts, namespace, entities, stacks: false, retry: { deadline: 300_000 } })
    try {
      for (const entity of entities) await db.truncate(entity)
      await fill(db, Star, 'many', MANY)
      await fill(db, Star, 'few', FEW)
      return [...(await oneAdd(db)), await page(db), await writers(db, isNamedServer)]
    } finally {
      for (const entity of entities) await db.truncate(entity)
      await db.close()
      await server.stop()
    }
  },
}
export default suite
