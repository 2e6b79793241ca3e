import Aerospike from 'aerospike'
import { expect } from 'chai'
import {
  Bin,
  collection,
  CountOf,
  Embeddable,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  fromPlain,
  ref,
  toPlain,
  type Database,
} from 'skein'
import { MODES, type TestServer } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { useDatabase } from '../../use-database.js'
import { COUNTS, CountedListing, CountedUser, make, Since, testCounts, wrongCounts } from './count-suite.js'

@Embeddable()
class Note {
  @Key() id!: string
  @Bin() text!: string
}

@Record({ set: 'cnt_user' })
class User extends CountedUser {
  @CountOf('notes') noteCount = 0
  @ManyToMany(() => User, 'followers', { owner: true }) follows = collection<User>()
  @ManyToMany(() => User, 'follows') followers = collection<User>()
  @ManyToMany(() => User, 'friends', { owner: true, attributes: () => Since }) friends = collection<User, Since>()
  @OneToMany(() => Note, { strategy: 'consolidate', cap: { keep: 3, by: 'last' } }) notes = collection<Note>()
  @OneToMany(() => Listing, 'agent', { onDelete: 'cascade' }) listings = collection<Listing>()
}

@Record({ set: 'cnt_listing' })
class Listing extends CountedListing {
  @ManyToOne(() => User, 'listings') agent = ref<User>()
}

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

    /** Counts that are not the number of members in the same record. */
    async function drift(): Promise<string[]> {
      const wrong: string[] = []
      for (const { bins } of await db.client.query(namespace, 'cnt_user').results())
        for (const [count, bin] of [...COUNTS, ['noteCount', 'notes']] as const)
          if ((bins[count] ?? 0) !== Object.keys((bins[bin] ?? {}) as object).length)
            wrong.push(`${bins.id as string} ${count}`)
      return wrong
    }

    const read = async (id: string): Promise<User> => (await db.read(User, [id]))[0]!

    testCounts(mode, { User, Listing, drift }, () => ({ db, server, namespace }))

    it('are kept by changes of children, of which some are dropped', async () => {
      await users('a')
      const session = db.session()
      const a = await session.load(User, 'a')
      for (const id of ['1', '2', '3', '4']) a.notes.add(make(new Note(), { id, text: 'x' }))
      await session.flush()
      expect((await read('a')).noteCount).to.equal(3)
      a.notes.remove(a.notes.items[0])
      await session.flush()
      expect((await read('a')).noteCount).to.equal(2)
      expect(await drift()).to.deep.equal([])
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
      expect(await drift()).to.deep.equal([])
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
      expect(await drift()).to.deep.equal([])
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
      const kinds = (repair: boolean): Promise<string[]> => wrongCounts(db, { User, Listing }, repair)
      expect(await kinds(false)).to.include('a noteCount found')
      await kinds(true)
      expect(await kinds(false)).to.deep.equal([])
      expect(await drift()).to.deep.equal([])
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
