import Aerospike from 'aerospike'
import { open, type Database, type Session } from 'skein'
import type { BenchResult, BenchSuite } from './bench.js'
import { ByHand } from './by-hand.js'
import { against, againstCrowd, collectGarbage, HUNDREDS, ONE, type Side } from './compare.js'
import { Gathered } from './gathered.js'
import { Listing, listing } from './listing.js'
import { startBenchServer } from './server.js'

const RECORDS = 1000
const ENTITIES = 100_000

class Measurement {
  readonly #db: Database
  readonly #byHand: ByHand
  readonly #gathered: Gathered
  readonly #ids: readonly number[]
  #lastNew: number

  constructor(db: Database, namespace: string, base: number) {
    this.#db = db
    this.#byHand = new ByHand(db, namespace)
    this.#gathered = new Gathered(db, (id) => new Aerospike.Key(namespace, 'bench', id))
    this.#ids = Array.from({ length: RECORDS }, (_, i) => base + i)
    this.#lastNew = base + RECORDS
  }

  async run(): Promise<BenchResult[]> {
    await this.#store(this.#ids)
    const { load, loadByHand, loadGathered, loadHundred, loadHundredByHand } = this.#loads()
    const { insert, insertByHand } = this.#inserts()
    const results = [
      await against('session: load one', load, loadByHand, ONE, 0.9, 'get'),
      await against('session: load 100', loadHundred, loadHundredByHand, HUNDREDS, 0.9, 'batchRead'),
      ...(await againstCrowd(
        'session: 64 callers load',
        { ours: load, theirs: loadByHand, gathered: loadGathered },
        0.95,
        'get',
      )),
      await against('session: insert', insert, insertByHand, ONE, 0.9, 'put'),
      await against('session: delete', this.#deleting(true), this.#deleting(false), ONE, 0.9, 'remove'),
    ]
    // After the loads: a thousand sessions that stay teach the collector that sessions live long.
    const { save, saveByHand, saveGathered } = await this.#saves()
    return [
      ...results,
      await against('session: save one changed bin', save, saveByHand, ONE, 0.9, 'operate'),
      ...(await againstCrowd(
        'session: 64 callers save',
        { ours: save, theirs: saveByHand, gathered: saveGathered },
        0.92,
        'operate',
      )),
      await this.#cleanFlush(),
    ]
  }

  #loads(): Sides<'load' | 'loadByHand' | 'loadGathered' | 'loadHundred' | 'loadHundredByHand'> {
    const id = (i: number): number => this.#ids[i % RECORDS]
    const hundred = (i: number): number[] => Array.from({ length: 100 }, (_, k) => id(i * 7 + k))
    return {
      load: { call: (i) => this.#db.session().load(Listing, id(i)) },
      loadByHand: { call: (i) => this.#byHand.load(id(i)) },
      loadGathered: { call: (i) => this.#gathered.load(id(i)) },
      loadHundred: { call: (i) => this.#db.session().loadMany(Listing, hundred(i)) },
      loadHundredByHand: { call: (i) => this.#byHand.loadMany(hundred(i)) },
    }
  }

  #inserts(): Sides<'insert' | 'insertByHand'> {
    return {
      insert: { call: () => this.#db.session().save(listing(++this.#lastNew)) },
      insertByHand: { call: () => this.#byHand.insert(listing(++this.#lastNew)) },
    }
  }

  /** Each entity is in a session of its own, as those of the requests of a server are. */
  async #saves(): Promise<Sides<'save' | 'saveByHand' | 'saveGathered'>> {
    const loaded = await Promise.all(
      this.#ids.map(async (id): Promise<readonly [Session, Listing]> => {
        const session = this.#db.session()
        return [session, await session.load(Listing, id)]
      }),
    )
    // Hand-written code has the loaded record, too.
    const plain = this.#ids.map(listing)
    const changed = (i: number): Listing => {
      const entity = plain[i % RECORDS]
      entity.price++
      return entity
    }
    return {
      save: {
        call: (i) => {
          const [session, entity] = loaded[i % RECORDS]
          entity.price++
          return session.save(entity)
        },
      },
      saveByHand: { call: (i) => this.#byHand.savePrice(changed(i)) },
      saveGathered: { call: (i) => this.#gathered.savePrice(changed(i)) },
    }
  }

  /** Every turn deletes records that were stored for it. */
  #deleting(isOurs: boolean): Side {
    let ids: number[] = []
    return {
      prepare: async () => {
        ids = Array.from({ length: ONE.calls }, () => ++this.#lastNew)
        await this.#store(ids)
      },
      call: (i) => (isOurs ? this.#db.session().delete(Listing, ids[i]) : this.#byHand.delete(ids[i])),
    }
  }

  async #cleanFlush(): Promise<BenchResult> {
    const session = this.#db.session({ validate: false })
    const ids = Array.from({ length: ENTITIES }, () => ++this.#lastNew)
    for (let i = 0; i < ENTITIES; i += 5000) {
      for (const id of ids.slice(i, i + 5000)) session.persist(listing(id))
      await session.flush()
    }
    collectGarbage()
    // A clean flush waits for nothing, so the best of many rounds is the undisturbed one.
    let best = Infinity
    for (let round = 0; round < 200; round++) {
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
}

type Sides<Name extends string> = { readonly [N in Name]: Side }

const suite: BenchSuite = {
  name: 'The session against calls written by hand on the official client',
  async run() {
    const server = await startBenchServer()
    const [namespace] = server.namespaces
    const db = await open({ hosts: server.hosts, namespace, entities: [Listing], stacks: false })
    try {
      return await new Measurement(db, namespace, Math.floor(Math.random() * 2 ** 40)).run()
    } finally {
      await db.truncate(Listing)
      await db.close()
      await server.stop()
    }
  },
}
export default suite
