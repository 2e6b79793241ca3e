import Aerospike from 'aerospike'
import { expect } from 'chai'
import {
  Bin,
  collection,
  Companion,
  CountOf,
  Embeddable,
  Index,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  ref,
  Sharded,
  type Database,
  type Finding,
} from 'skein'
import { MODES, need, type TestServer } from '../server.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Since {
  @Bin() year!: number
}

@Record({ set: 'cc_user' })
class User {
  @Key() id!: string
  @Index() @CountOf('followers') followerCount = 0
  @CountOf('follows', { name: 'nfollows' }) followCount = 0
  @CountOf('friends') friendCount = 0
  @CountOf('listings') listingCount = 0
  @Companion() @ManyToMany(() => User, 'followers', { owner: true }) follows = collection<User>()
  @Sharded({ by: 'hash', shards: 3, subkeys: 'followedIn' })
  @ManyToMany(() => User, 'follows')
  followers = collection<User>()
  @Sharded({ by: 'hash', shards: 2, subkeys: 'friendsIn' })
  @ManyToMany(() => User, 'friends', { owner: true, attributes: () => Since })
  friends = collection<User, Since>()
  @Sharded({ by: 'hash', shards: 3, subkeys: 'listingsIn' })
  @OneToMany(() => Listing, 'agent', { onDelete: 'cascade' })
  listings = collection<Listing>()
}

@Record({ set: 'cc_listing' })
class Listing {
  @Key() id!: string
  @ManyToOne(() => User, 'listings') agent = ref<User>()
}

/** Each count and the collection that it counts. */
const COUNTS = [
  ['followerCount', 'followers'],
  ['nfollows', 'follows'],
  ['friendCount', 'friends'],
  ['listingCount', 'listings'],
] as const

const make = <T extends object>(entity: T, values: object): T => Object.assign(entity, values)

