import 'reflect-metadata'
import Aerospike from 'aerospike'
import { Bin, Key, open, Record, type Database, type Session } from 'skein'
import { startTestServer } from '../server.js'
import type { BenchResult, BenchSuite } from './bench.js'

@Record({ set: 'bench' })
class Listing {
  @Key() id!: number
  @Bin() title!: string
  @Bin() city!: string
  @Bin() street!: string
  @Bin() zip!: string
  @Bin() price!: number
  @Bin() rooms!: number
  @Bin({ type: 'double' }) area!: number
  @Bin() active!: boolean
  @Bin() listedAt!: Date
}

const RECORDS = 1000
const CALLERS = 64
const ROUNDS = 30
const ENTITIES = 100_000

function listing(id: number): Listing {
  const made = new Listing()
  made.id = id
  made.title = `House ${id}`
  made.city = `City ${id % 50}`
  made.street = `Street ${id % 300}`
  made.zip = String(10_000 + id)
  made.price = 100_000 + id
  made.rooms = id % 9
  made.area = id + 0.5
  made.active = id % 2 === 0
  made.listedAt = new Date(1_700_000_000_000 + id)
  return made
}

// What people write by hand around the client, and what Skein is measured against.
function toBins(one: Listing): { [bin: string]: unknown } {
  const { id, title, city, street, zip, price, rooms, area, active, listedAt } = one
  return {
    id,
    title,
    city,
    street,
    zip,
    price,
    rooms,
    area: new Aerospike.Double(area),
    active,
    listedAt: listedAt.getTime(),
  }
}

function fromBins(bins: { [bin: string]: unknown }): Listing {
  const made = new Listing()
  made.id = bins.id as number
  made.title = bins.title as string
  made.city = bins.city as string
  made.street = bins.street as string
  made.zip = bins.zip as string
  made.price = bins.price as number
  made.rooms = bins.rooms as number
  made.area = bins.area as number
  made.active = bins.active as boolean
  made.listedAt = new Date(bins.listedAt as number)
  return made
}

type Call = (i: number) => Promise<unknown>

/** One side of a comparison; `prepare` runs before each round, outside the measurement. */
interface Side {
  readonly call: Call
  readonly prepare?: () => Promise<unknown>
}

