import { expect } from 'chai'
import { Bin, Counter, Key, PartialFailureError, Record, type Database } from 'skein'
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

for (const mode of MODES) {
  describe(`a change through a handle whose answer is lost (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [Page], (opened) => ({ db, server } = opened))
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
  })
}
