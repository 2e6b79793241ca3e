import { expect } from 'chai'
import aerospike from 'aerospike'
import { Bin, Embeddable, Embedded, EntityGoneError, Key, Record, SkeinError, type Database } from 'skein'
import { MODES, need, type TestServer } from '../server.js'
import { storedFlags } from '../stored-flags.js'
import { useDatabase } from '../use-database.js'

@Embeddable({ layout: 'tuple' })
class Reading {
  @Bin() at!: Date
  @Bin({ type: 'double' }) celsius!: number
  @Bin() note?: string
}

@Record({ set: 'lists_box' })
class Box {
  @Key() id!: number
  @Bin({ type: { list: 'int', order: 'sorted', persistIndex: true } }) sorted?: number[]
  @Bin({ type: { list: 'string', order: 'sorted', unique: true } }) names?: string[]
  @Bin({ type: { list: 'string', unique: true } }) once?: string[]
  @Bin({ type: { list: 'double', order: 'sorted' } }) doubles?: number[]
  @Bin({ type: { list: 'double' } }) loose?: number[]
  @Bin({ type: { map: 'int', order: 'keyValue', persistIndex: true } }) scores?: Map<string, number>
  @Bin({ type: { map: 'double' } }) weights?: Map<string, number>
  @Bin({ type: { set: { tuple: ['int', 'string'] } } }) pairs?: Set<[number, string]>
  @Bin({ type: { list: { tuple: ['date', 'string'] }, order: 'sorted' } }) events?: [Date, string][]
  @Embedded(() => Reading, { as: 'array', order: 'sorted', unique: true, persistIndex: true }) readings?: Reading[]
  @Embedded(() => Reading, { as: 'map', order: 'keyValue' }) latest?: Map<string, Reading>
}

const box = (values: Partial<Box>): Box => Object.assign(new Box(), { id: 1 }, values)
const reading = (at: number, celsius: number, note?: string): Reading =>
  Object.assign(new Reading(), { at: new Date(at), celsius, note })

