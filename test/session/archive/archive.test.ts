import Aerospike from 'aerospike'
import { expect } from 'chai'
import { AlreadyExistsError, NotFoundError, SkeinError, VersionConflictError, type Database } from 'skein'
import { isNamedServer, MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { Money, Shop, orderIn, type Order } from './archive-models.js'
import { rejection } from '../rejection.js'

for (const mode of MODES) {
  describe(`archives (${mode})`, function () {
    if (isNamedServer) return
    const cold = mode === 'ap' ? 'test' : 'more'
    const Archived = orderIn(cold)
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, [Archived, Shop], (opened) => ({ db, server, namespace } = opened))
    beforeEach(async () => {
      await db.client.truncate(cold, 'ar_order', 0)
      await new Promise((resolve) => setTimeout(resolve, 3))
    })

    const order = (id: number, values: Partial<Order> = {}): Order =>
      Object.assign(new Archived(), { id, text: 'a', rate: 2, ...values })
    const stored = (where: string, id = 1): Promise<Record<string, unknown> | null> =>
      db.client.get(new Aerospike.Key(where, 'ar_order', id)).then(
        ({ bins }) => bins,
        () => null,
      )

    it('take a record as it is, and give it back', async () => {
      await db.session().save(Object.assign(new Shop(), { id: 's', name: 'Shop' }))
      const session = db.session()
      const price = Object.assign(new Money(), { amount: 3 })
      const one = order(1, { tags: ['b', 'a'], counts: new Map([[1, 2n]]), price, paidAt: new Date(5) })
      one.shop.set('s')
      await session.save(one)
      await session.save(Object.assign(one, { text: 'b' }))
      const before = await stored(namespace)
      expect(await session.archive(one)).to.equal(true)
      expect(await stored(namespace)).to.equal(null)
      expect({ ...(await stored(cold)), '_sk.moved': undefined }).to.deep.equal({ ...before, '_sk.moved': undefined })
      expect(await session.find(Archived, 1)).to.equal(null)
      const archived = await session.load(Archived, 1, { from: 'archive' })
      expect(archived).to.deep.include({ text: 'b', rate: 2, tags: ['a', 'b'], version: 2, shopName: 'Shop', price })
      expect(archived.shop.key).to.equal('s')
      expect(await session.unarchive(Archived, 1)).to.equal(true)
      expect({ ...(await stored(namespace)), '_sk.moved': undefined }).to.deep.equal({
        ...before,
        '_sk.moved': undefined,
      })
      const back = await session.load(Archived, 1)
      // The server adds to it as to the number that it was.
      back.rate = 2.5
      back.tags = ['c', 'a']
      await session.save(back)
      expect(await db.session().load(Archived, 1)).to.deep.include({ rate: 2.5, tags: ['a', 'c'], version: 3 })
      expect(
        await db
          .scan(Archived)
          .where({ rate: { gt: 2.4 } })
          .count(),
      ).to.equal(1)
    })

    it('are asked with the others by from: any, in one batch more', async () => {
      const session = db.session()
      for (const id of [1, 2]) await session.save(order(id))
      await session.archive(Archived, 2)
      expect(await session.findMany(Archived, [1, 2, 3])).to.have.property('1', null)
      const fresh = db.session()
      let found: (Order | null)[] = []
      const { commands } = await server.commands.during(
        async () => (found = await fresh.findMany(Archived, [1, 2], { from: 'any' })),
      )
      expect(commands).to.equal(2)
      expect(found.map((each) => each?.id)).to.deep.equal([1, 2])
      expect(await fresh.find(Archived, 3, { from: 'any' })).to.equal(null)
      expect(await rejection(() => fresh.load(Archived, 1, { from: 'archive' }))).to.be.instanceOf(NotFoundError)
    })

    it('are loaded with what they refer to outside of them', async () => {
      await db.session().save(Object.assign(new Shop(), { id: 's', name: 'Shop' }))
      const one = order(1)
      one.shop.set('s')
      await db.session().save(one)
      await db.session().archive(Archived, 1)
      const { shop } = await db.session().load(Archived, 1, { from: 'archive', with: ['shop'] })
      expect(shop.value?.name).to.equal('Shop')
    })

    it('give entities that no save can store a second time', async () => {
      const session = db.session()
      const one = order(1)
      await session.save(one)
      await session.archive(one)
      for (const each of [one, await session.load(Archived, 1, { from: 'any' })]) {
        each.text = 'changed'
        const error = await rejection(() => db.session().save(each))
        expect(error).to.have.property('code', 'SKEIN_2319')
      }
      expect(session.isDirty()).to.equal(false)
    })

    it('refuse changes that were not sent, other classes, unknown options and transactions', async () => {
      const session = db.session()
      const one = order(1)
      await session.save(one)
      one.text = 'b'
      expect(await rejection(() => session.archive(one))).to.have.property('code', 'SKEIN_2319')
      expect(await rejection(() => session.archive(Shop, 's'))).to.have.property('code', 'SKEIN_2318')
      expect(await rejection(() => session.load(Shop, 's', { from: 'any' }))).to.have.property('code', 'SKEIN_2318')
      const wrong = [
        () => session.load(Archived, 1, { from: 'cold' as 'any' }),
        () => session.archive(Archived, 1, { force: true } as object),
        () => db.archive(Archived, { olderThan: 5 as unknown as Date }),
        () => db.archive(Archived, { olderThan: new Date(), by: 'text' }),
      ]
      for (const each of wrong) expect(await rejection(each)).to.have.property('code', 'SKEIN_2320')
      if (mode === 'sc') {
        const inside = (): Promise<unknown> => db.transaction((other) => other.archive(Archived, 1))
        expect(await rejection(inside)).to.have.property('code', 'SKEIN_2313')
      }
      expect(await session.archive(Archived, 7)).to.equal(false)
      expect(await stored(namespace)).to.not.equal(null)
    })

    it('take the records of a class that are older than a time', async () => {
      await db.withSession((session) => {
        for (let id = 1; id <= 30; id++) session.persist(order(id, { paidAt: new Date(id) }))
      })
      const told: number[] = []
      const onProgress = ({ archived }: { archived: number }): number => told.push(archived)
      expect(await db.archive(Archived, { olderThan: new Date(11), by: 'paidAt', onProgress })).to.equal(10)
      expect(told.at(-1)).to.equal(10)
      expect(await db.scan(Archived).count()).to.equal(20)
      expect(await db.archive(Archived, { olderThan: new Date(11), by: 'paidAt' })).to.equal(0)
      expect(await db.archive(Archived, { olderThan: new Date(Date.now() + 60_000) })).to.equal(20)
      const session = db.session()
      expect(await session.findMany(Archived, [1, 30], { from: 'archive' })).to.not.include(null)
    })

    it('take over what a move that was cut off has left in both places', async () => {
      const session = db.session()
      await session.save(order(1, { text: 'new' }))
      await db.client.put(new Aerospike.Key(cold, 'ar_order', 1), { id: 1, text: 'old', extra: 'x' })
      expect((await session.load(Archived, 1, { from: 'any' })).text).to.equal('new')
      expect(await session.archive(Archived, 1)).to.equal(true)
      expect(await stored(cold))
        .to.include({ text: 'new' })
        .and.not.have.property('extra')
    })

    it('keep the time to live and what other programs have stored', async () => {
      const session = db.session()
      const one = order(1)
      await session.save(one, { ttl: 1000 })
      await db.client.put(new Aerospike.Key(namespace, 'ar_order', 1), { other: { a: [1, 'b'] } }, { ttl: -2 })
      const before = await db.client.get(new Aerospike.Key(namespace, 'ar_order', 1))
      await session.archive(Archived, 1)
      const { bins, ttl } = await db.client.get(new Aerospike.Key(cold, 'ar_order', 1))
      expect(bins).to.deep.include({ other: { a: [1, 'b'] } })
      // The clock of a shared server may be ahead, and the client adds that to each time to live that it shows.
      const ahead = Math.max(0, before.ttl - 1000)
      expect(ttl).to.be.within(before.ttl + ahead - 100, before.ttl + ahead)
    })

    it('lose nothing while others change, archive, bring back and delete the same record', async () => {
      await db.session().save(order(1, { text: '0' }))
      const tolerate = (error: unknown): void => {
        expect(error).to.satisfy(
          (each: unknown) => each instanceof SkeinError && !(each instanceof AlreadyExistsError),
          String(error),
        )
      }
      let changes = 0
      const change = async (): Promise<void> => {
        for (let i = 0; i < 10; i++) {
          const session = db.session()
          const one = await session.find(Archived, 1)
          if (one === null) continue
          one.text = String(Number(one.text) + 1)
          await session.save(one).then(() => changes++, tolerate)
        }
      }
      const move = async (): Promise<void> => {
        for (let i = 0; i < 6; i++) {
          await db.session().archive(Archived, 1).catch(tolerate)
          await db.session().unarchive(Archived, 1).catch(tolerate)
        }
      }
      await Promise.all([change(), change(), move(), move()])
      const left = await db.session().load(Archived, 1, { from: 'any' })
      expect(Number(left.text)).to.equal(changes)
    })

    it('do not bring back what is deleted while it is moved', async () => {
      for (let round = 0; round < 5; round++) {
        await db.session().save(order(1))
        const [isMoved, isDeleted] = await Promise.all([
          db.session().archive(Archived, 1),
          db.session().delete(Archived, 1),
        ])
        const isThere = (await db.session().find(Archived, 1, { from: 'any' })) !== null
        expect(isThere, `${isMoved} ${isDeleted}`).to.equal(!isDeleted)
        if (isThere) await db.session().unarchive(Archived, 1)
        if (isThere) await db.session().delete(Archived, 1)
      }
    })

    it('are conflicts to sessions that have loaded the record before', async () => {
      const session = db.session()
      await session.save(order(1))
      const one = await session.load(Archived, 1)
      await db.session().archive(Archived, 1)
      one.text = 'b'
      expect(await rejection(() => session.save(one))).to.have.property('code', 'SKEIN_3003')
      await db.session().unarchive(Archived, 1)
      await db.withSession(async (other) => void ((await other.load(Archived, 1)).text = 'c'))
      expect(await rejection(() => session.save(one))).to.be.instanceOf(VersionConflictError)
    })
  })
}
