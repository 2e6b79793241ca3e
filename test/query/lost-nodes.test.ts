import { expect } from 'chai'
import { Bin, Index, Key, Record, open, type Database, type Query } from 'skein'
import { startEmbedded, type EmbeddedServer } from 'skein/embedded'
import { MODES } from '../server.js'

@Record({ set: 'ln_item' })
class Item {
  @Key() id!: number
  @Index() @Bin({ type: 'int' }) price!: number
}

const COUNT = 3000

for (const mode of MODES) {
  describe(`queries of a cluster that loses a node meanwhile (${mode})`, function () {
    this.timeout(120_000)
    let server: EmbeddedServer
    let db: Database
    before(async () => {
      server = await startEmbedded({ nodes: 3, namespaces: [`test:${mode}`] })
      db = await open({
        hosts: server.hosts,
        namespace: 'test',
        entities: [Item],
        // The client notices a lost node soon, so that the test does not wait for it.
        connTimeoutMs: 1000,
        tenderInterval: 250,
        policies: { query: { socketTimeout: 1000 } },
        retry: { deadline: 60_000 },
        limits: { queryRecords: 200 },
      })
      await db.indexes.sync()
      for (let first = 0; first < COUNT; first += 1000) {
        await db.withSession((session) => {
          for (let id = first; id < first + 1000; id++) session.create(Item, { id, price: id })
          return Promise.resolve()
        })
      }
    })
    after(async () => {
      await db?.close()
      await server.stop()
    })
    afterEach(async () => {
      await Promise.all(server.nodes.map((node) => node.restart()))
      while (db.client.getNodes().length < server.nodes.length) await new Promise((resolve) => setTimeout(resolve, 20))
    })

    const QUERIES: { readonly [title: string]: () => Query<Item> } = {
      'a scan': () => db.scan(Item),
      'a query by an index': () => db.query(Item).where({ price: { gte: 0 } }),
    }
    for (const [title, query] of Object.entries(QUERIES)) {
      for (const trouble of ['kill', 'freeze'] as const) {
        it(`stream ${title} to its end, each record once, when a node is hit by ${trouble}`, async () => {
          const seen: number[] = []
          for await (const { id } of query()) {
            seen.push(id)
            if (seen.length === 500) await server.nodes[1][trouble]()
          }
          expect(seen).to.have.length(COUNT)
          expect(new Set(seen).size).to.equal(COUNT)
        })
      }
    }

    it('go on with the next page, each record once', async () => {
      const seen: number[] = []
      for (let after: string | undefined, pages = 1; ; pages++) {
        const page = await db.scan(Item).page({ count: 250, after })
        seen.push(...page.map(({ id }) => id))
        if (pages === 3) await server.nodes[2].kill()
        if (page.next === undefined) break
        after = page.next
      }
      expect(seen).to.have.length(COUNT)
      expect(new Set(seen).size).to.equal(COUNT)
    })
  })
}
