import Aerospike from 'aerospike'
import { expect } from 'chai'
import {
  Bin,
  collection,
  Companion,
  CountOf,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  ref,
  Sharded,
  type Database,
} from 'skein'
import { MODES, need, type TestServer } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { useDatabase } from '../../use-database.js'
import { COUNTS, CountedListing, make, Since, testCounts, wrongCounts } from './count-suite.js'

/** Spreads members and their counts: over shards, over one companion, over days, and over shards on demand. */
@Record({ set: 'sc_user' })
class User {
  @Key() id!: string
  @Bin() name?: string
  @Sharded({ by: 'hash', shards: 4 }) @CountOf('followers') followerCount = 0
  @Sharded({ by: 'hash', shards: 2 }) @CountOf('follows', { name: 'nfollows' }) followCount = 0
  @Sharded({ by: 'hash', shards: 3 }) @CountOf('friends') friendCount = 0
  @Sharded({ by: 'hash', shards: 3 }) @CountOf('listings') listingCount = 0
  @Companion() @ManyToMany(() => User, 'followers', { owner: true }) follows = collection<User>()
  @Sharded({ by: 'hash', shards: 3, subkeys: 'followedIn' })
  @ManyToMany(() => User, 'follows')
  followers = collection<User>()
  @Sharded({ by: 'day', subkeys: 'friendsIn' })
  @ManyToMany(() => User, 'friends', { owner: true, attributes: () => Since })
  friends = collection<User, Since>()
  @Sharded({ by: 'hash', shards: 3, subkeys: 'listingsIn', when: { members: 6 } })
  @OneToMany(() => Listing, 'agent', { onDelete: 'cascade' })
  listings = collection<Listing>()
}

@Record({ set: 'sc_listing' })
class Listing extends CountedListing {
  @ManyToOne(() => User, 'listings') agent = ref<User>()
}

const SETS = COUNTS.map(([count, bin]) => ({ count, bin, homes: `sc_user_${bin}`, shards: `sc_user_${count}` }))

