import 'reflect-metadata'
import { expect } from 'chai'
import { Bin, Index, Key, Record, inc, open, type Database, type SkeinError } from 'skein'
import { startEmbedded, type EmbeddedServer } from 'skein/embedded'
import { isNamedServer, MODES } from '../server.js'

@Record({ set: 'bl_item' })
class Item {
  @Key() id!: number
  @Index() @Bin({ type: 'int' }) group!: number
  @Bin({ type: 'int' }) n!: number
}

const COUNT = 300

for (const mode of MODES) {
  const title = `background operations while the cluster changes (${mode})`
  describe(isNamedServer ? `${title} (skipped: only the embedded server loses nodes)` : title, function () {
    this.timeout(60_000)
    let server: EmbeddedServer
    let db: Database
    before(async function () {
      if (isNamedServer) this.skip()
      server = await startEmbedded({ nodes: 3, namespaces: [`test:${mode}`] })
      // The client notices a lost node soon, so that the test does not wait for it.
      const soon = { connTimeoutMs: 1000, tenderInterval: 250, retry: { deadline: 30_000 } }
      db = await open({ hosts: server.hosts, namespace: 'test', entities: [Item], ...soon })
      await db.indexes.sync()
    })
    after(async () => {
      await db?.close()
      await server?.stop()
    })
    beforeEach(async () => {
      await db.truncate(Item)
      await db.withSession((session) => {
        for (let id = 0; id < COUNT; id++) session.create(Item, { id, group: 1, n: 0 })
      })
    })
    afterEach(async () => {
      await Promise.all(server.nodes.map((node) => node.restart()))
      while (db.client.getNodes().length < server.nodes.length) await new Promise((resolve) => setTimeout(resolve, 20))
    })

    const all = () => db.query(Item).where({ group: 1 })
    const values = (): Promise<Map<number | null, number>> => db.scan(Item).groupBy('n').count()
    /** Runs once, while all nodes are at work. */
    const midway = async (disturb: () => Promise<unknown>): Promise<{ onProgress: () => void }> => {
      await Promise.all(server.nodes.map((node) => node.slow(60)))
      let isFirst = true
      return {
        onProgress: () => {
          if (!isFirst) return
          isFirst = false
          void disturb().then(() => Promise.all(server.nodes.map((node) => node.slow(0))))
        },
      }
    }
    const CHANGES: { readonly [title: string]: () => Promise<unknown> } = {
      'a node is killed': () => server.nodes[1].kill(),
      'a node is started again and has forgotten them': () => server.nodes[1].restart(),
    }
    for (const [change, disturb] of Object.entries(CHANGES)) {
      it(`are started again where ${change}: every value is written`, async () => {
        expect(await all().update({ n: 5 }, await midway(disturb))).to.deep.equal({
          written: COUNT,
          failed: 0,
          by: 'server',
        })
        expect(await values()).to.deep.equal(new Map([[5, COUNT]]))
      })

      it(`are started again where ${change}: every record is deleted`, async () => {
        expect(await all().delete(await midway(disturb))).to.include({ failed: 0, by: 'server' })
        expect(await db.scan(Item).count()).to.equal(0)
      })

      it(`are in doubt where ${change} during an increment, which no record gets twice`, async () => {
        const error = (await all()
          .update({ n: inc(1) }, await midway(disturb))
          .catch((e: unknown) => e)) as SkeinError
        expect(error).to.have.property('code', 'SKEIN_4206')
        expect(error.message)
          .to.include('Item')
          .and.to.match(/nodes came or went/)
          .and.to.match(/inc/)
        const found = await values()
        // On a busy machine the node may have ended before it is lost.
        expect((found.get(0) ?? 0) + (found.get(1) ?? 0)).to.equal(COUNT)
      })
    }

    it('are started again where a node freezes and is left out by the others', async () => {
      const disturbed = await midway(() => server.nodes[1].freeze())
      expect(await all().update({ n: 3 }, disturbed)).to.include({ written: COUNT, failed: 0 })
      expect(await values()).to.deep.equal(new Map([[3, COUNT]]))
    })

    it('complete an update that ends its own condition, and count no record twice', async () => {
      const disturbed = await midway(() => server.nodes[1].kill())
      const { written } = await all().where({ n: 0 }).update({ n: 7 }, disturbed)
      expect(await values()).to.deep.equal(new Map([[7, COUNT]]))
      expect(written).to.be.within(COUNT / 2, COUNT)
    })

    it('are started again where a node joins that takes over partitions', async () => {
      await server.nodes[2].kill()
      const disturbed = await midway(() => server.nodes[2].restart())
      expect(await all().update({ n: 9 }, disturbed)).to.include({ failed: 0 })
      expect(await values()).to.deep.equal(new Map([[9, COUNT]]))
    })
  })
}
