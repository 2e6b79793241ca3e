import Aerospike from 'aerospike'
import { expect } from 'chai'
import {
  collection,
  Companion,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  ref,
  Sharded,
  type Database,
  type Session,
} from 'skein'
import { MODES, need, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { COUNTS, CountedListing, CountedUser, Since, testCounts, wrongCounts } from './count-suite.js'

@Record({ set: 'cc_user' })
class User extends CountedUser {
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
class Listing extends CountedListing {
  @ManyToOne(() => User, 'listings') agent = ref<User>()
}

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

    testCounts(mode, { User, Listing, drift, mayDrift: true }, () => ({ db, server, namespace }))

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

    it('are right where the server refuses a part of the members, and when the flush is completed', async function () {
      const { faults } = need(this, server.embedded, 'only the embedded server has faults')
      const fans = Array.from({ length: 9 }, (_, i) => `fan${i}`)
      for (let skip = 0; skip < 4; skip++) {
        await users(`star${skip}`, ...(skip === 0 ? fans : []))
        const followers = (session: Session) => session.at(User, `star${skip}`).collection('followers')
        await db.withSession((session) => void followers(session).add(...fans.slice(0, 4)))
        const session = db.session()
        followers(session).remove('fan0')
        followers(session).add(...fans)
        await faults.add({ namespace, set: 'cc_user_followers', kind: 'write', skip, answer: 4 })
        await session.flush().catch(() => undefined)
        await faults.clear()
        expect(await drift(), `after ${skip} commands`).to.deep.equal([])
        await session.flush()
        expect(await drift(), `completed after ${skip} commands`).to.deep.equal([])
      }
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
      expect(await wrongCounts(db, { User, Listing }, false)).to.deep.equal([
        'a followCount found',
        'c followerCount found',
      ])
      expect(await wrongCounts(db, { User, Listing }, true)).to.deep.equal([
        'a followCount repaired',
        'c followerCount repaired',
      ])
      expect(await wrongCounts(db, { User, Listing }, false)).to.deep.equal([])
      expect(await drift()).to.deep.equal([])
    })
  })
}