for (const mode of MODES) {
  describe(`lists and maps with a subtype (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, [Box], (opened) => ({ db, server, namespace } = opened))

    const stored = (): Promise<Box> => db.session().load(Box, 1)
    const save = (values: Partial<Box>): Promise<Box> => db.session().save(box(values))
    const flags = (): Promise<{ [bin: string]: number }> => storedFlags(db, namespace, 'lists_box', 1)
    const rawOperate = async (...operations: unknown[]): Promise<void> => {
      await db.client.operate(new aerospike.Key(namespace, 'lists_box', 1), operations as never)
    }

    it('keep doubles doubles when a whole number is added to nothing', async () => {
      await save({ weights: new Map(), loose: [] })
      const session = db.session()
      const handle = session.at(Box, 1)
      handle.map('weights').increment('a', 1)
      handle.list('loose').increment(0, 2)
      await session.flush()
      handle.map('weights').increment('a', 0.5)
      handle.list('loose').increment(0, 0.25)
      await session.flush()
      const { weights, loose } = await stored()
      expect({ weights, loose }).to.deep.equal({ weights: new Map([['a', 1.5]]), loose: [2.25] })
    })

    it('refuse to add fractions to whole numbers, and anything to what is not a number', async () => {
      await save({ scores: new Map(), once: [], latest: new Map([['x', reading(1, 2)]]) })
      const handle = db.session().at(Box, 1)
      const scores = handle.map('scores')
      expect(() => scores.increment('a', 0.5)).to.throw(SkeinError, /scores: 0.5 cannot be added to a whole number/)
      expect(() => handle.list('once').increment(0 as never)).to.throw(
        SkeinError,
        /'once' is not a list that may repeat an item/,
      )
      expect(() => handle.map('latest').increment('x' as never)).to.throw(
        SkeinError,
        /latest: a value of type embedded/,
      )
      expect((await stored()).scores).to.deep.equal(new Map())
    })

    it('are filled up with null before a position past the end, as loaded so stored', async () => {
      await save({ loose: [1] })
      const session = db.session()
      const loaded = await session.load(Box, 1)
      session.at(loaded).list('loose').insert(3, 9)
      session.at(loaded).list('loose').set(5, 7)
      expect(loaded.loose).to.deep.equal([1, null, null, 9, null, 7])
      await session.flush()
      expect((await stored()).loose).to.deep.equal(loaded.loose)
    })

    it('are created with their order in a new record, empty or not', async () => {
      await save({
        sorted: [],
        names: ['b', 'a', 'b'],
        once: ['y', 'x', 'y'],
        scores: new Map(),
        readings: [reading(2, 1.5)],
        latest: new Map([['x', reading(1, 2)]]),
      })
      expect(await flags()).to.deep.include({ sorted: 1, names: 1, once: 0, scores: 3, readings: 1, latest: 3 })
      const { names, once, sorted } = await stored()
      expect({ names, once, sorted }).to.deep.equal({ names: ['a', 'b'], once: ['y', 'x'], sorted: [] })
    })

    it('are created with their order when a loaded record gets them', async () => {
      await save({})
      const session = db.session()
      const loaded = await session.load(Box, 1)
      Object.assign(loaded, { sorted: [3, 1, 2], names: [], scores: new Map([['a', 1]]), latest: new Map() })
      await session.save(loaded)
      expect(await flags()).to.deep.include({ sorted: 1, names: 1, scores: 3, latest: 3 })
      expect((await stored()).sorted).to.deep.equal([1, 2, 3])
    })

    it('are created with their order by a handle, in a new record too', async () => {
      const session = db.session()
      const handle = session.at(Box, 1, { create: true })
      handle.list('sorted').append(3, 1)
      handle.list('names').append('b', 'a')
      handle.map('scores').put('a', 1)
      handle.map('latest').put('x', reading(1, 2))
      await session.flush()
      expect(await flags()).to.deep.include({ sorted: 1, names: 1, scores: 3, latest: 3 })
    })

    it('keep the order of another program when they are saved', async () => {
      await save({})
      await rawOperate(aerospike.lists.appendItems('sorted', [3, 1, 2]), aerospike.maps.put('scores', 'a', 1))
      const session = db.session()
      const loaded = await session.load(Box, 1)
      expect(loaded.sorted, 'a sorted list shows sorted').to.deep.equal([1, 2, 3])
      loaded.sorted!.push(0)
      loaded.scores!.set('b', 2)
      session.at(loaded).list('sorted').append(5)
      await session.save(loaded)
      expect(await flags()).to.deep.include({ sorted: 0, scores: 0 })
      expect((await stored()).sorted).to.deep.equal([0, 1, 2, 3, 5])
    })

    it('send the items that came and went, and no others', async () => {
      await save({ sorted: [1, 2, 2, 2, 5] })
      const session = db.session()
      const loaded = await session.load(Box, 1)
      loaded.sorted = [7, 2, 5, 2]
      const other = db.session()
      other.at(Box, 1).list('sorted').append(4)
      await other.flush()
      await session.save(loaded)
      expect((await stored()).sorted).to.deep.equal([2, 2, 4, 5, 7])
      loaded.sorted.reverse()
      expect(session.isDirty(loaded), 'the place of an item means nothing').to.equal(false)
    })

    it('of doubles are in the order of doubles, whatever the client shows', async () => {
      await save({ doubles: [2, 1.5, 3], loose: [2, 1.5, 3], weights: new Map([['a', 2], ['b', 1.5]]) }) // prettier-ignore
      expect((await stored()).doubles).to.deep.equal([1.5, 2, 3])
      const handle = db.session().at(Box, 1)
      expect(await handle.list('loose').top(2)).to.deep.equal([3, 2])
      expect(await handle.list('loose').bottom(2)).to.deep.equal([1.5, 2])
      expect(await handle.list('loose').rankOf(2)).to.equal(1)
      expect(await handle.map('weights').top(1)).to.deep.equal([['a', 2]])
    })

    it('that are unique take an item once', async () => {
      await save({ once: ['a'] })
      const session = db.session()
      session.at(Box, 1).list('once').append('a', 'b', 'b')
      session.at(Box, 1).list('once').insert(0, 'b', 'c')
      expect(await session.at(Box, 1).list('once').byIndex({ count: 9 })).to.deep.equal(['c', 'a', 'b'])
      await session.flush()
      expect((await stored()).once).to.deep.equal(['c', 'a', 'b'])
    })

    it('that are sorted refuse a place, and a part of them is taken from either end', async () => {
      await save({ sorted: [5, 1, 4, 2, 3] })
      const list = db.session().at(Box, 1).list('sorted')
      expect(() => list.insert(0, 1))
        .to.throw(SkeinError)
        .with.property('code', 'SKEIN_2330')
      expect(() => list.set(0, 1)).to.throw(/append and remove/)
      expect(() => list.increment(0)).to.throw(/append and remove/)
      expect(await list.byIndex({ offset: -2, count: 2 })).to.deep.equal([4, 5])
      expect(await list.byRank({ offset: 1, count: 2 })).to.deep.equal([2, 3])
      expect(await list.indexOf(4)).to.equal(3)
      expect(await list.rankOf(9)).to.equal(null)
    })

    it('show unsent changes in order, in a record without the bin and in one that is not there', async () => {
      await save({})
      for (const handle of [db.session().at(Box, 1), db.session().at(Box, 2, { create: true })]) {
        const list = handle.list('sorted')
        list.append(3, 1)
        list.append(2)
        list.removeAt(0)
        expect(await list.byIndex({ count: 9 })).to.deep.equal([2, 3])
        expect(await list.get(-1)).to.equal(3)
        list.removeBetween(3)
        expect(await list.size()).to.equal(1)
      }
    })

    it('of a loaded entity show what a handle does, in order', async () => {
      await save({ sorted: [1, 5], names: ['a'], readings: [reading(1, 1)], pairs: new Set([[1, 'a']]) })
      const session = db.session()
      const loaded = await session.load(Box, 1)
      const handle = session.at(loaded)
      handle.list('sorted').append(3)
      handle.list('names').append('a', 'b', 'b')
      handle.list('readings').append(reading(0, 9), reading(1, 1))
      handle.set('pairs').add([1, 'a'], [0, 'z'])
      handle.set('pairs').remove([1, 'a'])
      expect(loaded.sorted).to.deep.equal([1, 3, 5])
      expect(loaded.names).to.deep.equal(['a', 'b'])
      expect(loaded.readings!.map(({ celsius }) => celsius)).to.deep.equal([9, 1])
      expect([...loaded.pairs!]).to.deep.equal([[0, 'z']])
      await session.flush()
      expect(await stored()).to.deep.equal(loaded)
    })

    it('of tuples are found, counted, removed and trimmed by their first fields', async () => {
      const [one, two, three] = [1, 2, 3].map((n) => new Date(n * 1000))
      await save({ events: [[two, 'b'], [one, 'z'], [two, 'a'], [three, 'a']] }) // prettier-ignore
      const session = db.session()
      const events = session.at(Box, 1).list('events')
      expect(await events.between([one], [two])).to.deep.equal([[one, 'z']])
      expect(await events.between([two, 'b'])).to.deep.equal([[two, 'b'], [three, 'a']]) // prettier-ignore
      expect(await events.between(undefined, [two, 'b'])).to.deep.equal([[one, 'z'], [two, 'a']]) // prettier-ignore
      expect(await events.startingWith(two)).to.deep.equal([[two, 'a'], [two, 'b']]) // prettier-ignore
      expect(await events.startingWith(two, 'b')).to.deep.equal([[two, 'b']])
      expect(await events.countStartingWith(two)).to.equal(2)
      expect(await events.countBetween([two])).to.equal(3)
      events.removeStartingWith(two, 'a')
      expect(await events.size()).to.equal(3)
      events.keepBetween([two])
      expect(await events.byIndex({ count: 9 })).to.deep.equal([[two, 'b'], [three, 'a']]) // prettier-ignore
      await session.flush()
      expect((await stored()).events).to.deep.equal([[two, 'b'], [three, 'a']]) // prettier-ignore
      expect(() => (events.startingWith as () => unknown).call(events))
        .to.throw(SkeinError)
        .with.property('code', 'SKEIN_2331')
    })

    it('of parts in the layout of a tuple come back as instances and are sorted by their fields', async () => {
      await save({ readings: [reading(2, 0.5), reading(1, 7, 'x'), reading(1, 3)] })
      const loaded = await stored()
      expect(loaded.readings).to.deep.equal([reading(1, 3), reading(1, 7, 'x'), reading(2, 0.5)])
      expect(loaded.readings![0]).to.be.instanceOf(Reading)
      const readings = db.session().at(Box, 1).list('readings')
      expect(await readings.between([new Date(1)], [new Date(2)])).to.have.length(2)
      expect(await readings.startingWith(new Date(1), 7)).to.deep.equal([reading(1, 7, 'x')])
      expect(await readings.top(1)).to.deep.equal([reading(2, 0.5)])
    })

    it('are appended to with the same bytes, however long they are', async function () {
      const counter = need(this, server.embedded, 'only the embedded server counts bytes').commands
      const bytes: number[] = []
      for (const length of [10, 10_000]) {
        await save({ id: length, sorted: Array.from({ length }, (_, i) => i) })
        const session = db.session()
        session.at(Box, length).list('sorted').append(77)
        const { commands, bytesIn, bytesOut } = await counter.during(() => session.flush())
        expect(commands).to.equal(1)
        bytes.push(bytesIn + bytesOut)
      }
      expect(bytes[1] - bytes[0]).to.be.below(16)
    })

    it('answer a few entries with the same bytes, however many they have', async function () {
      const counter = need(this, server.embedded, 'only the embedded server counts bytes').commands
      const bytes: number[] = []
      for (const length of [10, 1_000]) {
        await save({ id: length, scores: new Map(Array.from({ length }, (_, i) => [`s${i}`, i])) })
        const handle = db.session().at(Box, length)
        const { commands, bytesIn, bytesOut } = await counter.during(() =>
          handle.map('scores').getMany(['s1', 's2', 's3']),
        )
        expect(commands).to.equal(1)
        bytes.push(bytesIn + bytesOut)
      }
      expect(bytes[1] - bytes[0]).to.be.below(16)
    })

    it('lose nothing of many sessions that add at once', async () => {
      await save({ sorted: [], names: [] })
      await Promise.all(
        Array.from({ length: 20 }, async (_, i) => {
          const session = db.session()
          session
            .at(Box, 1)
            .list('sorted')
            .append(i % 5)
          session
            .at(Box, 1)
            .list('names')
            .append(`n${i % 5}`)
          await session.flush()
        }),
      )
      const { sorted, names } = await stored()
      expect(sorted).to.deep.equal([0, 1, 2, 3, 4].flatMap((n) => [n, n, n, n]))
      expect(names).to.deep.equal(['n0', 'n1', 'n2', 'n3', 'n4'])
    })

    it('of a missing record are not created without being asked', async () => {
      const session = db.session()
      session.at(Box, 9).list('sorted').append(1)
      await session.flush().then(
        () => expect.fail('flushed'),
        (error: unknown) => expect(error).to.be.instanceOf(EntityGoneError),
      )
    })
  })
}
