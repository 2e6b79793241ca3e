import Aerospike from 'aerospike'
import { expect } from 'chai'
import { keysOf, RestrictedError, SkeinError, toPlain, type Database } from 'skein'
import { expectRoundTrips } from '../../../expect-round-trips.js'
import { MODES, type TestServer } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'
import { settled } from '../../verify/settled.js'
import { Album, Author, COLLECTIONS, Feed, Note, Photo, Post } from './several-models.js'

for (const mode of MODES) {
  describe(`a collection of several classes (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, COLLECTIONS, (opened) => ({ db, server, namespace } = opened))

    beforeEach(() =>
      db.withSession(async (session) => {
        session.create(Author, { id: 'ada', name: 'Ada' })
        for (const id of [1, 2, 3]) {
          session.create(Post, { id, title: `post ${id}`, author: 'ada' })
          session.create(Photo, { id, file: `${id}.jpg`, author: 'ada' })
        }
        session.create(Note, { id: 'n1', text: 'Note' })
        session.create(Feed, { id: 'home', items: ['post:1', 'photo:1', 'page:n1'], kept: ['photo:2', 'post:2'] })
      }),
    )

    const bins = async (set: string, key: string | number) =>
      (await db.client.get(new Aerospike.Key(namespace, set, key))).bins

    async function verifyAll(repair = false): Promise<string[]> {
      const found = []
      const terms = { repair, ...(await settled(server)) }
      for await (const { message, state } of db.verify(COLLECTIONS, terms)) found.push(`${state}: ${message}`)
      return found
    }

    it('is stored as an ordered list of keys with their sets, and is counted', async () => {
      const { items, itemCount } = await bins('feed', 'home')
      expect(items).to.deep.equal(['page:n1', 'photo:1', 'post:1'])
      expect(itemCount).to.equal(3)
    })

    it('is loaded in one batch across the sets', async () => {
      const session = db.session()
      let feed!: Feed
      const { commands } = await server.commands.during(async () => {
        feed = await session.load(Feed, 'home', { with: ['items', 'items.author'] })
      })
      expectRoundTrips(commands, 3)
      await feed.kept.load()
      expect(feed.items.items.map(({ constructor }) => constructor)).to.have.members([Post, Photo, Note])
      expect(feed.kept.items.map((item) => (item instanceof Post ? item.title : item.file))).to.deep.equal([
        '2.jpg',
        'post 2',
      ])
    })

    it('tells the members of equal keys apart without loading them', async () => {
      const session = db.session()
      const feed = await session.load(Feed, 'home')
      const [post, photo] = [await session.load(Post, 1), await session.load(Photo, 2)]
      expect(await feed.items.contains(post)).to.equal(true)
      expect(await feed.items.contains(photo)).to.equal(false)
      expect(await feed.items.contains(keysOf(Photo).withSet(1))).to.equal(true)
      expect(await feed.items.contains('photo:3')).to.equal(false)
      expect(await feed.items.count()).to.equal(3)
      expect(await feed.items.keys()).to.deep.equal(['page:n1', 'photo:1', 'post:1'])
      expect(await feed.items.page({ offset: 1, count: 1 })).to.deep.equal([await session.load(Photo, 1)])
      expect(() => feed.items.add(1)).to.throw(SkeinError, /not a key of Post \| Photo \| Page/)
      expect(() => feed.kept.add('page:n1')).to.throw(SkeinError, /not a key of Post \| Photo/)
    })

    it('adds and removes members by entity and by key', async () => {
      const session = db.session()
      const feed = await session.load(Feed, 'home')
      feed.items.add('post:2', await session.load(Photo, 3))
      const { commands } = await server.commands.during(() => session.flush())
      expectRoundTrips(commands, 1)
      feed.items.remove(await session.load(Photo, 1))
      await session.flush()
      expect(await bins('feed', 'home')).to.deep.include({
        items: ['page:n1', 'photo:3', 'post:1', 'post:2'],
        itemCount: 4,
      })
      feed.kept.add('photo:1')
      feed.kept.remove('post:2')
      await session.flush()
      expect(await db.session().at(Feed, 'home').collection('kept').keys()).to.deep.equal(['photo:1', 'photo:2'])
    })

    it('has members of equal keys before a session has taken it in', async () => {
      const [post, photo] = [new Post(), new Photo()]
      Object.assign(post, { id: 7, title: 'seven' })
      Object.assign(photo, { id: 7, file: '7.jpg' })
      const feed = Object.assign(new Feed(), { id: 'new' })
      feed.items.add(post, photo, 'photo:1')
      expect(await feed.items.count()).to.equal(3)
      feed.items.remove(post)
      feed.items.add(post)
      await db.withSession((session) => session.save(feed))
      expect((await bins('feed', 'new'))['items']).to.deep.equal(['photo:1', 'photo:7', 'post:7'])
    })

    it('shows changes that are not sent yet', async () => {
      const feed = await db.session().load(Feed, 'home')
      feed.items.add('photo:2')
      feed.items.remove('photo:1')
      expect(await feed.items.keys()).to.have.members(['page:n1', 'photo:2', 'post:1'])
      expect(await feed.items.contains('photo:1')).to.equal(false)
      expect((await feed.items.load()).map(({ constructor }) => constructor)).to.have.members([Post, Photo, Note])
    })

    it('is found by what it has, and is a hop of a walk', async () => {
      const photo = await db.session().load(Photo, 1)
      expect(await db.query(Feed).whereHas('items', photo).keys()).to.deep.equal(['home'])
      expect(await db.query(Feed).whereHas('items', 'post:1').keys()).to.deep.equal(['home'])
      expect(await db.query(Feed).whereHas('items', 'photo:2').keys()).to.deep.equal([])
      const walk = db.session().walk(Feed, 'home').out('items')
      expect(await walk.keys()).to.deep.equal(['page:n1', 'photo:1', 'post:1'])
      const streamed = []
      for await (const item of db.session().walk(Feed, 'home').out('items').stream()) streamed.push(item.constructor)
      expect(streamed).to.deep.equal([Note, Photo, Post])
      expect(toPlain(await db.session().load(Feed, 'home', { with: ['items'] }))).to.deep.include({
        items: ['page:n1', 'photo:1', 'post:1'],
      })
    })

    it('leaves out what was deleted softly unless asked', async () => {
      await db.session().delete(Note, 'n1')
      const { items } = await db.session().load(Feed, 'home')
      expect(await items.count()).to.equal(2)
      expect(await items.count({ deleted: 'include' })).to.equal(3)
      expect(await items.keys({ deleted: 'only' })).to.deep.equal(['page:n1'])
      expect(await items.load()).to.have.lengthOf(2)
    })

    it('lists what is gone until verify takes it out', async () => {
      await db.session().delete(Photo, 1)
      const feed = await db.session().load(Feed, 'home', { with: ['items'] })
      expect(feed.items.dangling).to.deep.equal(['photo:1'])
      expect(await verifyAll(true)).to.deep.equal([
        'repaired: Feed "home" holds Photo 1 in items, which has no record.',
      ])
      expect((await bins('feed', 'home'))['items']).to.deep.equal(['page:n1', 'post:1'])
      expect(await verifyAll()).to.deep.equal([])
    })

    it('deletes its members with itself, and what was taken out of it, where it says so', async () => {
      await db.withSession(async (session) => {
        const album = session.create(Album, { id: 'a', own: ['post:1', 'photo:1', 'photo:2'] })
        album.own.add(session.create(Photo, { id: 9, file: 'nine.jpg' }))
      })
      await db.withSession(async (session) => {
        const album = await session.load(Album, 'a')
        album.own.remove('photo:2')
      })
      expect(await db.session().findMany(Photo, [2, 9])).to.satisfy(([two, nine]: (Photo | null)[]) => !two && nine)
      expect(await db.session().find(Post, 2)).to.be.instanceOf(Post)
      await db.session().delete(Album, 'a')
      expect(await db.session().findMany(Photo, [1, 3, 9])).to.satisfy(
        ([one, three, nine]: (Photo | null)[]) => !one && three && !nine,
      )
      expect(await db.session().find(Post, 1)).to.equal(null)
      expect((await verifyAll()).filter((finding) => !finding.includes('Feed'))).to.deep.equal([])
    })

    it('deletes more members than one plan holds, of all classes', async () => {
      await db.withSession(async (session) => {
        session.create(Album, { id: 'a', own: ['post:1', 'photo:1', 'photo:2', 'post:3', 'photo:3'] })
      })
      await db.session().delete(Album, 'a', { step: 2 })
      expect(await db.session().findMany(Photo, [1, 2, 3])).to.deep.equal([null, null, null])
      expect((await db.session().findMany(Post, [1, 2, 3])).map((post) => post?.id)).to.deep.equal([
        undefined,
        2,
        undefined,
      ])
    })

    it('forbids the delete of its owner while a member of any class is there', async () => {
      await db.withSession(async (session) => {
        session.create(Album, { id: 'a', needed: ['photo:1'] })
      })
      const error = await db
        .session()
        .delete(Album, 'a')
        .catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(RestrictedError)
      await db.session().delete(Photo, 1)
      expect(await db.session().delete(Album, 'a')).to.equal(true)
    })
  })
}
