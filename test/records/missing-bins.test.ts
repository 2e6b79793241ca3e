import { expect } from 'chai'
import {
  Bin,
  Counter,
  Embeddable,
  Embedded,
  Key,
  Record,
  type Database,
  type PartialFailureError,
  type Session,
} from 'skein'
import { MODES, need, type TestServer } from '../server.js'
import { rejection } from '../session/rejection.js'
import { storedFlags } from '../stored-flags.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Place {
  @Bin() street?: string
  @Bin() no?: string
  @Counter() calls = 0
}

@Embeddable()
class Note {
  @Bin() text?: string
}

@Embeddable()
class Home {
  @Bin() city?: string
  @Bin() zip?: string
  @Counter() visits = 0
  @Bin({ type: { set: 'string' } }) tags = new Set<string>()
  @Embedded(() => Place) place?: Place
}

@Record({ set: 'missing_bins' })
class User {
  @Key() id!: number
  @Bin({ type: { list: 'int' } }) log?: number[]
  @Bin({ type: { list: 'int', unique: true } }) once?: number[]
  @Bin({ type: { list: 'int', order: 'sorted' } }) sorted?: number[]
  @Bin({ type: { set: 'string' } }) tags?: Set<string>
  @Bin({ type: { map: 'int' } }) scores?: Map<string, number>
  @Bin({ type: { map: 'int', key: 'bytes' } }) hashes?: Map<Buffer, number>
  @Bin({ type: { map: { map: 'int' } } }) stats?: Map<string, Map<string, number>>
  @Bin({ type: { map: { list: 'int' } } }) lists?: Map<string, number[]>
  @Bin({ type: { map: { map: 'int' }, order: 'keyValue' } }) ranked?: Map<string, Map<string, number>>
  @Embedded(() => Home) home?: Home
  @Embedded(() => Home, { layout: 'bins' }) work?: Home
  @Embedded(() => Home, { as: 'map' }) homes?: Map<string, Home>
  @Embedded(() => Note, { as: 'array' }) notes?: Note[]
}

const homeOf = (fields: Partial<Home>): Home => Object.assign(new Home(), fields)
const placeOf = (fields: Partial<Place>): Place => Object.assign(new Place(), fields)
const noteOf = (text: string): Note => Object.assign(new Note(), { text })
const mapOf = <V>(entries: { [key: string]: V }): Map<string, V> => new Map(Object.entries(entries))

type Change = Partial<User>

/** Changes of two sessions that have loaded the record without the property, and the property afterwards. */
const CASES: readonly (readonly [keyof User, Change, Change, unknown])[] = [
  ['log', { log: [1] }, { log: [2] }, [1, 2]],
  ['once', { once: [1, 3] }, { once: [2, 3] }, [1, 3, 2]],
  ['sorted', { sorted: [3] }, { sorted: [2] }, [2, 3]],
  ['tags', { tags: new Set(['a']) }, { tags: new Set(['b']) }, new Set(['a', 'b'])],
  ['scores', { scores: mapOf({ a: 1, c: 1 }) }, { scores: mapOf({ b: 2 }) }, mapOf({ a: 1, b: 2, c: 1 })],
  [
    'hashes',
    { hashes: new Map([[Buffer.from('a'), 1]]) },
    { hashes: new Map([[Buffer.from('b'), 2]]) },
    new Map([
      [Buffer.from('a'), 1],
      [Buffer.from('b'), 2],
    ]),
  ],
  [
    'stats',
    { stats: mapOf({ a: mapOf({ x: 1 }) }) },
    { stats: mapOf({ a: mapOf({ y: 2 }), b: mapOf({}) }) },
    mapOf({ a: mapOf({ x: 1, y: 2 }), b: mapOf({}) }),
  ],
  ['lists', { lists: mapOf({ a: [1] }) }, { lists: mapOf({ a: [2], b: [] }) }, mapOf({ a: [1, 2], b: [] })],
  [
    'ranked',
    { ranked: mapOf({ a: mapOf({ x: 1 }) }) },
    { ranked: mapOf({ a: mapOf({ y: 2 }) }) },
    mapOf({ a: mapOf({ x: 1, y: 2 }) }),
  ],
  [
    'home',
    { home: homeOf({ city: 'Bern', visits: 2, tags: new Set(['a']), place: placeOf({ street: 's', calls: 1 }) }) },
    { home: homeOf({ zip: '3000', visits: 3, place: placeOf({ no: '1', calls: 4 }) }) },
    homeOf({
      city: 'Bern',
      zip: '3000',
      visits: 5,
      tags: new Set(['a']),
      place: placeOf({ street: 's', no: '1', calls: 5 }),
    }),
  ],
  [
    'work',
    { work: homeOf({ city: 'Bern', visits: 2, place: placeOf({ street: 's' }) }) },
    { work: homeOf({ zip: '3000', visits: 3, tags: new Set(['b']), place: placeOf({ no: '1' }) }) },
    homeOf({ city: 'Bern', zip: '3000', visits: 5, tags: new Set(['b']), place: placeOf({ street: 's', no: '1' }) }),
  ],
  [
    'homes',
    { homes: mapOf({ a: homeOf({ city: 'Bern' }) }) },
    { homes: mapOf({ b: homeOf({ city: 'Basel' }) }) },
    mapOf({ a: homeOf({ city: 'Bern' }), b: homeOf({ city: 'Basel' }) }),
  ],
  ['notes', { notes: [noteOf('1')] }, { notes: [noteOf('2')] }, [noteOf('1'), noteOf('2')]],
]

const EMPTY: Change = {
  log: [],
  once: [],
  sorted: [],
  tags: new Set(),
  scores: new Map(),
  hashes: new Map(),
  stats: new Map(),
  lists: new Map(),
  ranked: new Map(),
  home: Object.assign(new Home(), { visits: undefined, tags: undefined }),
  homes: new Map(),
  notes: [],
}

