import 'reflect-metadata'
import Aerospike from 'aerospike'
import { Bin, Counter, Key, open, Record, type Database } from 'skein'
import type { BenchSuite } from './bench.js'
import { against, ONE, type Side } from './compare.js'
import { startBenchServer } from './server.js'

const PAGES = 1000
const TIMEOUTS = { socketTimeout: 0, totalTimeout: 3000, maxRetries: 0 }

@Record({ set: 'bench_page' })
class Page {
  @Key() id!: number
  @Counter() views = 0
  @Bin({ type: { map: 'int' } }) votes = new Map<string, number>()
}

/** Increments through a handle, and as people write them on the official client with the same promises. */
function sides(db: Database, namespace: string): { readonly ours: Side; readonly theirs: Side } {
  const exists = Aerospike.policy.exists.UPDATE
  const update = new Aerospike.OperatePolicy({ ...TIMEOUTS, exists })
  const keepTtl = { ttl: Aerospike.ttl.DONT_UPDATE }
  return {
    ours: {
      call: (i) => {
        const session = db.session()
        session
          .at(Page, i % PAGES)
          .counter('views')
          .add(1)
        return session.flush()
      },
    },
    theirs: {
      call: (i) => {
        const key = new Aerospike.Key(namespace, 'bench_page', i % PAGES)
        return db.client.operate(key, [Aerospike.operations.incr('views', 1)], keepTtl, update)
      },
    },
  }
}

const suite: BenchSuite = {
  name: 'Handles against operate written by hand on the official client',
  async run() {
    const server = await startBenchServer()
    const [namespace] = server.namespaces
    const db = await open({ hosts: server.hosts, namespace, entities: [Page], stacks: false })
    try {
      const session = db.session()
      for (let id = 0; id < PAGES; id++) session.persist(Object.assign(new Page(), { id }))
      await session.flush()
      const { ours, theirs } = sides(db, namespace)
      return [await against('handles: increment a counter', ours, theirs, ONE, 0.9, 'operate')]
    } finally {
      await db.truncate(Page)
      await db.close()
      await server.stop()
    }
  },
}
export default suite
