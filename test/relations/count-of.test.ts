import Aerospike from 'aerospike'
import { expect } from 'chai'
import {
  Bin,
  collection,
  CountOf,
  Embeddable,
  Index,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  fromPlain,
  ref,
  toPlain,
  type Database,
  type Finding,
} from 'skein'
import { MODES, need, type TestServer } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Since {
  @Bin() year!: number
}

@Embeddable()
class Note {
  @Key() id!: string
  @Bin() text!: string
}

@Record({ set: 'cnt_user' })
class User {
  @Key() id!: string
  @Index() @CountOf('followers') followerCount = 0
  @CountOf('follows', { name: 'nfollows' }) followCount = 0
  @CountOf('friends') friendCount = 0
  @CountOf('notes') noteCount = 0
  @CountOf('listings') listingCount = 0
  @ManyToMany(() => User, 'followers', { owner: true }) follows = collection<User>()
  @ManyToMany(() => User, 'follows') followers = collection<User>()
  @ManyToMany(() => User, 'friends', { owner: true, attributes: () => Since }) friends = collection<User, Since>()
  @OneToMany(() => Note, { strategy: 'consolidate', cap: { keep: 3, by: 'last' } }) notes = collection<Note>()
  @OneToMany(() => Listing, 'agent', { onDelete: 'cascade' }) listings = collection<Listing>()
}

@Record({ set: 'cnt_listing' })
class Listing {
  @Key() id!: string
  @ManyToOne(() => User, 'listings') agent = ref<User>()
}

/** Each count and the bin that it counts. */
const COUNTS = [
  ['followerCount', 'followers'],
  ['nfollows', 'follows'],
  ['friendCount', 'friends'],
  ['noteCount', 'notes'],
  ['listingCount', 'listings'],
] as const

const make = <T extends object>(entity: T, values: object): T => Object.assign(entity, values)

