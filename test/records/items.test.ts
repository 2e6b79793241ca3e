import { expect } from 'chai'
import { startEmbedded } from 'skein/embedded'
import {
  Bin,
  Embeddable,
  Embedded,
  EntityGoneError,
  Key,
  open,
  Record,
  SkeinError,
  Version,
  type Database,
} from 'skein'
import { MODES, need, type TestServer } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Place {
  @Bin() city?: string
}

@Embeddable()
class Line {
  @Bin() product!: string
  @Bin({ type: 'int' }) quantity: number = 0
}

@Embeddable()
class Item {
  @Bin() from!: string
  @Bin() kind!: string
  @Bin() read: boolean = false
  @Bin({ type: 'int' }) n: number = 0
  @Bin() at?: Date
  @Bin() note?: string
  @Bin({ type: { list: 'string' } }) tags: string[] = []
  @Embedded(() => Place) place?: Place
  @Embedded(() => Line, { as: 'array' }) lines: Line[] = []
}

@Record({ set: 'itm_user' })
class User {
  @Key() id!: string
  @Bin() name?: string
  @Embedded(() => Item, { as: 'array' }) items: Item[] = []
  @Bin({ type: { list: 'string' } }) log: string[] = []
}

@Record({ set: 'itm_versioned' })
class Versioned {
  @Key() id!: string
  @Version() version?: number
  @Embedded(() => Item, { as: 'array' }) items?: Item[]
}

const line = (product: string, quantity: number): Line => Object.assign(new Line(), { product, quantity })
const item = (values: Partial<Item>): Item => Object.assign(new Item(), values)
const day = (n: number): Date => new Date(Date.UTC(2025, 0, n))

const items = (): Item[] => [
  item({
    from: 'carol',
    kind: 'comment',
    n: 1,
    at: day(1),
    tags: ['a'],
    place: Object.assign(new Place(), { city: 'Bern' }),
  }),
  item({ from: 'dave', kind: 'like', n: 2, at: day(2), note: 'x', lines: [line('pen', 1), line('ink', 5)] }),
  item({ from: 'carol', kind: 'like', n: 3, read: true, lines: [line('pen', 9)] }),
]

