import { expect } from 'chai'
import { Bin, Index, Key, Record, open, type Database } from 'skein'
import { startEmbedded, type EmbeddedServer } from 'skein/embedded'
import { dropIndex } from '#src/driver/create-index.js'
import { MODES } from '../server.js'
import { rejection } from '../session/rejection.js'

@Record({ set: 'ib_item' })
class Item {
  @Key() id!: number
  @Index() @Bin({ type: 'int' }) price!: number
}

for (const mode of MODES) {
  describe(`an index that is being built (${mode})`, () => {
    let server: EmbeddedServer
    let db: Database
    before(async () => {
      server = await startEmbedded({ nodes: 3, namespaces: [`test:${mode}`] })
      db = await open({ hosts: server.hosts, namespace: 'test', entities: [Item], retry: { deadline: 300 } })
      await db.withSession((session) => {
        for (let id = 0; id < 500; id++) session.create(Item, { id, price: id })
      })
    })
    after(async () => {
      await db?.close()
      await server?.stop()
    })

    /** Begins to build the index, held at 40 per cent. */
    const building = async (): Promise<{ finish: () => Promise<void>; synced: Promise<unknown>; seen: number[] }> => {
      await dropIndex(db.client, 'test', 'ib_item_price').catch(() => undefined)
      const finish = await server.holdIndexes(40)
      const seen: number[] = []
      let tell: () => void
      const told = new Promise<void>((resolve) => (tell = resolve))
      const synced = db.indexes.sync({
        onProgress: ({ percent }) => {
          seen.push(percent)
          if (percent === 40) tell()
        },
      })
      await told
      return { finish, synced, seen }
    }

    it('is waited for by sync, which says how far it is', async () => {
      const { finish, synced, seen } = await building()
      expect((await db.indexes.diff()).building.map(({ name }) => name)).to.deep.equal(['ib_item_price'])
      await finish()
      await synced
      expect(seen).to.include(40)
      expect(seen.at(-1)).to.equal(100)
      expect((await db.indexes.diff()).building).to.deep.equal([])
    })

    it('makes a query fail after its deadline with how far it is, and answers it when it is ready', async () => {
      const { finish, synced } = await building()
      const dear = db.query(Item).where({ price: { gte: 400 } })
      const error = (await rejection(() => dear.count())) as Error
      expect(error).to.have.property('code', 'SKEIN_4211')
      expect(error.message).to.include("Index 'ib_item_price' of Item is still being built (40 %)")
      // The whole set may be read.
      expect(await dear.scan().count()).to.equal(100)
      const patient = await open({
        hosts: server.hosts,
        namespace: 'test',
        entities: [Item],
        retry: { deadline: 60_000 },
      })
      const counted = patient
        .query(Item)
        .where({ price: { gte: 400 } })
        .count()
      await finish()
      expect(await counted).to.equal(100)
      await synced
      await patient.close()
    })

    it('takes in what is written meanwhile', async () => {
      const { finish, synced } = await building()
      await db.withSession((session) => void session.create(Item, { id: 1000, price: 1000 }))
      await finish()
      await synced
      expect(await db.query(Item).where({ price: 1000 }).keys()).to.deep.equal([1000])
    })

    it('is held only at a share of the records', async () => {
      for (const percent of [-1, 100, 1.5, NaN, '40'])
        expect(await rejection(() => server.holdIndexes(percent as number))).to.have.property('code', 'SKEIN_2320')
    })
  })
}