for (const mode of MODES) {
  describe(`counts of collections (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, [User, Listing], (opened) => ({ db, server, namespace } = opened))
    afterEach(() => server.embedded?.faults.clear())

    async function users(...ids: string[]): Promise<void> {
      await db.withSession((session) => ids.forEach((id) => session.create(User, { id })))
    }

    /** Fails where the count in a record is not the number of members in it. */
    async function expectNoDrift(where = ''): Promise<void> {
      for (const { bins } of await db.client.query(namespace, 'cnt_user').results())
        for (const [count, bin] of COUNTS) {
          const stored = bins[bin] as object | undefined
          const size = stored === undefined ? 0 : Object.keys(stored).length
          expect(bins[count] ?? 0, `${count} of ${bins.id as string} ${where}`).to.equal(size)
        }
    }

    const read = async (id: string): Promise<User> => (await db.read(User, [id]))[0]!

    it('are kept by every change of lists, links, maps and children, on both sides', async () => {
      await users('a', 'b', 'c')
      const session = db.session()
      const [a, b, c] = await session.loadMany(User, ['a', 'b', 'c'])
      a.follows.add(b)
      a.follows.add(c)
      b.followers.add(c)
      a.friends.link(b, { year: 1999 })
      for (const id of ['1', '2', '3', '4']) a.notes.add(make(new Note(), { id, text: 'x' }))
      a.listings.add(make(new Listing(), { id: 'l1' }))
      a.listings.add(make(new Listing(), { id: 'l2' }))
      await session.flush()
      expect(await read('a')).to.include({
        followCount: 2,
        followerCount: 0,
        friendCount: 1,
        noteCount: 3,
        listingCount: 2,
      })
      expect(await read('b')).to.include({ followerCount: 2, friendCount: 1 })
      await expectNoDrift()
      b.listings.add(await session.load(Listing, 'l1'))
      a.follows.remove(b)
      a.friends.remove(b)
      a.notes.remove(a.notes.items[0])
      await session.flush()
      expect(await read('a')).to.include({ followCount: 1, friendCount: 0, noteCount: 2, listingCount: 1 })
      expect(await read('b')).to.include({ followerCount: 1, friendCount: 0, listingCount: 1 })
      await session.refresh(a)
      expect(a.listingCount).to.equal(1)
      expect(session.isDirty()).to.equal(false)
      await expectNoDrift()
    })

    it('follow deletes and cascades', async () => {
      await users('a', 'b')
      const session = db.session()
      const [a, b] = await session.loadMany(User, ['a', 'b'])
      a.follows.add(b)
      for (const id of ['l1', 'l2']) b.listings.add(make(new Listing(), { id }))
      await session.flush()
      await db.session().delete(Listing, 'l1')
      expect((await read('b')).listingCount).to.equal(1)
      await db.session().delete(User, 'a')
      expect((await read('b')).followerCount).to.equal(0)
      await expectNoDrift()
    })

    it('follow a delete in steps', async () => {
      const fans = Array.from({ length: 25 }, (_, i) => `fan${i}`)
      await users('star', 'other', ...fans)
      await db.withSession((session) => {
        for (const fan of fans) session.at(User, fan).collection('follows').add('star')
        for (const fan of fans) session.at(User, fan).collection('follows').add('other')
        for (const id of fans) session.create(Listing, { id, agent: 'star' })
      })
      expect(await read('star')).to.include({ followerCount: 25, listingCount: 25 })
      await db.session().delete(User, 'star', { step: 10 })
      expect((await db.read(User, fans)).map((fan) => fan!.followCount)).to.deep.equal(fans.map(() => 1))
      expect((await read('other')).followerCount).to.equal(25)
      await expectNoDrift()
    })

    it('are kept by handles, by upserts, and not by adding what is there', async () => {
      await users('a', 'b')
      for (let i = 0; i < 2; i++) {
        await db.withSession((session) => {
          session.at(User, 'a').collection('follows').add('b')
          session
            .at(User, 'new', { create: true })
            .collection('notes')
            .add(make(new Note(), { id: 'n', text: 'x' }))
        })
      }
      expect(
        [await read('a'), await read('b'), await read('new')].map((user) => [
          user.followCount,
          user.followerCount,
          user.noteCount,
        ]),
      ).to.deep.equal([
        [1, 0, 0],
        [0, 1, 0],
        [0, 0, 1],
      ])
      const session = db.session()
      await session.upsert(await session.load(User, 'a'))
      await db.session().upsert(make(new User(), { id: 'b' }))
      expect([(await read('a')).followCount, (await read('b')).followerCount]).to.deep.equal([1, 1])
      await expectNoDrift()
    })

    it('never drift while many add and remove at once, in stages', async function () {
      this.timeout(60_000)
      await users('star', ...Array.from({ length: 20 }, (_, i) => `u${i}`))
      await Promise.all(
        Array.from({ length: 20 }, async (_, i) => {
          for (const change of ['add', 'remove', 'add'] as const) {
            const session = db.session()
            session.at(User, `u${i}`).collection('follows')[change]('star')
            await session.flush({ transactions: 'off' })
          }
        }),
      )
      expect((await read('star')).followerCount).to.equal(20)
      await expectNoDrift()
    })

    it('never drift while some add and remove at once, as the namespace allows', async function () {
      this.timeout(60_000)
      await users('star', 'u0', 'u1', 'u2')
      await Promise.all(
        ['u0', 'u1', 'u2'].map(async (id) => {
          for (const change of ['add', 'remove', 'add'] as const)
            await db.withSession((session) => session.at(User, id).collection('follows')[change]('star'))
        }),
      )
      expect((await read('star')).followerCount).to.equal(3)
      await expectNoDrift()
    })

    it('never drift where a flush fails at any command', async function () {
      const { faults } = need(this, server.embedded, 'only the embedded server has faults')
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
            const parent = skip % 2 === 0 ? b : c
            if (listing === null) parent.listings.add(make(new Listing(), { id: 'l' }))
            else parent.listings.add(listing)
            await faults.add({ namespace, skip, drop: true, after, times: skip % 3 === 0 ? 1_000_000 : 1 })
            await session.flush().catch(() => undefined)
            await faults.clear()
            if (mode === 'sc') await server.embedded!.clock.advance(60)
            await expectNoDrift(`after ${skip} commands`)
          }
        }
      } finally {
        await hasty.close()
      }
    })

    it('go out of a program with the entity, and do not come back in', async () => {
      await users('a', 'b')
      await db.withSession((session) => session.at(User, 'a').collection('follows').add('b'))
      const plain = toPlain(await read('b')) as { followerCount: number }
      expect(plain.followerCount).to.equal(1)
      expect((await db.session().load(User, 'b', { only: ['followerCount'] })).followerCount).to.equal(1)
      const error = await rejection(() => db.session().save(fromPlain(User, { id: 'c', followerCount: 4 })))
      expect(error).to.have.property('code', 'SKEIN_2209')
    })

    it('can be asked for by a query', async () => {
      await users('a', 'b', 'c')
      await db.withSession((session) => {
        session.at(User, 'a').collection('follows').add('c')
        session.at(User, 'b').collection('follows').add('c')
        session.at(User, 'a').collection('follows').add('b')
      })
      const popular = await db
        .query(User)
        .where({ followerCount: { gt: 1 } })
        .toArray()
      expect(popular.map(({ id }) => id)).to.deep.equal(['c'])
    })

    it('cannot be assigned', async () => {
      await users('a')
      const session = db.session()
      const a = await session.load(User, 'a')
      a.followerCount = 7
      expect(await rejection(() => session.flush())).to.have.property('code', 'SKEIN_2209')
      a.followerCount = 0
      await session.flush()
      const made = await rejection(() => db.session().save(make(new User(), { id: 'z', noteCount: 3 })))
      expect(made).to.have.property('code', 'SKEIN_2209')
      const bulk = await rejection(() => db.scan(User).update({ followerCount: 3 }))
      expect(bulk).to.have.property('code', 'SKEIN_2514')
    })

    it('are found and put right by verify where another program has changed the collection', async () => {
      await users('a', 'b')
      const key = new Aerospike.Key(namespace, 'cnt_user', 'a')
      await db.client.operate(key, [
        Aerospike.operations.write('noteCount', 5),
        Aerospike.operations.write('nfollows', null),
      ])
      await db.client.operate(new Aerospike.Key(namespace, 'cnt_user', 'b'), [Aerospike.lists.append('follows', 'a')])
      const kinds = async (repair: boolean): Promise<string[]> => {
        const found: Finding[] = []
        for await (const finding of db.verify(User, { repair, settle: 0 })) found.push(finding)
        return found
          .filter(({ kind }) => kind === 'wrongCount')
          .map(({ key: id, property, state }) => `${String(id)} ${property} ${state}`)
          .sort()
      }
      expect(await kinds(false)).to.include('a noteCount found')
      await kinds(true)
      expect(await kinds(false)).to.deep.equal([])
      await expectNoDrift()
    })

    it('show in explain', async () => {
      await users('a', 'b')
      const session = db.session()
      session.at(User, 'a').collection('follows').add('b')
      expect(String(await session.explain())).to.include('write nfollows = size of follows')
      expect(db.model.describe()).to.include('followCount').and.include('(countOf, follows)')
    })
  })
}
