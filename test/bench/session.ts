import 'reflect-metadata'
import Aerospike from 'aerospike'
import { Bin, Key, open, Record, type Database } from 'skein'
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

type Sides<Name extends string> = { readonly [N in Name]: Side }

const at = (name: string, ratio: number, atLeast: number, of: string): BenchResult => ({
  name: `session: ${name}`,
  ratio,
  budget: { atLeast },
  of: `throughput against ${of}`,
})

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
    const { load, get, loadHundred, getHundred } = this.#loads()
    const { insert, put } = this.#inserts()
    const results = [
      at('load one', await compare(1, 400, load, get), 0.9, 'get'),
      at('load 100', await compare(1, 20, loadHundred, getHundred), 0.9, 'batchRead'),
      at('64 callers load', await compare(CALLERS, 2000, load, get), 2, 'get'),
      at('insert', await compare(1, 400, insert, put), 0.9, 'put'),
      at('delete', await compare(1, 400, this.#deleting(true), this.#deleting(false)), 0.9, 'remove'),
    ]
    // After the loads: a thousand sessions that stay teach the collector that sessions live long.
    const { save, operate } = await this.#saves()
    return [
      ...results,
      at('save one changed bin', await compare(1, 400, save, operate), 0.9, 'operate'),
      at('64 callers save', await compare(CALLERS, 2000, save, operate), 2.5, 'operate'),
      await this.#cleanFlush(),
    ]
  }

  get #ids(): number[] {
    return Array.from({ length: RECORDS }, (_, i) => this.#base + i)
  }

  #loads(): Sides<'load' | 'get' | 'loadHundred' | 'getHundred'> {
    const { client } = this.#db
    const ids = this.#ids
    const keys = ids.map((id) => this.#key(id))
    return {
      load: { call: (i) => this.#db.session().load(Listing, ids[i % RECORDS]) },
      get: { call: async (i) => fromBins((await client.get(keys[i % RECORDS])).bins) },
      loadHundred: {
        call: (i) =>
          this.#db.session().loadMany(
            Listing,
            Array.from({ length: 100 }, (_, k) => ids[(i + k) % RECORDS]),
          ),
      },
      getHundred: {
        call: async (i) => {
          const rows = Array.from({ length: 100 }, (_, k) => ({ key: keys[(i + k) % RECORDS], readAllBins: true }))
          return (await client.batchRead(rows)).map(({ record }) => fromBins(record.bins))
        },
      },
    }
  }

  #inserts(): Sides<'insert' | 'put'> {
    const create = new Aerospike.WritePolicy({ exists: Aerospike.policy.exists.CREATE })
    return {
      insert: { call: () => this.#db.session().save(listing(++this.#lastNew)) },
      put: {
        call: () => {
          const one = listing(++this.#lastNew)
          return this.#db.client.put(this.#key(one.id), toBins(one) as never, {}, create)
        },
      },
    }
  }

  /** Each entity is in a session of its own, as those of the requests of a server are. */
  async #saves(): Promise<Sides<'save' | 'operate'>> {
    const { client } = this.#db
    const keys = this.#ids.map((id) => this.#key(id))
    const update = new Aerospike.OperatePolicy({ exists: Aerospike.policy.exists.UPDATE })
    const keep = { ttl: Aerospike.ttl.DONT_UPDATE }
    const loaded = await Promise.all(
      this.#ids.map(async (id) => {
        const session = this.#db.session()
        return { session, entity: await session.load(Listing, id) }
      }),
    )
    return {
      save: {
        call: (i) => {
          const { session, entity } = loaded[i % RECORDS]
          entity.price++
          return session.save(entity)
        },
      },
      operate: {
        call: (i) => client.operate(keys[i % RECORDS], [Aerospike.operations.write('price', i)], keep, update),
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
