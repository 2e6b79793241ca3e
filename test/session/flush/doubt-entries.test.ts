import { expect } from 'chai'
import { Bin, Embeddable, Embedded, Key, Record, type Database } from 'skein'
import { MODES, need, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { rejection } from '../rejection.js'

@Embeddable()
class Home {
  @Bin() city?: string
  @Bin() zip?: string
  @Bin() street?: string
  @Bin() no?: string
}

@Record({ set: 'doubt_entries' })
class User {
  @Key() id!: number
  @Bin({ type: { map: 'int' } }) scores = new Map([['a', 1]])
  @Bin({ type: { map: { map: 'int' } } }) stats = new Map([['a', new Map([['x', 1]])]])
  @Bin({ type: { set: 'string' } }) tags = new Set(['a'])
  @Bin({ type: { list: 'int', unique: true } }) once = [1]
  @Bin({ type: { list: 'int', order: 'sorted', unique: true } }) sorted = [1]
  @Bin({ type: { map: 'int' } }) missing?: Map<string, number>
  @Embedded(() => Home) home = Object.assign(new Home(), { city: 'a' })
  @Embedded(() => Home, { layout: 'bins' }) work = Object.assign(new Home(), { city: 'a' })
  @Embedded(() => Home, { as: 'map' }) homes = new Map([['a', Object.assign(new Home(), { city: 'a' })]])
}

type Change = (user: User) => void

/** A change whose answer is lost, one of another session, a later one, and the property when all of them are stored. */
const CASES: { readonly [title: string]: readonly [keyof User, Change, Change, Change, unknown] } = {
  'entries of a map': [
    'scores',
    ({ scores }) => scores.set('b', 2),
    ({ scores }) => scores.set('c', 3).delete('a'),
    ({ scores }) => scores.set('d', 4),
    new Map(Object.entries({ b: 2, c: 3, d: 4 })),
  ],
  'an entry that is taken back': [
    'scores',
    ({ scores }) => scores.set('b', 2),
    ({ scores }) => scores.set('c', 3),
    ({ scores }) => scores.delete('b'),
    new Map(Object.entries({ a: 1, c: 3 })),
  ],
  'entries of a nested map': [
    'stats',
    ({ stats }) => stats.get('a')!.set('y', 2),
    ({ stats }) => stats.get('a')!.set('z', 3),
    ({ stats }) => stats.get('a')!.set('w', 4),
    new Map([['a', new Map(Object.entries({ w: 4, x: 1, y: 2, z: 3 }))]]),
  ],
  'entries of a missing map': [
    'missing',
    (user) => (user.missing = new Map([['b', 2]])),
    (user) => (user.missing = new Map([['c', 3]])),
    ({ missing }) => missing!.set('d', 4),
    new Map(Object.entries({ b: 2, c: 3, d: 4 })),
  ],
  'members of a set': [
    'tags',
    ({ tags }) => tags.add('b'),
    ({ tags }) => tags.add('c').delete('a'),
    ({ tags }) => tags.add('d'),
    new Set(['b', 'c', 'd']),
  ],
  'items of a unique list': [
    'once',
    ({ once }) => once.push(2),
    ({ once }) => once.push(3),
    ({ once }) => once.push(4),
    [1, 2, 3, 4],
  ],
  'items of a sorted list': [
    'sorted',
    ({ sorted }) => sorted.push(2),
    ({ sorted }) => sorted.push(3),
    ({ sorted }) => sorted.push(4),
    [1, 2, 3, 4],
  ],
  'fields of a part': [
    'home',
    ({ home }) => (home.zip = '1'),
    ({ home }) => (home.street = 's'),
    ({ home }) => (home.no = '5'),
    Object.assign(new Home(), { city: 'a', zip: '1', street: 's', no: '5' }),
  ],
  'fields of a part in bins': [
    'work',
    ({ work }) => (work.zip = '1'),
    ({ work }) => (work.street = 's'),
    ({ work }) => (work.no = '5'),
    Object.assign(new Home(), { city: 'a', zip: '1', street: 's', no: '5' }),
  ],
  'parts of a map, and their fields': [
    'homes',
    ({ homes }) => (homes.get('a')!.zip = '1'),
    ({ homes }) => {
      homes.get('a')!.street = 's'
      homes.set('b', Object.assign(new Home(), { city: 'b' }))
    },
    ({ homes }) => (homes.get('a')!.no = '5'),
    new Map([
      ['a', Object.assign(new Home(), { city: 'a', zip: '1', street: 's', no: '5' })],
      ['b', Object.assign(new Home(), { city: 'b' })],
    ]),
  ],
}

for (const mode of MODES) {
  describe(`a flush after one whose answer was lost, and after a write of another session (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [User], (opened) => ({ db, server } = opened))
    afterEach(() => server.embedded?.faults.clear())

    for (const [title, [property, lost, others, later, all]] of Object.entries(CASES))
      for (const after of [true, false])
        it(`leaves what the other has changed: ${title}, ${after ? 'stored' : 'not stored'}`, async function () {
          const { faults } = need(this, server.embedded, 'only the embedded server makes faults')
          await db.session().save(Object.assign(new User(), { id: 1 }))
          const [session, other] = [db.session(), db.session()]
          const [user, same] = await Promise.all([session.load(User, 1), other.load(User, 1)])
          lost(user)
          await faults.add({ kind: 'write', set: 'doubt_entries', drop: true, after, times: 100 })
          await rejection(() => session.flush())
          await faults.clear()
          others(same)
          await other.flush()
          later(user)
          await session.flush()
          const found = (await db.session().load(User, 1))[property]
          if (Array.isArray(found)) expect(found).to.have.members(all as unknown[])
          else expect(found).to.deep.equal(all)
        })
  })
}
