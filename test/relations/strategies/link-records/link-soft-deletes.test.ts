import { expect } from 'chai'
import type { Database, Session } from 'skein'
import { MODES, need, type TestServer } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'
import { Feed, Guest, Reader, Room, SOFT, STAYS, Stay, Subscription } from './link-models.js'

const FORBIDDEN = 22

for (const mode of MODES) {
  describe(`link records with @DeletedAt (${mode})`, () => {
    let db: Database
    let server: TestServer
    let session: Session
    useDatabase(mode, SOFT, (opened) => ({ db, server } = opened))
    beforeEach(async () => {
      await db.withSession(async (first) => {
        const [ann, bob] = ['ann', 'bob'].map((id) => first.create(Reader, { id }))
        const [news, jazz] = ['news', 'jazz'].map((id) => first.create(Feed, { id }))
        ann.feeds.link(news, { plan: 'free' })
        ann.feeds.link(jazz, { plan: 'paid' })
        bob.feeds.link(news, { plan: 'paid' })
      })
      session = db.session()
    })
    afterEach(async () => {
      const found: string[] = []
      for await (const { message } of db.verify(SOFT, { settle: 0 })) found.push(message)
      expect(found).to.deep.equal([])
    })
    const unlink = (reader: string, feed: string): Promise<void> =>
      db.withSession(async (one) => one.at(Reader, reader).collection('feeds').unlink(feed))
    const keys = async (): Promise<readonly unknown[]> =>
      [...(await db.scan(Subscription, { deleted: 'include' }).keys())].sort()

    it('are stamped when they are unlinked, and left out of everything', async () => {
      const ann = await session.load(Reader, 'ann', { with: ['feeds.readers'] })
      ann.feeds.unlink('news')
      expect(ann.feeds.items.map(({ id }) => id)).to.deep.equal(['jazz'])
      await session.flush()
      expect(ann.feeds.items.map(({ id }) => id)).to.deep.equal(['jazz'])

      const read = await db.session().load(Reader, 'ann', { with: ['feeds'] })
      expect(read.feeds.items.map(({ id }) => id)).to.deep.equal(['jazz'])
      const { feeds } = await db.session().load(Reader, 'ann')
      const { readers } = await db.session().load(Feed, 'news')
      expect([await feeds.count(), await feeds.keys(), await feeds.contains('news')]).to.deep.equal([
        1,
        ['jazz'],
        false,
      ])
      expect([await readers.count(), await readers.keys(), await readers.contains('ann')]).to.deep.equal([
        1,
        ['bob'],
        false,
      ])
      expect((await feeds.page({ count: 5 })).map(({ id }) => id)).to.deep.equal(['jazz'])
      expect(await feeds.linkOf('news')).to.equal(null)
      expect(await db.session().linkOf(Subscription, 'ann', 'news')).to.equal(null)
      expect(await db.session().walk(Reader, 'ann').out('feeds').keys()).to.deep.equal(['jazz'])
      expect(await db.session().walk(Feed, 'news').out('readers').keys()).to.deep.equal(['bob'])
    })

    it('are shown on request', async () => {
      await unlink('ann', 'news')
      const { feeds } = await session.load(Reader, 'ann')
      const { readers } = await session.load(Feed, 'news')
      expect((await feeds.linkOf('news', { deleted: 'include' }))?.plan).to.equal('free')
      expect(await feeds.keys({ deleted: 'only' })).to.deep.equal(['news'])
      expect(await feeds.count({ deleted: 'include' })).to.equal(2)
      for (const [end, member] of [
        [feeds, 'news'],
        [readers, 'ann'],
      ] as const)
        expect([
          await end.contains(member),
          await end.contains(member, { deleted: 'include' }),
          await end.contains(member, { deleted: 'only' }),
          await feeds.contains('jazz', { deleted: 'only' }),
        ]).to.deep.equal([false, true, true, false])
      expect((await feeds.page({ count: 5, deleted: 'only' })).map(({ id }) => id)).to.deep.equal(['news'])
      expect((await readers.page({ count: 5, deleted: 'only' })).map(({ id }) => id)).to.deep.equal(['ann'])
      const streamed: string[] = []
      for await (const { id } of feeds.stream({ deleted: 'include' })) streamed.push(id)
      expect(streamed).to.deep.equal(['jazz', 'news'])
      const ended = await session.linkOf(Subscription, 'ann', 'news', { deleted: 'only' })
      expect(ended?.endedAt).to.be.instanceOf(Date)
      const walked = await db.session().walk(Reader, 'ann', { deleted: 'include' }).out('feeds').keys()
      expect([...walked].sort()).to.deep.equal(['jazz', 'news'])
    })

    it('are restored, or replaced by a new link', async () => {
      await unlink('ann', 'news')
      await unlink('ann', 'jazz')
      expect(await session.restore(Subscription, { reader: 'ann', feed: 'news' })).to.equal(true)
      const ann = await db.session().load(Reader, 'ann', { with: ['feeds'] })
      expect(ann.feeds.items.map(({ id }) => id)).to.deep.equal(['news'])
      await db.withSession(async (one) => one.at(Feed, 'jazz').collection('readers').link('ann', { plan: 'new' }))
      const link = await db.session().load(Subscription, 'ann:jazz')
      expect([link.plan, link.endedAt]).to.deep.equal(['new', undefined])
      const both = await db.session().load(Reader, 'ann', { with: ['feeds'] })
      expect(both.feeds.items.map(({ id }) => id)).to.deep.equal(['jazz', 'news'])
    })

    it('are purged for good, off both ends', async () => {
      await unlink('ann', 'news')
      expect(await db.purge(Subscription, { olderThan: new Date(Date.now() + 60_000) })).to.equal(1)
      const { feeds } = await session.load(Reader, 'ann')
      expect(await feeds.keys({ deleted: 'include' })).to.deep.equal(['jazz'])
      expect(await session.linkOf(Subscription, 'ann', 'news', { deleted: 'include' })).to.equal(null)
    })

    it('go for good with an end that does, ended or not, off the lists of the others', async () => {
      await unlink('ann', 'news')
      await session.delete(Feed, 'news')
      expect(await keys()).to.deep.equal(['ann:jazz'])
      expect(await session.at(Reader, 'ann').collection('feeds').keys({ deleted: 'include' })).to.deep.equal(['jazz'])
      await unlink('ann', 'jazz')
      const ann = await session.load(Reader, 'ann')
      session.remove(ann)
      await session.flush()
      expect(await keys()).to.deep.equal([])
    })

    for (const set of ['lreader', 'lfeed', 'lsubscription'])
      for (const end of [Reader, Feed] as const)
        it(`go with ${end === Reader ? 'a listing' : 'an indexed'} end once the delete is repeated, when writes to ${set} fail`, async function () {
          const { faults } = need(this, server.embedded, 'faults need the embedded server')
          const key = end === Reader ? 'ann' : 'news'
          await unlink('ann', 'news')
          const remove = (): Promise<boolean> => db.session().delete(end as typeof Reader, key)
          await faults.add({ kind: ['write', 'delete'], set, answer: FORBIDDEN, times: 100 })
          await remove().catch(() => undefined)
          await faults.clear()
          await remove()
          expect(await keys()).to.deep.equal(end === Reader ? ['bob:news'] : ['ann:jazz'])
        })

    it('go with an end that has more of them than one plan holds', async () => {
      const ids = Array.from({ length: 40 }, (_, i) => `f${i}`)
      await db.withSession(async (one) => {
        const ann = await one.load(Reader, 'ann')
        for (const id of ids) ann.feeds.add(one.create(Feed, { id }))
        const big = one.create(Feed, { id: 'big' })
        for (const id of ids) big.readers.add(one.create(Reader, { id }))
      })
      await db.withSession(async (one) => {
        for (const id of ids.slice(0, 20)) {
          one.at(Reader, 'ann').collection('feeds').unlink(id)
          one.at(Feed, 'big').collection('readers').unlink(id)
        }
      })
      await session.delete(Reader, 'ann', { step: 10 })
      await session.delete(Feed, 'big', { step: 10 })
      expect(await keys()).to.deep.equal(['bob:news'])
    })
  })

  describe(`ended link records at ends that refuse a delete (${mode})`, () => {
    let db: Database
    useDatabase(mode, STAYS, (opened) => ({ db } = opened))

    it('do not forbid it, and go with the end', async () => {
      await db.withSession(async (session) => {
        const [ann, bob] = ['ann', 'bob'].map((id) => session.create(Guest, { id }))
        session.create(Room, { id: 1 }).guests.add(ann, bob)
        session.create(Room, { id: 2 }).guests.add(ann)
      })
      const session = db.session()
      for (const refused of [session.delete(Room, 1), session.delete(Guest, 'bob')])
        expect(await refused.catch((error: Error) => error.name)).to.equal('RestrictedError')
      for (const guest of ['ann', 'bob']) session.at(Room, 1).collection('guests').unlink(guest)
      await session.flush()
      const left = async (): Promise<readonly unknown[]> =>
        [...(await db.scan(Stay, { deleted: 'include' }).keys())].sort()
      expect(await db.session().delete(Guest, 'bob')).to.equal(true)
      expect(await left()).to.deep.equal(['1:ann', '2:ann'])
      expect(await db.session().delete(Room, 1)).to.equal(true)
      expect(await left()).to.deep.equal(['2:ann'])
      for await (const { message } of db.verify(STAYS, { settle: 0 })) expect.fail(message)
    })
  })
}
