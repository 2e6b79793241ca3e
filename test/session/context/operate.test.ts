import Aerospike from 'aerospike'
import { expect } from 'chai'
import {
  Bin,
  Counter,
  DeletedAt,
  EntityGoneError,
  Key,
  NotFoundError,
  OneToMany,
  PartialFailureError,
  Record,
  SkeinError,
  UpdatedAt,
  Version,
  VersionConflictError,
  collection,
  type Database,
  type Session,
} from 'skein'
import { commandWords } from '../../command-words.js'
import { MODES, need, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { rejection } from '../rejection.js'

const { operations: op, lists, maps, hll } = Aerospike

@Record({ set: 'raw_page' })
class Page {
  @Key() id!: string
  @Bin() title?: string
  @Bin({ type: { list: 'int' } }) log: number[] = []
  @Bin({ type: { map: 'int' } }) votes = new Map<string, number>()
  @Counter() views = 0
  @Version() version?: number
  @UpdatedAt() changed?: Date
}

@Record({ set: 'raw_note' })
class Note {
  @Key() id!: string
  @Counter() views = 0
  @DeletedAt() deleted?: Date
}

@Record({ set: 'raw_kind', discriminator: 'kind' })
abstract class Kind {
  @Key() id!: string
  @Counter() views = 0
  @DeletedAt() deleted?: Date
}

@Record({ discriminatorValue: 'a' })
class KindA extends Kind {}

@Record({ discriminatorValue: 'b' })
class KindB extends Kind {}

@Record({ set: 'raw_item' })
class Item {
  @Key() id!: string
  @Bin() n: number = 0
}

@Record({ set: 'raw_list', key: '{owner}:{no}', tenant: true })
class List {
  @Bin() owner!: string
  @Bin({ type: 'int' }) no!: number
  @Bin() title?: string
  @OneToMany(() => Item, { strategy: 'keyList' }) items = collection<Item>()
}

for (const mode of MODES) {
  describe(`operations of the official client in a session (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [Page, Item, List, Note, Kind, KindA, KindB], (opened) => ({ db, server } = opened))
    beforeEach(() => db.session().save(Object.assign(new Page(), { id: 'home', title: 'Home', log: [1] })))
    afterEach(() => server.embedded?.faults.clear())

    const stored = (): Promise<Page> => db.session().load(Page, 'home')

    it('write and read in one command, count the version up and return their results', async () => {
      const { commands } = await server.commands.during(async () => {
        const results = await db
          .session()
          .operate(Page, 'home', [
            lists.append('log', 2),
            maps.put('votes', 'up', 1),
            op.incr('views', 2),
            op.read('title'),
          ])
        expect(results).to.include({ log: 2, votes: 1, title: 'Home' })
      })
      expect(commands).to.equal(1)
      const page = await stored()
      expect([page.log, page.views, page.version]).to.deep.equal([[1, 2], 2, 2])
      expect(page.changed).to.be.instanceOf(Date)
    })

    it('do what the mapper has no words for', async () => {
      const session = db.session()
      await session.operate(Page, 'home', [hll.add('visitors', ['a', 'b', 'a'], 8)])
      const { visitors } = await session.operate(Page, 'home', [hll.getCount('visitors')])
      expect(visitors).to.equal(2)
      expect((await stored()).version).to.equal(2)
    })

    it('never make a record, and say that there is none', async () => {
      const session = db.session()
      expect(await rejection(() => session.operate(Page, 'none', [op.write('title', 'x')]))).to.be.instanceOf(
        EntityGoneError,
      )
      expect(await rejection(() => session.operate(Page, 'none', [op.read('title')]))).to.be.instanceOf(NotFoundError)
      expect(await db.session().find(Page, 'none')).to.equal(null)
    })

    it('say of a record that is deleted softly that it is gone, as a handle does', async () => {
      for (const [kind, other] of [[Note], [KindA, KindB]] as const) {
        await db.session().save(Object.assign(new kind(), { id: 'n' }))
        const touch = (of: typeof Note | typeof KindA): Promise<unknown> =>
          rejection(() => db.session().operate(of, 'n', [op.incr('views', 1)]))
        if (other !== undefined) expect(await touch(other)).to.be.instanceOf(EntityGoneError)
        await db.session().delete(kind, 'n')
        const [raw, byHandle] = [
          await touch(kind),
          await rejection(async () => {
            const session = db.session()
            session.at(kind, 'n').counter('views').add(1)
            await session.flush()
          }),
        ] as SkeinError[]
        expect(raw).to.be.instanceOf(EntityGoneError)
        expect([raw.message, raw.details.fix]).to.deep.equal([byHandle.message, byHandle.details.fix])
        const read = await rejection(() => db.session().operate(kind, 'n', [op.read('views')]))
        expect(read).to.be.instanceOf(NotFoundError)
        expect((await db.session().find(kind, 'n', { deleted: 'include' }))?.views).to.equal(0)
      }
    })

    it('leave nothing stale in a loaded entity that could be written back', async () => {
      const session = db.session()
      const page = await session.load(Page, 'home')
      await session.operate(Page, 'home', [lists.append('log', 2)])
      expect(page.version).to.equal(2)
      page.log.push(3)
      expect(((await rejection(() => session.flush())) as SkeinError).code).to.equal('SKEIN_2202')
      page.log.pop()
      page.title = 'New'
      await session.flush()
      await session.load(Page, 'home')
      expect(page.log).to.deep.equal([1, 2])
      page.log.push(3)
      await session.flush()
      expect([(await stored()).log, page.version]).to.deep.equal([[1, 2, 3], 4])
    })

    it('check the version of a loaded entity and send nothing beside its unsent changes', async () => {
      const session = db.session()
      const page = await session.load(Page, 'home')
      page.log.push(9)
      const { commands } = await server.commands.during(async () => {
        const error = (await rejection(() => session.operate(Page, 'home', [lists.append('log', 2)]))) as SkeinError
        expect([error.code, error.details.property]).to.deep.equal(['SKEIN_2332', 'log'])
      })
      expect(commands).to.equal(0)
      await db.session().operate(Page, 'home', [op.incr('views', 1)])
      page.log.pop()
      const stale = await rejection(() => session.operate(Page, 'home', [lists.append('log', 2)]))
      expect(stale).to.be.instanceOf(VersionConflictError)
      expect((await stored()).log).to.deep.equal([1])
    })

    const inTransactions = mode === 'sc' ? it : it.skip
    inTransactions('take part in the transaction of their session', async () => {
      const failed = await rejection(() =>
        db.transaction(async (session) => {
          await session.operate(Page, 'home', [lists.append('log', 2)])
          expect((await session.operate(Page, 'home', [lists.size('log')])).log).to.equal(2)
          throw new Error('no')
        }),
      )
      expect((failed as Error).message).to.equal('no')
      expect((await stored()).log).to.deep.equal([1])
      await db.transaction(async (session) => {
        const page = await session.load(Page, 'home')
        await session.operate(Page, 'home', [lists.append('log', 2)])
        page.title = 'both'
      })
      expect([(await stored()).log, (await stored()).title]).to.deep.equal([[1, 2], 'both'])
    })

    it('are reported and never repeated when their answer is lost, unless twice is the same as once', async function () {
      const { faults } = need(this, server.embedded, 'only the embedded server makes faults')
      await db.session().save(Object.assign(new Item(), { id: 'a' }))
      await faults.add({ kind: 'write', set: 'raw_item', drop: true, after: true, times: 1 })
      const lost = await rejection(() => db.session().operate(Item, 'a', [op.incr('n', 1)]))
      expect(lost).to.be.instanceOf(PartialFailureError)
      expect((await db.session().load(Item, 'a')).n).to.equal(1)
      await faults.add({ kind: 'write', set: 'raw_item', drop: true, times: 1 })
      await db.session().operate(Item, 'a', [op.write('n', 7)], { idempotent: true })
      expect((await db.session().load(Item, 'a')).n).to.equal(7)
    })

    it('fail alone when the client refuses one of them, whatever else is sent', async () => {
      const ids = Array.from({ length: 50 }, (_, i) => `i${i}`)
      await Promise.all(ids.map((id) => db.session().save(Object.assign(new Item(), { id }))))
      const unknown = Object.assign(op.write('n', 3), { op: 9999 })
      const outcomes = await Promise.allSettled(
        ids.map((id, i) =>
          db.session().operate(Item, id, [i === 7 ? unknown : op.write('n', 3)], { idempotent: true }),
        ),
      )
      expect(outcomes.flatMap(({ status }, i) => (status === 'rejected' ? [i] : []))).to.deep.equal([7])
      expect((await db.session().load(Item, 'i8')).n).to.equal(3)
    })

    it('that only read share a batch with one another and with the loads of their tick', async () => {
      const ids = Array.from({ length: 20 }, (_, i) => `i${i}`)
      await Promise.all(ids.map((id, i) => db.session().save(Object.assign(new Item(), { id, n: i }))))
      const session = db.session()
      let results: unknown
      const words = await commandWords(server, async () => {
        const asked = ids.slice(1).map((id) => session.operate(Item, id, [op.read('n')]))
        const [first, ...others] = await Promise.all([session.load(Item, 'i0'), ...asked])
        results = [first.n, ...others.map(({ n }) => n)]
      })
      expect(words).to.deep.equal(['batch×20'])
      expect(results).to.deep.equal(ids.map((_, i) => i))
    })

    it('that may be repeated share batches, each with its own result, and return what they read before they wrote', async () => {
      const ids = Array.from({ length: 60 }, (_, i) => `i${i}`)
      await Promise.all(ids.map((id, i) => db.session().save(Object.assign(new Item(), { id, n: i }))))
      const idempotent = { idempotent: true }
      const words = await commandWords(server, async () => {
        const done = ids.map((id) => db.session().operate(Item, id, [op.write('seen', 1), op.read('n')], idempotent))
        expect((await Promise.all(done)).map(({ n }) => n)).to.deep.equal(ids.map((_, i) => i))
      })
      expect(words.length).to.be.lessThan(20)
      const exchanged = ids.map((id) => db.session().operate(Item, id, [op.read('n'), op.write('n', -1)], idempotent))
      expect((await Promise.all(exchanged)).map(({ n }) => n)).to.deep.equal(ids.map((_, i) => i))
      expect((await db.session().load(Item, 'i5')).n).to.equal(-1)
    })

    it('that only read fail alone when the client refuses one of them, also in a transaction', async () => {
      const ids = Array.from({ length: 30 }, (_, i) => `i${i}`)
      await Promise.all(ids.map((id) => db.session().save(Object.assign(new Item(), { id, n: 3 }))))
      const refused = Object.assign(lists.get('n', 0), { index: 'no number' })
      const ask = (session: Session): Promise<PromiseSettledResult<unknown>[]> =>
        Promise.allSettled(ids.map((id, i) => session.operate(Item, id, [i === 7 ? refused : op.read('n')])))
      const outcomes = await ask(db.session())
      expect(outcomes.flatMap(({ status }, i) => (status === 'rejected' ? [i] : []))).to.deep.equal([7])
      if (mode === 'ap') return
      const error = await rejection(() =>
        db.transaction((session) => Promise.all([session.load(Item, 'i1'), session.operate(Item, 'i7', [refused])])),
      )
      expect(error).to.be.instanceOf(SkeinError)
    })

    it('wait for earlier work on their record, and later work waits for them', async () => {
      const session = db.session()
      const page = await session.load(Page, 'home')
      page.title = 'first'
      const saved = session.save(page)
      const done = session.operate(Page, 'home', [op.read('title'), op.write('extra', 'then')])
      page.views += 1
      await Promise.all([saved, done, session.flush()])
      expect(await done).to.include({ title: 'first' })
      expect([(await stored()).views, page.version]).to.deep.equal([1, 4])
    })

    it('take keys by their parts and of the tenant', async () => {
      const acme = db.session({ tenant: 'acme' })
      await acme.save(Object.assign(new List(), { owner: 'ann', no: 1, title: 'one' }))
      const results = await acme.operate(List, { owner: 'ann', no: 1 }, [op.read('title')])
      expect(results).to.deep.equal({ title: 'one' })
      expect(
        await rejection(() =>
          db.session({ tenant: 'other' }).operate(List, { owner: 'ann', no: 1 }, [op.read('title')]),
        ),
      ).to.be.instanceOf(NotFoundError)
      expect(
        await rejection(() => db.session().operate(List, { owner: 'ann', no: 1 }, [op.read('title')])),
      ).to.be.instanceOf(SkeinError)
    })

    it('are refused before anything is sent where they would break what Skein keeps', async () => {
      const bad: readonly (readonly unknown[])[] = [
        [],
        [{}],
        [null],
        [op.delete()],
        [op.incr('version', 1)],
        [op.write('id', 'other')],
        [op.write(new Aerospike.Bin('title', 'x') as never, 'x')],
        [op.read('a name that is too long')],
      ]
      const { commands } = await server.commands.during(async () => {
        for (const operations of bad) {
          const error = (await rejection(() => db.session().operate(Page, 'home', operations as never))) as SkeinError
          expect(error.code).to.equal('SKEIN_2332')
        }
        const unknown = await rejection(() =>
          db.session().operate(Page, 'home', [op.read('title')], { again: 1 } as never),
        )
        expect((unknown as SkeinError).code).to.equal('SKEIN_2320')
      })
      expect(commands).to.equal(0)
    })
  })
}