for (const mode of MODES) {
  describe(`counts of collections in companions (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, [User, Listing], (opened) => ({ db, server, namespace } = opened))
    afterEach(() => server.embedded?.faults.clear())

    const users = (...ids: string[]): Promise<unknown> =>
      db.withSession((session) => ids.forEach((id) => session.create(User, { id })))

    const sizesIn = async (set: string, bin: string): Promise<Map<unknown, number>> => {
      const sizes = new Map<unknown, number>()
      for (const { bins } of await db.client.query(namespace, set).results()) {
        const root = bins['_sk.root']
        sizes.set(root, (sizes.get(root) ?? 0) + Object.keys((bins[bin] ?? {}) as object).length)
      }
      return sizes
    }

    /** Counts that are not the number of members in the companions. */
    async function drift(): Promise<string[]> {
      const roots = await db.client.query(namespace, 'cc_user').results()
      const wrong: string[] = []
      for (const [count, bin] of COUNTS) {
        const sizes = await sizesIn(`cc_user_${bin}`, bin)
        for (const { bins } of roots)
          if ((bins[count] ?? 0) !== (sizes.get(bins.id) ?? 0)) wrong.push(`${bins.id as string} ${count}`)
      }
      return wrong.sort()
    }

    const read = async (id: string): Promise<User> => (await db.read(User, [id]))[0]!

    async function wrongCounts(repair: boolean): Promise<string[]> {
      const found: Finding[] = []
      for await (const finding of db.verify([User, Listing], { repair, settle: 0 })) found.push(finding)
      return found
        .filter(({ kind }) => kind === 'wrongCount')
        .map(({ key, property, state }) => `${String(key)} ${property} ${state}`)
        .sort()
    }

    it('are kept by every change of lists, links and children, on both sides', async () => {
      await users('a', 'b', 'c')
      const session = db.session()
      const [a, b, c] = await session.loadMany(User, ['a', 'b', 'c'])
      a.follows.add(b, c)
      b.followers.add(c)
      a.friends.link(b, { year: 1999 })
      a.listings.add(make(new Listing(), { id: 'l1' }), make(new Listing(), { id: 'l2' }))
      await session.flush()
      expect(await read('a')).to.include({ followCount: 2, followerCount: 0, friendCount: 1, listingCount: 2 })
      expect(await read('b')).to.include({ followerCount: 2, friendCount: 1 })
      b.listings.add(await session.load(Listing, 'l1'))
      a.follows.remove(b)
      a.friends.remove(b)
      await session.flush()
      expect(await read('a')).to.include({ followCount: 1, friendCount: 0, listingCount: 1 })
      expect(await read('b')).to.include({ followerCount: 1, friendCount: 0, listingCount: 1 })
      await session.refresh(a)
      expect(a.listingCount).to.equal(1)
      expect(session.isDirty()).to.equal(false)
      expect(await drift()).to.deep.equal([])
    })

    it('are those of a new owner that comes with its members', async () => {
      await users('x')
      const a = make(new User(), { id: 'a' })
      a.follows.add('x')
      a.followers.add(make(new User(), { id: 'b' }), make(new User(), { id: 'c' }))
      a.listings.add(make(new Listing(), { id: 'l' }))
      await db.session().save(a)
      expect(await read('a')).to.include({ followCount: 1, followerCount: 2, listingCount: 1 })
      expect(await drift()).to.deep.equal([])
    })

    it('do not change when a member is added that is there, or taken out that is not', async () => {
      await users('a', 'b')
      for (let i = 0; i < 2; i++)
        await db.withSession((session) => void session.at(User, 'a').collection('follows').add('b'))
      await db.withSession((session) => void session.at(User, 'b').collection('follows').remove('a'))
      await db.withSession((session) => void session.at(User, 'a').collection('friends').link('b', { year: 1 }))
      await db.withSession((session) => void session.at(User, 'b').collection('friends').link('a', { year: 2 }))
      expect(await read('a')).to.include({ followCount: 1, friendCount: 1 })
      expect(await read('b')).to.include({ followCount: 0, followerCount: 1, friendCount: 1 })
      expect(await drift()).to.deep.equal([])
    })

    it('follow deletes, cascades and deletes in steps', async () => {
      const fans = Array.from({ length: 12 }, (_, i) => `fan${i}`)
      await users('star', 'other', ...fans)
      await db.withSession((session) => {
        for (const fan of fans) session.at(User, fan).collection('follows').add('star', 'other')
        for (const id of fans) session.create(Listing, { id, agent: 'star' })
      })
      expect(await read('star')).to.include({ followerCount: 12, listingCount: 12 })
      await db.session().delete(Listing, 'fan3')
      expect((await read('star')).listingCount).to.equal(11)
      await db.session().delete(User, 'fan0')
      expect((await read('star')).followerCount).to.equal(11)
      await db.session().delete(User, 'star', { step: 5 })
      expect(await read('fan1')).to.include({ followCount: 1 })
      expect(await drift()).to.deep.equal([])
    })

    it('are exact while many add and remove at once', async function () {
      this.timeout(60_000)
      const ids = Array.from({ length: mode === 'sc' ? 4 : 16 }, (_, i) => `u${i}`)
      await users('star', ...ids)
      await Promise.all(
        ids.map(async (id) => {
          for (const change of ['add', 'remove', 'add'] as const)
            await db.withSession((session) => void session.at(User, id).collection('follows')[change]('star'))
        }),
      )
      expect((await read('star')).followerCount).to.equal(ids.length)
      expect(await drift()).to.deep.equal([])
    })

    it('are written in the transaction of the change, or by a command after it', async () => {
      await users('a', 'b')
      await db.withSession((session) => void session.at(User, 'a').collection('follows').add('b'))
      const session = db.session()
      session.at(User, 'a').collection('follows').remove('b')
      const plan = String(await session.explain())
      if (mode === 'sc') expect(plan).to.include('nfollows')
      const { rows } = await server.commands.during(() => session.flush({ transactions: 'off' }))
      expect(rows, 'two companions, two owners, and a look at both').to.be.at.most(6)
    })

    it('can be asked for by a query', async () => {
      await db.indexes.sync()
      await users('a', 'b', 'c')
      await db.withSession((session) => void session.at(User, 'c').collection('followers').add('a', 'b'))
      const popular = await db
        .query(User)
        .where({ followerCount: { gt: 1 } })
        .toArray()
      expect(popular.map(({ id }) => id)).to.deep.equal(['c'])
    })

    it('are found and put right by verify', async () => {
      await users('a', 'b', 'c')
      await db.withSession((session) => void session.at(User, 'c').collection('followers').add('a', 'b'))
      await db.client.operate(new Aerospike.Key(namespace, 'cc_user', 'c'), [
        Aerospike.operations.write('followerCount', 7),
      ])
      await db.client.operate(new Aerospike.Key(namespace, 'cc_user', 'a'), [
        Aerospike.operations.write('nfollows', null),
        Aerospike.operations.write('friendCount', 0),
      ])
      expect(await wrongCounts(false)).to.deep.equal(['a followCount found', 'c followerCount found'])
      expect(await wrongCounts(true)).to.deep.equal(['a followCount repaired', 'c followerCount repaired'])
      expect(await wrongCounts(false)).to.deep.equal([])
      expect(await drift()).to.deep.equal([])
    })

    it('do not drift where a flush fails at any command, or verify puts them right', async function () {
      const { faults, clock } = need(this, server.embedded, 'only the embedded server has faults')
      this.timeout(60_000)
      const limits = { maxErrorRate: 100_000, errorRateWindow: 1000, retry: { attempts: 2, deadline: 40, backoff: 1 } }
      const hasty = await server.open({ namespace, entities: [User, Listing], ...limits })
      try {
        await users('a', 'b', 'c')
        for (let skip = 0; skip < 12; skip++) {
          for (const after of [false, true]) {
            const session = hasty.session()
            const [a, b, c] = await session.loadMany(User, ['a', 'b', 'c'], { with: ['follows', 'listings'] })
            if (a.follows.items.includes(b)) a.follows.remove(b)
            else a.follows.add(b)
            const listing = await session.find(Listing, 'l')
            ;(skip % 2 === 0 ? b : c).listings.add(listing ?? make(new Listing(), { id: 'l' }))
            await faults.add({ namespace, skip, drop: true, after, times: skip % 3 === 0 ? 1_000_000 : 1 })
            await session.flush().catch(() => undefined)
            await faults.clear()
            if (mode === 'sc') await clock.advance(60)
            const wrong = await drift()
            if (mode === 'sc') expect(wrong, `after ${skip} commands`).to.deep.equal([])
            else if (wrong.length > 0) await wrongCounts(true)
            expect(await drift(), `after ${skip} commands, repaired`).to.deep.equal([])
          }
        }
      } finally {
        await hasty.close()
      }
    })
  })
}