/** Calls a millisecond when so many callers each wait for their answer before they ask again. */
async function throughput(callers: number, calls: number, { call, prepare }: Side): Promise<number> {
  await prepare?.()
  const began = performance.now()
  let next = 0
  const caller = async (): Promise<void> => {
    while (next < calls) await call(next++)
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return calls / (performance.now() - began)
}

/** The best of several rounds of each, taking turns, so that a busy machine disturbs both alike. */
async function compare(callers: number, calls: number, ours: Side, theirs: Side): Promise<number> {
  const best = { ours: 0, theirs: 0 }
  for (let round = 0; round < ROUNDS; round++) {
    best.theirs = Math.max(best.theirs, await throughput(callers, calls, theirs))
    best.ours = Math.max(best.ours, await throughput(callers, calls, ours))
  }
  return best.ours / best.theirs
}

class Comparison {
  readonly #db: Database
  readonly #namespace: string
  readonly #base: number
  #lastNew: number

  constructor(db: Database, namespace: string, base: number) {
    this.#db = db
    this.#namespace = namespace
    this.#base = base
    this.#lastNew = base + RECORDS
  }

  async run(): Promise<BenchResult[]> {
    await this.#store(this.#ids)
    const { load, get, loadHundred, getHundred, save, operate, insert, put } = await this.#calls()
    const at = (name: string, ratio: number, atLeast: number, of: string): BenchResult => ({
      name: `session: ${name}`,
      ratio,
      budget: { atLeast },
      of: `throughput against ${of}`,
    })
    return [
      at('load one', await compare(1, 400, load, get), 0.9, 'get'),
      at('load 100', await compare(1, 20, loadHundred, getHundred), 0.9, 'batchRead'),
      at('save one changed bin', await compare(1, 400, save, operate), 0.9, 'operate'),
      at('insert', await compare(1, 400, insert, put), 0.9, 'put'),
      at('delete', await compare(1, 400, this.#deleting(true), this.#deleting(false)), 0.9, 'remove'),
      at('64 callers load', await compare(CALLERS, 2000, load, get), 2, 'get'),
      at('64 callers save', await compare(CALLERS, 2000, save, operate), 2.5, 'operate'),
      await this.#cleanFlush(),
    ]
  }

  get #ids(): number[] {
    return Array.from({ length: RECORDS }, (_, i) => this.#base + i)
  }

  async #calls(): Promise<{ readonly [name: string]: Side }> {
    const { client } = this.#db
    const ids = this.#ids
    const keys = ids.map((id) => this.#key(id))
    const at = (i: number): number => i % RECORDS
    const update = new Aerospike.OperatePolicy({ exists: Aerospike.policy.exists.UPDATE })
    const create = new Aerospike.WritePolicy({ exists: Aerospike.policy.exists.CREATE })
    const keep = { ttl: Aerospike.ttl.DONT_UPDATE }
    // Each caller of a save has its own session, as each request of a server has.
    const sessions: Session[] = []
    const entities = await Promise.all(
      ids.map((id) => {
        const session = this.#db.session()
        sessions.push(session)
        return session.load(Listing, id)
      }),
    )
    return {
      load: { call: (i) => this.#db.session().load(Listing, ids[at(i)]) },
      get: { call: async (i) => fromBins((await client.get(keys[at(i)])).bins) },
      loadHundred: {
        call: (i) =>
          this.#db.session().loadMany(
            Listing,
            Array.from({ length: 100 }, (_, k) => ids[at(i + k)]),
          ),
      },
      getHundred: {
        call: async (i) => {
          const rows = Array.from({ length: 100 }, (_, k) => ({ key: keys[at(i + k)], readAllBins: true }))
          const results = await client.batchRead(rows)
          return results.map(({ record }) => fromBins(record.bins))
        },
      },
      save: {
        call: (i) => {
          const entity = entities[at(i)]
          entity.price++
          return sessions[at(i)].save(entity)
        },
      },
      operate: {
        call: (i) => client.operate(keys[at(i)], [Aerospike.operations.write('price', i)], keep, update),
      },
      insert: { call: () => this.#db.session().save(listing(++this.#lastNew)) },
      put: {
        call: () => {
          const one = listing(++this.#lastNew)
          return client.put(this.#key(one.id), toBins(one) as never, {}, create)
        },
      },
    }
  }

  /** Every round deletes records that were stored for it. */
  #deleting(isOurs: boolean): Side {
    let ids: number[] = []
    const { strongConsistency } = this.#db.capabilities.namespaces[this.#namespace]
    const policy = new Aerospike.RemovePolicy({ durableDelete: strongConsistency })
    return {
      prepare: async () => {
        ids = Array.from({ length: 400 }, () => ++this.#lastNew)
        await this.#store(ids)
      },
      call: (i) =>
        isOurs ? this.#db.session().delete(Listing, ids[i]) : this.#db.client.remove(this.#key(ids[i]), policy),
    }
  }

  async #cleanFlush(): Promise<BenchResult> {
    const session = this.#db.session({ validate: false })
    const ids = Array.from({ length: ENTITIES }, () => ++this.#lastNew)
    for (let i = 0; i < ENTITIES; i += 5000) {
      for (const id of ids.slice(i, i + 5000)) session.persist(listing(id))
      await session.flush()
    }
    let best = Infinity
    for (let round = 0; round < 20; round++) {
      const began = performance.now()
      await session.flush()
      best = Math.min(best, performance.now() - began)
    }
    const ratio = (best * 1e6) / ENTITIES
    return { name: 'session: clean flush of 100,000', ratio, budget: { atMost: 100 }, of: 'ns an entity' }
  }

  async #store(ids: readonly number[]): Promise<void> {
    const session = this.#db.session()
    for (const id of ids) session.persist(listing(id))
    await session.flush()
  }

  #key(id: number): Aerospike.Key {
    return new Aerospike.Key(this.#namespace, 'bench', id)
  }
}

const suite: BenchSuite = {
  name: 'The session against calls written by hand on the official client',
  async run() {
    const server = await startTestServer()
    const [namespace] = server.namespaces
    const db = await open({ hosts: server.hosts, namespace, entities: [Listing] })
    try {
      return await new Comparison(db, namespace, Math.floor(Math.random() * 2 ** 40)).run()
    } finally {
      await db.close()
      await server.stop()
    }
  },
}
export default suite