for (const mode of MODES) {
  describe(`items of a list by conditions (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [User, Versioned], (opened) => ({ db, server } = opened))
    beforeEach(() => db.session().save(Object.assign(new User(), { id: 'alice', items: items() })))
    afterEach(() => server.embedded?.faults.clear())

    const stored = async (): Promise<Item[]> => (await db.session().load(User, 'alice')).items
    const numbers = (found: readonly Item[]): number[] => found.map(({ n }) => n)

    it('are selected and counted by one command each, by conditions on fields of any depth', async () => {
      const list = db.session().at(User, 'alice').list('items')
      const { commands } = await server.commands.during(async () => {
        const [found] = await list.where({ from: 'carol', read: false }).select()
        expect(found).to.be.instanceOf(Item)
        expect(found).to.include({ from: 'carol', kind: 'comment', n: 1 })
        expect([found.at, found.tags, found.place?.city]).to.deep.equal([day(1), ['a'], 'Bern'])
      })
      expect(commands).to.equal(1)
      const select = async (where: Parameters<typeof list.where>[0]): Promise<number[]> =>
        numbers(await list.where(where).select())
      expect(await select({ place: { city: 'Bern' } })).to.deep.equal([1])
      expect(await select({ n: { gt: 1, lte: 3 } })).to.deep.equal([2, 3])
      expect(await select({ from: { in: ['dave', 'erin'] } })).to.deep.equal([2])
      expect(await select({ at: { gte: day(2) } })).to.deep.equal([2])
      expect(await select({ note: null })).to.deep.equal([1, 3])
      expect(await select({ note: { ne: 'x' } })).to.deep.equal([1, 3])
      expect(await select({ tags: { has: 'a' } })).to.deep.equal([1])
      expect(await select({ from: { startsWith: 'ca' }, kind: 'like' })).to.deep.equal([3])
      expect(await select((one) => one.n.eq(1).or(one.from.eq('dave')))).to.deep.equal([1, 2])
      expect(await select((one) => one.place.city.eq('Bern').not())).to.deep.equal([2, 3])
      expect(await select({})).to.deep.equal([1, 2, 3])
      expect(await select({ n: { in: [] } })).to.deep.equal([])
      expect(await list.where({ kind: 'like' }).count()).to.equal(2)
    })

    it('cost bytes of the answer and not of the list', async function () {
      const { commands } = need(this, server.embedded, 'only the embedded server counts bytes')
      const many = Array.from({ length: 2000 }, (_, i) => item({ from: `u${i}`, kind: 'comment', n: i }))
      await db.session().save(Object.assign(new User(), { id: 'bob', items: many }))
      const session = db.session()
      const list = session.at(User, 'bob').list('items')
      const asked = await commands.during(async () => {
        expect(numbers(await list.where({ from: 'u1234' }).select())).to.deep.equal([1234])
        expect(await list.where({ n: { lt: 1000 } }).count()).to.equal(1000)
      })
      expect([asked.commands, asked.bytesOut < 500, asked.bytesIn < 1000]).to.deep.equal([2, true, true])
      list.where({ from: 'u7' }).set({ read: true })
      const sent = await commands.during(() => session.flush())
      expect([sent.commands, sent.bytesIn < 600]).to.deep.equal([1, true])
    })

    it('are set, incremented and removed by one command that reads nothing', async () => {
      const session = db.session()
      const list = session.at(User, 'alice').list('items')
      list.where({ from: 'carol', kind: 'comment' }).set({ read: true, note: 'seen', at: null })
      list.where({ kind: 'like' }).increment('n', 10)
      list.where({ from: 'dave' }).remove()
      const { commands } = await server.commands.during(() => session.flush())
      expect(commands).to.equal(1)
      const [first, second, ...rest] = await stored()
      expect(first).to.include({ read: true, note: 'seen', n: 1 })
      expect([first.at, first.tags, second.n, rest.length]).to.deep.equal([undefined, ['a'], 13, 0])
      expect(session.isDirty()).to.equal(false)
    })

    it('are reached in lists inside the items', async () => {
      const session = db.session()
      const list = session.at(User, 'alice').list('items')
      const pens = list.where({ kind: 'like' }).at('lines').where({ product: 'pen' })
      expect((await pens.select()).map(({ quantity }) => quantity)).to.deep.equal([1, 9])
      expect(
        await list
          .where({})
          .at('lines')
          .where({ quantity: { gt: 4 } })
          .count(),
      ).to.equal(2)
      pens.increment('quantity', 100)
      list.where({ from: 'dave' }).at('lines').where({ product: 'ink' }).remove()
      await session.flush()
      const lines = (await stored()).map((one) => one.lines.map(({ product, quantity }) => `${product} ${quantity}`))
      expect(lines).to.deep.equal([[], ['pen 101'], ['pen 109']])
    })

    it('lose nothing when many writers mark different items', async () => {
      const many = Array.from({ length: 30 }, (_, i) => item({ from: `u${i}`, kind: 'comment', n: 0 }))
      await db.session().save(Object.assign(new User(), { id: 'bob', items: many }))
      await Promise.all(
        many.map(async ({ from }) => {
          const session = db.session()
          const list = session.at(User, 'bob').list('items')
          list.where({ from }).set({ read: true })
          list.where({ kind: 'comment' }).increment('n')
          await session.flush()
        }),
      )
      const now = (await db.session().load(User, 'bob')).items
      expect(now.every(({ read, n }) => read && n === 30)).to.equal(true)
    })

    it('show unsent changes in questions', async () => {
      const session = db.session()
      const list = session.at(User, 'alice').list('items')
      list.append(item({ from: 'erin', kind: 'like', n: 4 }))
      list.where({ from: 'carol' }).set({ read: true })
      list.where({ from: 'dave' }).remove()
      expect(numbers(await list.where({ read: true }).select())).to.deep.equal([1, 3])
      expect(await list.where({ kind: 'like' }).count()).to.equal(2)
      expect(await list.size()).to.equal(3)
      await session.flush()
      expect(numbers(await stored())).to.deep.equal([1, 3, 4])
    })

    it('leave nothing stale in a loaded entity that could be written back', async () => {
      const session = db.session()
      const user = await session.load(User, 'alice')
      user.items.push(item({ from: 'erin', kind: 'like', n: 4 }))
      session.at(user).list('items').where({ kind: 'like' }).set({ read: true })
      await session.flush()
      user.items[0].note = 'late'
      expect(((await rejection(() => session.flush())) as SkeinError).code).to.equal('SKEIN_2202')
      user.items[0].note = undefined
      await session.load(User, 'alice')
      expect(user.items.map(({ read }) => read)).to.deep.equal([false, true, true, true])
      user.items[0].note = 'now'
      await session.flush()
      expect((await stored())[0].note).to.equal('now')
    })

    it('refuse a load beside changes that only the server can apply, and records that are not stored', async () => {
      const session = db.session()
      session.at(User, 'alice').list('items').where({}).set({ read: true })
      expect(((await rejection(() => session.load(User, 'alice'))) as SkeinError).code).to.equal('SKEIN_2331')
      await session.flush()
      expect((await session.load(User, 'alice')).items.every(({ read }) => read)).to.equal(true)
      const created = db.session()
      const user = created.create(User, { id: 'new' })
      expect(() => created.at(user).list('items').where({}).remove()).to.throw(SkeinError, 'not stored')
      expect(await rejection(() => created.at(user).list('items').where({}).select())).to.be.instanceOf(SkeinError)
    })

    it('are none where there is no list, and a record is never made', async () => {
      await db.session().save(Object.assign(new Versioned(), { id: 'v' }))
      const session = db.session()
      const list = session.at(Versioned, 'v').list('items')
      expect([await list.where({ read: true }).select(), await list.where({}).count()]).to.deep.equal([[], 0])
      list.where({ read: false }).set({ read: true })
      await session.flush()
      const { items: now = [], version } = await db.session().load(Versioned, 'v')
      expect([now.length, version]).to.deep.equal([0, 2])
      const late = db.session()
      late.at(User, 'nobody').list('items').where({}).remove()
      expect(await rejection(() => late.flush())).to.be.instanceOf(EntityGoneError)
      expect(await late.at(User, 'nobody').list('items').where({}).select()).to.deep.equal([])
    })

    it('are changed again after a lost answer unless that counts twice', async function () {
      const { faults } = need(this, server.embedded, 'only the embedded server makes faults')
      const session = db.session()
      const list = session.at(User, 'alice').list('items')
      list.where({ from: 'carol' }).set({ read: true })
      await faults.add({ kind: 'write', set: 'itm_user', drop: true, times: 1 })
      await session.flush()
      expect((await stored()).map(({ read }) => read)).to.deep.equal([true, false, true])
      list.where({}).increment('n')
      await faults.add({ kind: 'write', set: 'itm_user', drop: true, after: true, times: 1 })
      await rejection(() => session.flush())
      await session.flush()
      expect(numbers(await stored())).to.deep.equal([2, 3, 4])
    })

    it('refuse conditions and values that cannot be, before anything is sent', async () => {
      const user = db.session().at(User, 'alice')
      const list = user.list('items')
      const { commands } = await server.commands.during(async () => {
        const bad: readonly (() => unknown)[] = [
          () => list.where({ nothing: 1 } as never),
          () => list.where({ n: 'x' } as never),
          () => list.where({ n: undefined }),
          () => list.where({ n: { near: 3 } } as never),
          () => list.where(7 as never),
          () => list.where({}).set({}),
          () => list.where({}).set({ nothing: 1 } as never),
          () => list.where({}).set({ n: 'x' } as never),
          () => list.where({}).increment('n', NaN),
          () =>
            list
              .where({})
              .at('tags' as never)
              .where({} as never),
          () => list.where({}).at('n' as never),
          () => user.list('log').where({} as never),
        ]
        for (const call of bad) expect(call, String(call)).to.throw(SkeinError)
      })
      expect(commands).to.equal(0)
    })
  })
}

describe('items of a list by conditions on an older server', () => {
  it('are refused with its version before anything is sent', async () => {
    const server = await startEmbedded({ build: '7.2' })
    const db = await open({ hosts: server.hosts, namespace: 'test', entities: [User] })
    try {
      await db.session().save(Object.assign(new User(), { id: 'alice', items: items() }))
      const { commands } = await server.commands.during(() => {
        const where = (): unknown => db.session().at(User, 'alice').list('items').where({ read: true })
        expect(where).to.throw(SkeinError, /8\.1\.2.*7\.2/)
        return Promise.resolve()
      })
      expect(commands).to.equal(0)
    } finally {
      await db.close()
      await server.stop()
    }
  })
})
