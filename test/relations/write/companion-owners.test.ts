import { expect } from 'chai'
import { EntityGoneError, type Database } from 'skein'
import { hashShard } from '#src/keys/index.js'
import { MODES, type TestServer } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { useDatabase } from '../../use-database.js'
import {
  COMPANION_CLASSES,
  Agent,
  Listing,
  Note,
  SHARDS,
  Shelf,
  User,
  agent,
  listing,
  user,
} from './companion-models.js'
import { event, Site } from '../buckets/bucket-models.js'
import { comment, Post as ChildPost, Writer } from '../strategies/companion-parts/companion-part-models.js'
import { GROWING_CLASSES, Post, Reader, make } from '../growth/growing-models.js'

const OTHER = 3
const names = (count: number, from = 0): string[] => Array.from({ length: count }, (_, i) => `u${i + from}`)

for (const mode of MODES) {
  describe(`owners of companion records that are upserted (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, COMPANION_CLASSES, (opened) => ({ db, server, namespace } = opened))

    const put = (set: string, key: string | number, bins: object): Promise<unknown> =>
      db.client.put({ ns: namespace, set, key }, bins as never)
    const membersOf = async (set: string, bin: string): Promise<{ [key: string]: unknown }> => {
      const records = await db.client.query(namespace, set).results()
      return Object.fromEntries(
        records.map(({ bins }) => [
          `${Number(bins['_sk.shards'])}:${Number(bins['_sk.shard'])}`,
          (bins[bin] as string[]).map(String).sort(),
        ]),
      )
    }
    const spread = (members: readonly string[], shards: number): { [key: string]: string[] } => {
      const homes: { [key: string]: string[] } = {}
      for (const each of members) (homes[`${shards}:${hashShard(each, shards)}`] ??= []).push(each)
      for (const home of Object.values(homes)) home.sort()
      return homes
    }
    /** A database that has not learnt yet how an owner is stored. */
    const withFresh = async (work: (fresh: Database) => Promise<unknown>): Promise<void> => {
      const fresh = await server.open({ namespace, entities: COMPANION_CLASSES })
      try {
        await work(fresh)
      } finally {
        await fresh.close()
      }
    }

    it('keep the number of shards that they are stored with, for many-to-many', async () => {
      await db.withSession((session) => {
        for (const id of names(12)) session.persist(user(id))
      })
      await put('cuser', 'eve', { id: 'eve', subkeys: ['hash-shards', OTHER] })
      await withFresh((fresh) =>
        fresh.withSession(async (session) => {
          const eve = user('eve')
          for (const id of names(12)) eve.followers.add(await session.load(User, id))
          await session.upsert(eve)
        }),
      )
      expect(await membersOf('cuser_followers', 'followers')).to.deep.equal(spread(names(12), OTHER))
      expect(await db.session().at(User, 'eve').collection('followers').count()).to.equal(12)
    })

    it('keep it for lists of keys, of children that say whose they are and of those that do not', async () => {
      await put('cagent', 7, { id: 7, subkeys: ['hash-shards', OTHER], keptIn: ['hash-shards', OTHER] })
      await withFresh((fresh) =>
        fresh.withSession(async (session) => {
          const seven = agent(7)
          for (const id of names(6)) seven.listings.add(listing(id))
          for (const id of names(6, 6)) {
            const child = listing(id)
            child.agent.set(seven)
            session.persist(child)
          }
          for (const id of names(6)) seven.kept.add(listing(`k${id}`))
          await session.upsert(seven)
        }),
      )
      expect(await membersOf('cagent_listings', 'listings')).to.deep.equal(spread(names(12), OTHER))
      const kept = names(6).map((id) => `k${id}`)
      expect(await membersOf('cagent_kept', 'kept')).to.deep.equal(spread(kept, OTHER))
    })

    it('take new members where there was no owner', async () => {
      const ada = user('ada')
      for (const id of names(9)) ada.followers.add(user(id))
      await db.session().upsert(ada)
      expect(await membersOf('cuser_followers', 'followers')).to.deep.equal(spread(names(9), SHARDS))
      const { bins } = await db.client.get({ ns: namespace, set: 'cuser', key: 'ada' })
      expect(bins.subkeys).to.deep.equal(['hash-shards', SHARDS])
    })

    it('are made by a handle that creates them, together with their members', async () => {
      await db.withSession((session) => {
        for (const id of names(3)) session.persist(user(id))
        session.persist(make(Note, { id: 1 }))
        session.persist(make(Listing, { id: 'l' }))
      })
      await db.withSession((session) => {
        const made = session.at(User, 'new', { create: true })
        for (const id of names(2)) made.collection('followers').add(id)
        made.collection('follows').add('u2')
        const agent = session.at(Agent, 9, { create: true })
        agent.collection('notes').add(1)
        agent.collection('kept').add('l')
      })
      const asked = db.session()
      expect(await asked.at(User, 'new').collection('followers').keys()).to.deep.equal(names(2))
      expect(await asked.at(User, 'new').collection('follows').keys()).to.deep.equal(['u2'])
      expect(await asked.at(User, 'u2').collection('followers').keys()).to.deep.equal(['new'])
      expect(await asked.at(Agent, 9).collection('notes').keys()).to.deep.equal([1])
      expect(await asked.at(Agent, 9).collection('kept').keys()).to.deep.equal(['l'])
      // Once more: now they are there.
      await db.withSession((session) => {
        session.at(User, 'new', { create: true }).collection('followers').add('u2')
      })
      expect(await db.session().at(User, 'new').collection('followers').keys()).to.deep.equal(names(3))
    })
  })

  describe(`owners of children in companion records and in buckets (${mode})`, () => {
    let db: Database
    useDatabase(mode, [ChildPost, Writer, Site], (opened) => ({ db } = opened))

    it('are made by a handle that creates them, together with their children', async () => {
      for (const id of ['a', 'b'])
        await db.withSession((session) => {
          const made = session.at(ChildPost, 'new', { create: true })
          made.collection('comments').add(comment(id), comment(`${id}${id}`))
          made.collection('drafts').add(comment(id))
          session.at(Site, 'new', { create: true }).collection('events').add(event(id, Date.now()))
        })
      const asked = db.session()
      expect(await asked.at(ChildPost, 'new').collection('comments').keys()).to.deep.equal(['a', 'aa', 'b', 'bb'])
      expect(await asked.at(ChildPost, 'new').collection('drafts').keys()).to.deep.equal(['a', 'b'])
      expect(await asked.at(Site, 'new').collection('events').count()).to.equal(2)
    })
  })

  describe(`owners of companion records that were deleted softly (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    const entities = [Shelf, Note]
    useDatabase(mode, entities, (opened) => ({ db, server, namespace } = opened))

    const notesOf = (id: string): Promise<unknown> => db.session().at(Shelf, id).collection('notes').keys()
    const change = (how: 'add' | 'remove', member: number, of = db, id = 's'): Promise<unknown> =>
      of.withSession((session) => void session.at(Shelf, id).collection('notes')[how](member))

    beforeEach(async () => {
      await db.withSession((session) => {
        for (const id of [1, 2, 3]) session.persist(make(Note, { id }))
        session.persist(make(Shelf, { id: 's' }))
      })
    })

    it('refuse a member for which a companion would have to be made, until they are restored', async () => {
      await db.session().delete(Shelf, 's')
      expect(await rejection(() => change('add', 1))).to.be.instanceOf(EntityGoneError)
      expect(await db.client.query(namespace, 'cshelf_notes').results()).to.have.length(0)
      await db.session().restore(Shelf, 's')
      await change('add', 1)
      expect(await notesOf('s')).to.deep.equal([1])
    })

    if (mode === 'sc')
      it('refuse it in a transaction, too', async () => {
        await db.session().delete(Shelf, 's')
        const add = (): Promise<unknown> =>
          db.transaction((session) => void session.at(Shelf, 's').collection('notes').add(1))
        const error = (await rejection(add)) as EntityGoneError
        expect([error, error.cause].some((each) => each instanceof EntityGoneError)).to.equal(true)
        expect(await db.client.query(namespace, 'cshelf_notes').results()).to.have.length(0)
      })

    it('refuse one whose companion they are asked for, and let others out', async () => {
      const put = (set: string, key: string, bins: object): Promise<unknown> =>
        db.client.put({ ns: namespace, set, key }, bins as never)
      await put('cshelf', 'three', { id: 'three', subkeys: ['hash-shards', OTHER], deletedAt: Date.now() })
      for (let shard = 0; shard < OTHER; shard++) {
        const here = [1, 2].filter((id) => hashShard(id, OTHER) === shard)
        await put('cshelf_notes', `three:${shard}`, { '_sk.root': 'three', '_sk.shards': OTHER, notes: here })
      }
      const fresh = await server.open({ namespace, entities })
      expect(await rejection(() => change('add', 3, fresh, 'three'))).to.be.instanceOf(EntityGoneError)
      await fresh.close()
      const other = await server.open({ namespace, entities })
      await change('remove', 2, other, 'three')
      await other.close()
      const records = await db.client.query(namespace, 'cshelf_notes').results()
      expect(records.flatMap(({ bins }) => bins.notes as number[])).to.deep.equal([1])
    })

    it('do not see one that comes into a companion that is there: it is shown once they are restored', async () => {
      await change('add', 1)
      await db.session().delete(Shelf, 's')
      const same = [...Array(200).keys()].find((id) => id > 3 && hashShard(id, SHARDS) === hashShard(1, SHARDS))!
      await db.session().save(make(Note, { id: same }))
      await change('add', same)
      await db.session().restore(Shelf, 's')
      expect(await notesOf('s')).to.deep.equal([1, same])
    })
  })

  describe(`owners of members that are sharded on demand and are upserted (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, GROWING_CLASSES, (opened) => ({ db, server, namespace } = opened))

    it('keep their members where they are', async () => {
      const post = make(Post, { id: 'p' })
      for (const id of names(5)) post.readers.add(make(Reader, { id }))
      await db.session().save(post)
      await db.session().at(Post, 'p').collection('readers').shard(OTHER)
      const fresh = await server.open({ namespace, entities: GROWING_CLASSES })
      const again = make(Post, { id: 'p' })
      for (const id of names(5, 5)) again.readers.add(make(Reader, { id }))
      const other = make(Post, { id: 'q' })
      other.readers.add(make(Reader, { id: 'r' }))
      await fresh.session().upsert(again)
      await fresh.session().upsert(other)
      await fresh.close()
      const readers = db.session().at(Post, 'p').collection('readers')
      expect(await readers.keys()).to.deep.equal(names(10).sort())
      const { bins } = await db.client.get({ ns: namespace, set: 'gpost', key: 'p' })
      expect(bins).to.deep.include({ readersIn: ['hash-shards', OTHER], readers: [] })
      expect(await db.session().at(Post, 'q').collection('readers').keys()).to.deep.equal(['r'])
    })
  })
}
