import { expect } from 'chai'
import {
  Bin,
  collection,
  Embeddable,
  Embedded,
  Key,
  OneToMany,
  Record,
  SkeinError,
  Version,
  type Database,
} from 'skein'
import { MODES, need, type TestServer } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Profile {
  @Bin() city?: string
  @Bin() bio?: string
}

@Record({ set: 'rec_part' })
class User {
  @Key() id!: string
  @Bin() name!: string
  @Bin({ type: { map: 'string' } }) settings = new Map<string, string>()
  @Bin({ type: { map: 'int', key: 'int' } }) byYear = new Map<number, number>()
  @Bin({ type: { list: 'int' } }) items: number[] = []
  @Bin({ type: 'json' }) prefs?: { [name: string]: unknown }
  @Embedded(() => Profile) profile?: Profile
  @Version() version?: number
}

const alice = (): User =>
  Object.assign(new User(), {
    id: 'alice',
    name: 'Alice',
    settings: new Map(Array.from({ length: 1000 }, (_, i) => [`s${i}`, 'x'.repeat(50)])),
    byYear: new Map([
      [2024, 1],
      [2025, 2],
    ]),
    items: Array.from({ length: 1000 }, (_, i) => i),
    prefs: { theme: 'dark', deep: { a: 1 }, other: [1, 2] },
    profile: Object.assign(new Profile(), { city: 'Bern', bio: 'long' }),
  })

@Embeddable()
class Remark {
  @Key() id!: string
}

/** Its deletes take two steps, so a load looks for the mark of one that was cut off. */
@Record({ set: 'rec_part_rel' })
class Post {
  @Key() id!: string
  @Bin() title?: string
  @Bin({ type: { map: 'int' } }) scores = new Map<string, number>()
  @OneToMany(() => Remark, { strategy: 'consolidate' }) remarks = collection<Remark>()
}

