import { expect } from 'chai'
import { Bin, DeletedAt, Index, Key, Record, Version, inc, type Database } from 'skein'
import { dropIndex } from '#src/driver/create-index.js'
import { MODES } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

const unique = `qm${process.pid}${Date.now() % 1e6}`

@Record({ set: `${unique}l` })
class Listing {
  @Key() id!: number
  @Index() @Bin() city!: string
  @Bin({ type: 'int' }) price = 0
}

@Record({ set: `${unique}d` })
class Draft {
  @Key() id!: number
  @Index() @Bin() city!: string
  @Version() version?: number
  @DeletedAt() deletedAt?: Date
}

for (const mode of MODES) {
  describe(`a query whose index is missing on the server (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Listing, Draft], (opened) => ({ db } = opened))
    beforeEach(() =>
      db.withSession((session) => {
        for (let id = 0; id < 6; id++) session.create(Listing, { id, city: id < 4 ? 'Bern' : 'Basel', price: 0 })
      }),
    )
    afterEach(() => db.indexes.sync())
    const drop = async (): Promise<void> => {
      const { namespace } = db.model.entity(Listing)
      await dropIndex(db.client, namespace, db.model.entity(Listing).indexes[0].name)
    }

    it('names the index and what creates it', async () => {
      await drop()
      const error = await rejection(() => db.query(Listing).where({ city: 'Bern' }).toArray())
      expect(error).to.have.property('code', 'SKEIN_4211')
      expect((error as Error).message).to.include('db.indexes.sync()')
    })

    it('reads the whole set where a scan is allowed', async () => {
      const bern = db.scan(Listing).where({ city: 'Bern' })
      expect(bern.explain().index).to.be.a('string')
      await drop()
      expect(await bern.count()).to.equal(4)
      expect((await bern.toArray()).map(({ id }) => id).sort()).to.deep.equal([0, 1, 2, 3])
      expect((await bern.orderBy('id', 'desc').limit(2).toArray()).map(({ id }) => id)).to.deep.equal([3, 2])
      expect(await bern.first()).to.have.property('city', 'Bern')
      const page = await bern.page({ count: 3 })
      expect([page.length, (await bern.page({ count: 3, after: page.next })).length]).to.deep.equal([3, 1])
      expect(await db.session().query(Listing).where({ city: 'Basel' }).scan().toArray()).to.have.length(2)
      expect(await bern.update({ price: 5 })).to.include({ written: 4, by: 'server' })
      // Increments are not sent twice.
      expect(await rejection(() => bern.update({ price: inc(1) }))).to.have.property('code', 'SKEIN_4211')
      expect(await db.scan(Listing).sum('price')).to.equal(20)
      expect(await bern.delete()).to.include({ written: 4 })
    })
  })

  describe(`a bulk operation on a class with soft deletes (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Draft], (opened) => ({ db } = opened))

    it('counts what it deletes, and refuses what is deleted already', async () => {
      await db.withSession((session) => {
        for (let id = 0; id < 6; id++) session.create(Draft, { id, city: 'Bern' })
      })
      const drafts = db.query(Draft).where({ city: 'Bern' })
      expect(await drafts.delete()).to.include({ written: 6, failed: 0 })
      expect(await drafts.delete()).to.include({ written: 0, failed: 0 })
      for (const deleted of ['include', 'only'] as const) {
        const shown = db.query(Draft, { deleted }).where({ city: 'Bern' })
        expect(await shown.count()).to.equal(6)
        const error = await rejection(() => shown.delete({ dryRun: true }))
        expect(error).to.have.property('code', 'SKEIN_2320')
        expect((error as Error).message).to.include('db.purge(Draft')
        const other = await rejection(() => shown.update({ city: 'Basel' }))
        expect((other as Error).message).to.include('session.restore')
      }
    })
  })
}
