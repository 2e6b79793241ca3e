import aerospike from 'aerospike'
import { expect } from 'chai'
import { Bin, Counter, Key, PartialFailureError, Record, Version, type Database } from 'skein'
import { MODES, need, type TestServer } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

@Record({ set: 'rec_doubt' })
class Page {
  @Key() id!: number
  @Bin({ type: { set: 'string' } }) tags = new Set<string>()
  @Bin({ type: { map: 'int' } }) votes = new Map<string, number>()
  @Counter() views = 0
}

@Record({ set: 'rec_doubt_versioned' })
class Versioned extends Page {
  @Version() version?: number
}

for (const mode of MODES) {
  describe(`a change through a handle whose answer is lost (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [Page, Versioned], (opened) => ({ db, server } = opened))
    afterEach(() => server.embedded?.faults.clear())

    it('is reported and not repeated when it counts', async function () {
      const { faults } = need(this, server.embedded, 'only the embedded server makes faults')
      await db.session().save(Object.assign(new Page(), { id: 1 }))
      const session = db.session()
      const page = session.at(Page, 1)
      page.counter('views').add(1)
      page.map('votes').increment('up')
      await faults.add({ kind: 'write', set: 'rec_doubt', drop: true, after: true, times: 1 })
      const error = await rejection(() => session.flush())
      expect(error).to.be.instanceOf(PartialFailureError)
      expect((error as PartialFailureError).records.map(({ outcome }) => outcome)).to.deep.equal(['inDoubt'])
      await session.flush()
      const { views, votes } = await db.session().load(Page, 1)
      expect([views, votes.get('up')]).to.deep.equal([1, 1])
    })

    it('is repeated when twice is the same as once', async function () {
      const { faults } = need(this, server.embedded, 'only the embedded server makes faults')
      await db.session().save(Object.assign(new Page(), { id: 1 }))
      const session = db.session()
      session.at(Page, 1).set('tags').add('hot')
      session.at(Page, 1).map('votes').put('up', 3)
      await faults.add({ kind: 'write', set: 'rec_doubt', drop: true, times: 1 })
      await session.flush().catch(() => session.flush())
      const { tags, votes } = await db.session().load(Page, 1)
      expect([...tags, votes.get('up')]).to.deep.equal(['hot', 3])
      expect(session.isDirty()).to.equal(false)
    })

    for (const after of [true, false])
      it(`is repeated by the same flush where the class has a version, if the write was lost ${after ? 'after' : 'before'} it took effect`, async function () {
        const { faults } = need(this, server.embedded, 'only the embedded server makes faults')
        for (const options of [undefined, { create: true }] as const) {
          await db.session().upsert(Object.assign(new Versioned(), { id: 1, tags: new Set(['old']) }))
          const { version } = await db.session().load(Versioned, 1)
          const session = db.session()
          const page = session.at(Versioned, 1, options)
          page.set('tags').add('hot')
          page.set('tags').remove('old')
          page.map('votes').put('up', 3)
          await faults.add({ kind: 'write', set: 'rec_doubt_versioned', drop: true, after, times: 1 })
          await session.flush()
          await faults.add({ kind: 'write', set: 'rec_doubt_versioned', drop: true, after, times: 1 })
          await session.operate(Versioned, 1, [aerospike.maps.put('votes', 'down', 4)], { idempotent: true })
          const stored = await db.session().load(Versioned, 1)
          expect([[...stored.tags], [...stored.votes]]).to.deep.equal([['hot'], [['down', 4], ['up', 3]]]) // prettier-ignore
          expect(stored.version, 'others see that it was changed').to.be.greaterThan(version! + 1)
        }
      })

    it('is reported and not repeated when it counts, also where the class has a version', async function () {
      const { faults } = need(this, server.embedded, 'only the embedded server makes faults')
      await db.session().save(Object.assign(new Versioned(), { id: 1 }))
      const session = db.session()
      session.at(Versioned, 1).map('votes').put('up', 3)
      session.at(Versioned, 1).counter('views').add(1)
      await faults.add({ kind: 'write', set: 'rec_doubt_versioned', drop: true, after: true, times: 1 })
      expect(await rejection(() => session.flush())).to.be.instanceOf(PartialFailureError)
      await session.flush()
      expect((await db.session().load(Versioned, 1)).views).to.equal(1)
    })
  })
}