for (const mode of MODES) {
  describe(`counts in shards (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, [User, Listing], (opened) => ({ db, server, namespace } = opened))
    afterEach(() => server.embedded?.faults.clear())

    const users = (...ids: string[]): Promise<unknown> =>
      db.withSession((session) => ids.forEach((id) => session.create(User, { id })))
    const records = async (set: string) => (await db.client.query(namespace, set).results()).map(({ bins }) => bins)

    /** Adds up by owner what records of a set say. */
    async function sums(set: string, of: (bins: Aerospike.AerospikeBins) => number): Promise<Map<unknown, number>> {
      const found = new Map<unknown, number>()
      for (const bins of await records(set)) {
        const owner: unknown = bins['_sk.root'] ?? bins.id
        found.set(owner, (found.get(owner) ?? 0) + of(bins))
      }
      return found
    }

    /** Counts that are not the number of members in the records that hold them. */
    async function drift(): Promise<string[]> {
      const wrong: string[] = []
      for (const { count, bin, homes, shards } of SETS) {
        const size = (bins: Aerospike.AerospikeBins): number => Object.keys((bins[bin] ?? {}) as object).length
        const number = (bins: Aerospike.AerospikeBins): number => Number(bins[count] ?? 0)
        const held = [await sums('sc_user', size), await sums(homes, size)]
        const base = await sums('sc_user', number)
        const counted = await sums(shards, number)
        for (const [owner, own] of base)
          if (own + (counted.get(owner) ?? 0) !== held.reduce((sum, each) => sum + (each.get(owner) ?? 0), 0))
            wrong.push(`${String(owner)} ${count}`)
        for (const owner of counted.keys()) if (!base.has(owner)) wrong.push(`${String(owner)} ${count} is left behind`)
      }
      return wrong.sort()
    }

    testCounts(mode, { User, Listing, drift, mayDrift: true, isSharded: true }, () => ({ db, server, namespace }))

    it('take one command to a shard of the count, and the record of the owner is not written', async () => {
      await users('star', ...Array.from({ length: 40 }, (_, i) => `u${i}`))
      await db.withSession((session) => {
        for (let i = 0; i < 20; i++)
          session
            .at(User, 'star')
            .collection('listings')
            .add(make(new Listing(), { id: `l${i}` }))
      })
      const add = (id: string): Promise<unknown> =>
        db.withSession((session) => void session.at(User, 'star').collection('followers').add(id))
      for (let i = 0; i < 20; i++) await add(`u${i}`)
      const key = new Aerospike.Key(namespace, 'sc_user', 'star')
      const before = (await db.client.get(key)).gen
      for (let i = 20; i < 40; i++) await add(`u${i}`)
      expect((await db.client.get(key)).gen).to.equal(before)
      const shards = (await records('sc_user_followerCount')).map(({ followerCount }) => followerCount as number)
      expect(shards).to.have.length(4)
      expect(shards.every((count) => count > 3)).to.equal(true)
      expect((await db.session().load(User, 'star')).followerCount).to.equal(40)
    })

    it('are shown by loads, projections, refreshes and queries, and cannot be assigned or asked for by a condition', async () => {
      await users('a', 'b', 'c')
      await db.withSession((session) => void session.at(User, 'a').collection('followers').add('b', 'c'))
      const session = db.session()
      const a = await session.load(User, 'a', { only: ['followerCount'] })
      expect(a.followerCount).to.equal(2)
      expect((await db.read(User, ['a']))[0]!.followerCount).to.equal(2)
      const found = await db.scan(User).toArray()
      expect(found.map(({ id, followerCount }) => `${id} ${followerCount}`).sort()).to.deep.equal(['a 2', 'b 0', 'c 0'])
      await db.withSession((other) => void other.at(User, 'a').collection('followers').remove('b'))
      await session.refresh(a)
      expect(a.followerCount).to.equal(1)
      a.name = 'changed'
      await session.flush()
      expect((await db.session().load(User, 'a')).followerCount).to.equal(1)
      a.followerCount = 9
      expect(await rejection(() => session.flush())).to.have.property('code', 'SKEIN_2209')
      const query = async (): Promise<unknown> =>
        db
          .query(User)
          .where({ followerCount: { gt: 1 } })
          .toArray()
      expect(String(await rejection(query))).to.include('User.followerCount is a sharded count')
      expect(await rejection(() => db.scan(User).update({ followerCount: 3 }))).to.have.property('code', 'SKEIN_2514')
      expect(await rejection(() => db.session().save(make(new User(), { id: 'z' }), { ttl: 60 }))).to.have.property(
        'code',
        'SKEIN_2309',
      )
    })

    it('stay as they are when their owner is upserted, and begin anew when it is deleted and made again', async () => {
      await users('a', 'b', 'c')
      await db.withSession((session) => void session.at(User, 'a').collection('followers').add('b', 'c'))
      await db.session().upsert(make(new User(), { id: 'a', name: 'upserted' }))
      const session = db.session()
      await session.upsert(await session.load(User, 'a'))
      expect((await db.session().load(User, 'a')).followerCount).to.equal(2)
      const made = make(new User(), { id: 'd' })
      made.followers.add('b')
      await db.session().upsert(made)
      expect((await db.session().load(User, 'd')).followerCount).to.equal(1)
      await db.session().delete(User, 'a')
      expect((await records('sc_user_followerCount')).map((bins) => bins['_sk.root'] as string)).to.deep.equal(['d'])
      await users('a')
      expect((await db.session().load(User, 'a')).followerCount).to.equal(0)
      expect(await drift()).to.deep.equal([])
    })

    it('go on through a split on demand, another one, and the way back', async () => {
      await users('a')
      const listings = () => db.session().at(User, 'a').collection('listings')
      const change = (how: 'add' | 'remove', ...ids: string[]): Promise<unknown> =>
        db.withSession(async (session) => {
          const to = session.at(User, 'a').collection('listings')
          for (const id of ids)
            if (how === 'add') to.add((await session.find(Listing, id)) ?? make(new Listing(), { id }))
            else to.remove(id)
        })
      await change('add', 'l0', 'l1', 'l2', 'l3')
      let count = 4
      for (const [i, step] of [
        () => listings().shard(3),
        () => listings().shard(5),
        () => listings().merge(),
      ].entries()) {
        await step()
        await change('add', 'l0', `m${i}`, `n${i}`)
        await change('remove', `l${i}`, 'nobody')
        expect((await db.session().load(User, 'a')).listingCount).to.equal(++count)
        if (i < 2) await change('add', `l${i}`)
        count += i < 2 ? 1 : 0
        expect(await drift()).to.deep.equal([])
      }
      expect(await listings().count()).to.equal(count)
      expect(await wrongCounts(db, { User, Listing }, false)).to.deep.equal([])
    })

    it('are added up by verify, and put right', async () => {
      await users('a', 'b', 'c')
      await db.withSession((session) => void session.at(User, 'c').collection('followers').add('a', 'b'))
      const [{ '_sk.shard': shard }] = await records('sc_user_followerCount')
      await db.client.put(new Aerospike.Key(namespace, 'sc_user_followerCount', `c:${shard as number}`), {
        followerCount: 7,
      })
      await db.client.put(new Aerospike.Key(namespace, 'sc_user', 'a'), { nfollows: -3 })
      const wrong = ['a followCount', 'c followerCount']
      expect(await wrongCounts(db, { User, Listing }, false)).to.deep.equal(wrong.map((each) => `${each} found`))
      expect(await wrongCounts(db, { User, Listing }, true)).to.deep.equal(wrong.map((each) => `${each} repaired`))
      expect(await wrongCounts(db, { User, Listing }, false)).to.deep.equal([])
      expect((await db.session().load(User, 'c')).followerCount).to.equal(2)
      expect(await drift()).to.deep.equal([])
    })

    it('leave no shard behind where the owner is deleted while others add to it', async function () {
      this.timeout(60_000)
      const ids = Array.from({ length: 10 }, (_, i) => `u${i}`)
      await users(...ids)
      for (let round = 0; round < 3; round++) {
        await users('star')
        await Promise.all([
          ...ids.map((id) =>
            db
              .withSession((session) => void session.at(User, 'star').collection('followers').add(id))
              .catch(() => undefined),
          ),
          db.session().delete(User, 'star'),
        ])
        await db
          .session()
          .delete(User, 'star')
          .catch(() => undefined)
        expect(await records('sc_user_followerCount'), `round ${round}`).to.deep.equal([])
      }
      if (mode === 'sc') expect(await drift()).to.deep.equal([])
    })

    it('show in explain and in the description of the model', async () => {
      await users('a', 'b')
      const session = db.session()
      session.at(User, 'a').collection('followers').add('b')
      const plan = String(await session.explain())
      if (mode === 'sc') expect(plan).to.match(/write .*followerCount/)
      else expect(plan).to.include('that is added to one of the 4 shards of followerCount of User')
      expect(db.model.describe()).to.include('countOf, followers, 4 shards by hash')
    })

    it('are put right by verify where the answer of one of their shards is lost, and never drift in transactions', async function () {
      const { faults, clock } = need(this, server.embedded, 'only the embedded server has faults')
      await users('a', 'b', 'c')
      await db.withSession((session) => void session.at(User, 'a').collection('followers').add('b'))
      const hasty = await server.open({ namespace, entities: [User, Listing], retry: { attempts: 1 } })
      await faults.add({ namespace, set: 'sc_user_followerCount', drop: true, times: 1 })
      const add = (): Promise<unknown> =>
        hasty.withSession((session) => void session.at(User, 'a').collection('followers').add('c'))
      // A transaction is tried again as a whole.
      if (mode === 'ap') expect(await rejection(add)).to.have.property('code', 'SKEIN_4001')
      else await add()
      await faults.clear()
      await hasty.close()
      if (mode === 'sc') await clock.advance(60)
      const wrong = await wrongCounts(db, { User, Listing }, true)
      if (mode === 'sc') expect(wrong).to.deep.equal([])
      else expect(wrong).to.include('a followerCount repaired')
      expect(await drift()).to.deep.equal([])
    })
  })
}