for (const mode of MODES) {
  describe(`a property whose bin was missing when two sessions loaded the record (${mode})`, () => {
    let db: Database
    let namespace: string
    let server: TestServer
    useDatabase(mode, [User], (opened) => ({ db, namespace, server } = opened))
    afterEach(() => server.embedded?.faults.clear())
    beforeEach(() => db.session().save(Object.assign(new User(), { id: 1 })))

    const two = async (): Promise<[[Session, User], [Session, User]]> => {
      const sessions = [db.session(), db.session()]
      const users = await Promise.all(sessions.map((session) => session.load(User, 1)))
      return [
        [sessions[0], users[0]],
        [sessions[1], users[1]],
      ]
    }
    const stored = (): Promise<User> => db.session().load(User, 1)

    for (const [property, first, second, both] of CASES) {
      it(`has what both of them gave it: ${property}`, async () => {
        const [[one, a], [other, b]] = await two()
        Object.assign(a, first)
        Object.assign(b, second)
        await one.flush()
        await other.flush()
        expect((await stored())[property]).to.deep.equal(both)
        expect([one, other].map((session) => session.isDirty())).to.deep.equal([false, false])
      })

      it(`has in questions what both of them gave it, also before it is sent: ${property}`, async () => {
        if (property === 'work') return
        const [[one, a], [other, b]] = await two()
        Object.assign(a, first)
        Object.assign(b, second)
        await one.flush()
        const size = both instanceof Map || both instanceof Set ? both.size : Array.isArray(both) ? both.length : 5
        const at = other.at(b)
        const handle = Array.isArray(both)
          ? at.list(property as 'log')
          : both instanceof Set
            ? at.set(property as 'tags')
            : at.map(property as 'scores')
        expect(await handle.size()).to.equal(size)
      })
    }

    it('keeps what one of them gave it where the other gave it nothing to hold', async () => {
      const [[one, a], [other, b]] = await two()
      for (const [, first] of CASES) Object.assign(a, first)
      Object.assign(b, EMPTY)
      await one.flush()
      const before = await stored()
      await other.flush()
      expect(await stored()).to.deep.equal(before)
    })

    it('is there, and empty, where it was given nothing to hold', async () => {
      const session = db.session()
      const user = await session.load(User, 1)
      Object.assign(user, EMPTY)
      await session.flush()
      const found = await stored()
      expect({ ...found }).to.deep.equal({ id: 1, ...EMPTY, home: homeOf({ tags: undefined }), work: undefined })
    })

    it('is stored in the order that a new record would have', async () => {
      const given = Object.assign(new User(), ...CASES.map(([, first]) => first), { id: 2 }) as User
      await db.session().save(given)
      const session = db.session()
      Object.assign(await session.load(User, 1), ...CASES.map(([, first]) => first))
      await session.flush()
      const [old, fresh] = await Promise.all([1, 2].map((key) => storedFlags(db, namespace, 'missing_bins', key)))
      expect(old).to.deep.equal(fresh)
    })

    it('is stored in its order also where a handle changes something inside of it first', async () => {
      const session = db.session()
      session.at(User, 1).map('ranked').at('a').put('x', 1)
      session.at(User, 2, { create: true }).map('ranked').at('a').increment('x')
      await session.flush()
      for (const key of [1, 2])
        expect((await storedFlags(db, namespace, 'missing_bins', key)).ranked, String(key)).to.equal(3)
    })

    it('is filled entry by entry up to 64 lists and maps, and those beyond are written as a whole', async () => {
      const session = db.session()
      const user = await session.load(User, 1)
      user.stats = new Map(Array.from({ length: 100 }, (_, i) => [`k${i}`, mapOf({ x: i })]))
      const [{ operations }] = (await session.explain()).commands
      expect(operations!.map(({ kind }) => kind)).to.deep.equal(['mapPutItems', ...Array<string>(64).fill('mapPut')])
      const given = new Map(user.stats)
      await session.flush()
      expect((await stored()).stats).to.deep.equal(new Map([...given].sort(([a], [b]) => (a < b ? -1 : 1))))
    })

    for (const after of [true, false]) {
      const fate = after ? 'took effect' : 'did not take effect'
      it(`is given what adds up once only, and all else, after a write that ${fate} and whose answer was lost`, async function () {
        const { faults } = need(this, server.embedded, 'only the embedded server makes faults')
        const session = db.session()
        const user = await session.load(User, 1)
        user.home = homeOf({ city: 'Bern', visits: 2, tags: new Set(['a']), place: placeOf({ street: 's', calls: 3 }) })
        user.work = homeOf({ zip: '3000', visits: 4, tags: new Set(['b']) })
        user.log = [1]
        user.lists = mapOf({ a: [1] })
        user.scores = mapOf({ a: 1 })
        await faults.add({ kind: 'write', set: 'missing_bins', drop: true, after, times: 1 })
        const error = (await rejection(() => session.flush())) as PartialFailureError
        expect(error.records.map(({ outcome }) => outcome)).to.deep.equal(['inDoubt'])
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        const { home, work, log, lists, scores } = await stored()
        expect([home!.city, home!.place!.street, [...home!.tags], work!.zip, [...work!.tags], scores]).to.deep.equal([
          'Bern',
          's',
          ['a'],
          '3000',
          ['b'],
          mapOf({ a: 1 }),
        ])
        const adding = [home!.visits, home!.place!.calls, work!.visits, log, lists]
        expect(adding).to.deep.equal(after ? [2, 3, 4, [1], mapOf({ a: [1] })] : [0, 0, 0, undefined, undefined])
      })
    }
  })
}