for (const mode of MODES) {
  describe(`a load that reads properties in part (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [User, Post], (opened) => ({ db, server } = opened))
    beforeEach(() => db.session().save(alice()))
    afterEach(() => server.embedded?.faults.clear())

    const stored = (): Promise<User> => db.session().load(User, 'alice')

    it('reads entries, fields and items by one command whose answer does not grow with the rest', async function () {
      const { commands: sent } = need(this, server.embedded, 'only the embedded server counts bytes')
      const { commands, bytesOut } = await sent.during(async () => {
        const user = await db.session().load(User, 'alice', {
          only: [
            'name',
            { settings: ['s1', 's2', 'none'], byYear: [2025, 1999] },
            { items: { last: 3 }, prefs: ['theme', 'deep'], profile: ['city'] },
          ],
        })
        expect(user.name).to.equal('Alice')
        expect([...user.settings.keys()]).to.deep.equal(['s1', 's2'])
        expect([...user.byYear]).to.deep.equal([[2025, 2]])
        expect(user.items).to.deep.equal([997, 998, 999])
        expect(user.prefs).to.deep.equal({ theme: 'dark', deep: { a: 1 } })
        expect(user.profile).to.be.instanceOf(Profile)
        expect([user.profile?.city, user.profile?.bio]).to.deep.equal(['Bern', undefined])
      })
      expect(commands).to.equal(1)
      expect(bytesOut).to.be.lessThan(600)
    })

    it('finds records of a class with relations, and takes nothing that is not stored for null', async () => {
      await db.session().save(Object.assign(new Post(), { id: 'p', scores: new Map([['a', 1]]) }))
      const post = await db.session().load(Post, 'p', { only: ['title', { scores: ['a', 'b'] }] })
      expect([...post.scores]).to.deep.equal([['a', 1]])
      expect(post.title).to.equal(undefined)
      expect((await db.read(Post, ['p'], { only: [{ scores: ['a'] }] }))[0]!.scores.size).to.equal(1)
    })

    it('reads all that is asked of one property, also where several items ask for it', async () => {
      const user = await db.session().load(User, 'alice', {
        only: [{ settings: ['s1'] }, { items: { first: 2 } }, { settings: ['s2'] }, { items: { offset: 2, count: 1 } }],
      })
      expect([[...user.settings.keys()], user.items]).to.deep.equal([
        ['s1', 's2'],
        [0, 1, 2],
      ])
      const both = await db.session().load(User, 'alice', { only: [{ items: { first: 2 } }, { items: { last: 2 } }] })
      const whole = await db.session().load(User, 'alice')
      expect(both.items).to.deep.equal(whole.items)
      const [read] = await db.read(User, ['alice'], { only: [{ settings: ['s1'] }, { settings: ['s2'] }] })
      expect(read?.settings.size).to.equal(2)
    })

    it('serves find, loadMany and db.read', async () => {
      const only = [{ settings: ['s7'] }, { items: { first: 2 } }] as const
      const found = await db.session().find(User, 'alice', { only })
      expect([found?.settings.size, found?.items]).to.deep.equal([1, [0, 1]])
      await db.session().save(Object.assign(new User(), { id: 'bob', name: 'Bob', items: [5] }))
      const { commands } = await server.commands.during(async () => {
        const [one, two] = await db.session().loadMany(User, ['alice', 'bob'], { only })
        expect([one.settings.size, two.settings.size, two.items]).to.deep.equal([1, 0, [5]])
      })
      expect(commands).to.equal(1)
      const [read] = await db.read(User, ['alice'], { only: [{ items: { offset: 10, count: 2 } }] })
      expect([read?.items, read?.settings]).to.deep.equal([[10, 11], undefined])
      expect(await db.session().find(User, 'nobody', { only })).to.equal(null)
    })

    it('changes only entries, so that nothing is lost that was not read', async () => {
      const session = db.session()
      const user = await session.load(User, 'alice', {
        only: [{ settings: ['s1', 's2'], prefs: ['theme', 'deep'], profile: ['city'], items: { last: 2 } }],
      })
      user.settings.set('s1', 'new').set('added', 'yes')
      user.settings.delete('s2')
      user.prefs!.theme = 'light'
      delete user.prefs!.deep
      user.profile!.city = 'Basel'
      user.items.push(1000)
      const { commands } = await server.commands.during(() => session.flush())
      expect(commands).to.equal(1)
      expect(session.isDirty()).to.equal(false)
      const now = await stored()
      expect([
        now.settings.size,
        now.settings.get('s1'),
        now.settings.get('added'),
        now.settings.has('s2'),
      ]).to.deep.equal([1000, 'new', 'yes', false])
      expect(now.prefs).to.deep.equal({ theme: 'light', other: [1, 2] })
      expect(now.profile).to.include({ city: 'Basel', bio: 'long' })
      expect([now.items.length, now.items.at(-1), now.byYear.size]).to.deep.equal([1001, 1000, 2])
    })

    it('puts entries into a property that had none, instead of writing the whole', async () => {
      await db.session().save(Object.assign(new User(), { id: 'bob', name: 'Bob', settings: undefined }))
      const session = db.session()
      const bob = await session.load(User, 'bob', {
        only: [{ settings: ['a'], profile: ['city'], items: { last: 1 } }],
      })
      expect([bob.settings, bob.profile, bob.items]).to.deep.equal([undefined, undefined, []])
      bob.settings = new Map([['a', '1']])
      bob.profile = Object.assign(new Profile(), { city: 'Bern' })
      bob.items.push(1)
      const kinds = session.changes(bob).operations.map(({ kind }) => kind)
      expect(kinds).to.have.members(['mapPut', 'mapPut', 'listAppend'])
      await session.flush()
      const { settings, profile, items } = await db.session().load(User, 'bob')
      expect([settings.get('a'), profile?.city, items]).to.deep.equal(['1', 'Bern', [1]])
    })

    const inTransactions = mode === 'sc' ? it : it.skip
    inTransactions('shows what a handle recorded before, and reads and writes in a transaction', async () => {
      await db.transaction(async (session) => {
        session.at(User, 'alice').map('settings').put('s1', 'recorded')
        session.at(User, 'alice').map('settings').put('s5', 'unseen')
        const user = await session.load(User, 'alice', { only: [{ settings: ['s1', 's2'] }] })
        expect([user.settings.size, user.settings.get('s1')]).to.deep.equal([2, 'recorded'])
        user.settings.set('s2', 'set')
        await session.flush()
      })
      const { settings } = await stored()
      expect(['s1', 's2', 's5'].map((key) => settings.get(key))).to.deep.equal(['recorded', 'set', 'unseen'])
      expect(settings.size).to.equal(1000)
    })

    it('refuses what would touch what was not read, before anything is sent', async () => {
      const changes: readonly (readonly [string, (user: User) => void])[] = [
        ['settings', (user) => void (user.settings = undefined as never)],
        ['items', (user) => void (user.items[0] = 5)],
        ['items', (user) => void user.items.pop()],
        ['profile', (user) => void (user.profile!.bio = 'short')],
        ['prefs', (user) => void (user.prefs = [] as never)],
        ['byYear', (user) => void (user.byYear = new Map())],
      ]
      for (const [property, change] of changes) {
        const session = db.session()
        const only = [{ settings: ['s1'], items: { last: 2 }, profile: ['city'], prefs: ['theme'] }] as const
        change(await session.load(User, 'alice', { only }))
        const { commands } = await server.commands.during(async () => {
          const error = (await rejection(() => session.flush())) as SkeinError
          expect([error.code, error.details.property]).to.deep.equal(['SKEIN_2202', property])
        })
        expect(commands).to.equal(0)
      }
      const first = db.session()
      const user = await first.load(User, 'alice', { only: [{ items: { first: 2 } }] })
      user.items.push(7)
      expect(((await rejection(() => first.flush())) as SkeinError).code).to.equal('SKEIN_2202')
    })

    it('adds more of a property to what was read, and the whole of it', async () => {
      const session = db.session()
      const user = await session.load(User, 'alice', { only: [{ settings: ['s1'], items: { last: 1 } }] })
      const { commands } = await server.commands.during(() =>
        session.load(User, 'alice', { only: [{ settings: ['s1'] }] }),
      )
      expect(commands).to.equal(0)
      await session.load(User, 'alice', { only: [{ settings: ['s2', 's3'] }] })
      expect([...user.settings.keys()]).to.deep.equal(['s1', 's2', 's3'])
      await session.load(User, 'alice', { only: [{ items: { first: 1 } }] })
      expect(user.items.length).to.equal(1000)
      user.settings.set('s1', 'new')
      const error = (await rejection(() => session.load(User, 'alice'))) as SkeinError
      expect([error.code, error.details.property]).to.deep.equal(['SKEIN_2202', 'settings'])
      await session.flush()
      await session.load(User, 'alice')
      expect([user.settings.size, user.settings.get('s1'), user.name]).to.deep.equal([1000, 'new', 'Alice'])
      user.settings.delete('s999')
      await session.flush()
      expect((await stored()).settings.size).to.equal(999)
    })

    it('joins what several ask for in one tick into one command', async () => {
      const session = db.session()
      const { commands } = await server.commands.during(async () => {
        const [user, , name] = await Promise.all([
          session.load(User, 'alice', { only: [{ settings: ['s1'] }] }),
          session.load(User, 'alice', { only: [{ settings: ['s2'] }, { byYear: [2024] }] }),
          session.load(User, 'alice', { only: ['name'] }),
        ])
        expect([[...user.settings.keys()], user.byYear.size, name.name]).to.deep.equal([['s1', 's2'], 1, 'Alice'])
      })
      expect(commands).to.equal(1)
    })

    it('shows changes of a handle in what was read, and nothing of what was not', async () => {
      const session = db.session()
      const user = await session.load(User, 'alice', {
        only: [{ settings: ['s1', 'new'], byYear: [2024], items: { last: 1 }, profile: ['city'] }],
      })
      const handle = session.at(user)
      handle.map('settings').put('new', 'n')
      handle.map('settings').remove('s1', 's2')
      handle.map('byYear').increment(2024, 5)
      handle.map('byYear').increment(2025, 5)
      handle.map('profile').put('bio', 'short')
      handle.list('items').append(1000)
      handle.list('items').set(0, -1)
      expect([...user.settings]).to.deep.equal([['new', 'n']])
      expect([...user.byYear]).to.deep.equal([[2024, 6]])
      expect([user.profile?.city, user.profile?.bio]).to.deep.equal(['Bern', undefined])
      expect(user.items).to.deep.equal([999, 1000])
      expect(await handle.map('byYear').get(2025)).to.equal(7)
      await session.flush()
      const now = await stored()
      expect([now.settings.size, [...now.byYear.values()], now.profile?.bio]).to.deep.equal([999, [6, 7], 'short'])
      expect([now.items[0], now.items.at(-1)]).to.deep.equal([-1, 1000])
      expect(session.isDirty()).to.equal(false)
    })

    it('sends changes of the property before those of a handle that came after them', async () => {
      const session = db.session()
      const user = await session.load(User, 'alice', { only: [{ settings: ['s1'] }] })
      user.settings.set('s1', 'y')
      session.at(user).map('settings').put('s3', 'z')
      session.at(user).map('settings').put('s1', 'last')
      await session.flush()
      const { settings } = await stored()
      expect([settings.get('s1'), settings.get('s3'), settings.size]).to.deep.equal(['last', 'z', 1000])
    })

    it('refuses to read more of a property that was changed, also where a handle has changed it since', async () => {
      const session = db.session()
      const user = await session.load(User, 'alice', { only: [{ byYear: [2024] }, { items: { last: 2 } }] })
      user.byYear.set(2024, 15)
      user.items.push(5)
      session.at(user).map('byYear').increment(2024, 2)
      session.at(user).list('items').append(6)
      const selections = [undefined, ['byYear'], ['items'], [{ items: { last: 5 } }], [{ byYear: [2025] }]] as const
      for (const only of selections as readonly undefined[]) {
        const error = (await rejection(() => session.load(User, 'alice', { only }))) as SkeinError
        expect([error.code, error.details.fix]).to.deep.equal(['SKEIN_2202', 'Flush or refresh the entity first.'])
        expect([...user.byYear.values(), ...user.items]).to.deep.equal([17, 998, 999, 5, 6])
      }
      await session.flush()
      await session.load(User, 'alice')
      const stored = await db.session().load(User, 'alice')
      expect([user.byYear.get(2024), user.items]).to.deep.equal([17, stored.items])
      expect([stored.byYear.get(2024), stored.items.slice(-2)]).to.deep.equal([17, [5, 6]])
    })

    it('completes a write whose answer was lost, and loses no entry that was not read', async function () {
      const { faults } = need(this, server.embedded, 'only the embedded server makes faults')
      for (const after of [true, false]) {
        const session = db.session()
        const user = await session.load(User, 'alice', { only: [{ settings: ['s1', 's2'] }] })
        user.settings.set('s1', `lost ${String(after)}`)
        await faults.add({ kind: 'write', set: 'rec_part', drop: true, after, times: 1 })
        await session.flush().catch(() => undefined)
        user.settings.set('s2', 'later')
        await session.flush()
        const { settings } = await stored()
        expect([settings.size, settings.get('s1'), settings.get('s2')]).to.deep.equal([
          1000,
          `lost ${String(after)}`,
          'later',
        ])
      }
    })

    it('refuses selections that say nothing, before anything is sent', async () => {
      const bad: readonly unknown[] = [
        { settings: [] },
        { settings: 's1' },
        { settings: [5] },
        { settings: { last: 1 } },
        { items: ['a'] },
        { items: { last: 0 } },
        { items: { last: 1, first: 1 } },
        { items: { offset: 1 } },
        { name: ['A'] },
        { profile: ['street'] },
        { nothing: ['a'] },
        ['settings'],
        7,
      ]
      const { commands } = await server.commands.during(async () => {
        for (const item of bad) {
          const only = [item] as never
          expect(await rejection(() => db.session().load(User, 'alice', { only }))).to.be.instanceOf(SkeinError)
          expect(await rejection(() => db.read(User, ['alice'], { only }))).to.be.instanceOf(SkeinError)
        }
        const query = db.scan(User)
        expect(await rejection(async () => query.only({ settings: ['s1'] } as never).toArray())).to.be.instanceOf(
          SkeinError,
        )
      })
      expect(commands).to.equal(0)
    })
  })
}
