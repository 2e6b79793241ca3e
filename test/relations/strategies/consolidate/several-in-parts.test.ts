import Aerospike from 'aerospike'
import { expect } from 'chai'
import { fromPlain, keysOf, SkeinError, toPlain, type Database } from 'skein'
import { expectRoundTrips } from '../../../expect-round-trips.js'
import { MODES, type TestServer } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { useDatabase } from '../../../use-database.js'
import { settled } from '../../verify/settled.js'
import { Author, Form, Note, Photo, Post } from '../key-bin/several-models.js'
import { answer, mention, MENTIONED, pin, Wall } from './several-part-models.js'

for (const mode of MODES) {
  describe(`a reference of a part to one of several classes (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, MENTIONED, (opened) => ({ db, server, namespace } = opened))

    beforeEach(() =>
      db.withSession((session) => {
        session.create(Author, { id: 'ada', name: 'Ada' })
        const post = session.create(Post, { id: 1, title: 'One', author: 'ada' })
        const photo = session.create(Photo, { id: 1, file: 'one.jpg', author: 'ada', shownIn: 'ada' })
        session.create(Note, { id: 'n:1', text: 'Note' })
        session.create(Form, { id: 'f1', author: 'ada' })
        const wall = session.create(Wall, { id: 1, top: pin(post), pins: [pin(photo), pin('page:n:1')] })
        wall.mentions.add(mention('a', post, answer('x', photo), answer('y', 'post:1')), mention('b', photo))
        session.create(Wall, { id: 2 }).mentions.add(mention('c', keysOf(Note).withSet('n:1')), mention('d', 'page:f1'))
      }),
    )

    const binOf = async (wall: number, bin: string): Promise<unknown> =>
      (await db.client.get(new Aerospike.Key(namespace, 'mention-wall', wall))).bins[bin]

    it('is stored as text that names the set and the key', async () => {
      expect(await binOf(1, 'mentions')).to.deep.equal({
        a: {
          id: 'a',
          subject: 'post:1',
          'answers/x': { id: 'x', about: 'photo:1' },
          'answers/y': { id: 'y', about: 'post:1' },
        },
        b: { id: 'b', subject: 'photo:1' },
      })
      expect(await binOf(1, 'top')).to.deep.equal({ subject: 'post:1' })
      expect(await binOf(1, 'pins')).to.deep.equal([{ subject: 'photo:1' }, { subject: 'page:n:1' }])
    })

    it('loads what all parts lead to in one batch, and what that leads to in another', async () => {
      let walls: Wall[] = []
      const { commands } = await server.commands.during(async () => {
        walls = await db.session().loadMany(Wall, [1, 2], {
          with: ['mentions.subject.author', 'mentions.answers.about.shownIn'],
        })
      })
      expectRoundTrips(commands, 3)
      const [a, b, c, d] = walls.flatMap(({ mentions }) => [...mentions]).map(({ subject }) => subject.value)
      expect([a, b, c, d].map((value) => value?.constructor)).to.deep.equal([Post, Photo, Note, Form])
      expect((a as Post).author.value?.name).to.equal('Ada')
      expect((d as Form).author.value?.name).to.equal('Ada')
      const [x, y] = walls[0].mentions.items[0].answers.items.map(({ about }) => about.value)
      expect(x).to.equal(b)
      expect(y).to.equal(a)
      expect((x as Photo).shownIn.value?.name).to.equal('Ada')
    })

    it('loads by itself, with all that are asked for in the same tick', async () => {
      const session = db.session()
      const wall = await session.load(Wall, 1)
      const { commands } = await server.commands.during(async () => {
        const found = await Promise.all([...wall.mentions].map(({ subject }) => subject.load()))
        expect(found.map((value) => value?.constructor)).to.deep.equal([Post, Photo])
      })
      expectRoundTrips(commands, 1)
      expect(session.isDirty(wall)).to.equal(false)
    })

    it('refuses a path that none of the classes knows', async () => {
      const error = await rejection(() => db.session().load(Wall, 1, { with: ['mentions.subject.nothing'] as never }))
      expect(error).to.have.property('code', 'SKEIN_2312')
    })

    it('is changed as one field of the part', async () => {
      const session = db.session()
      const wall = await session.load(Wall, 1)
      const [a] = wall.mentions
      a.subject.set(await session.load(Photo, 1))
      expect([a.subject.key, session.isDirty(wall)]).to.deep.equal(['photo:1', true])
      wall.top!.subject.set(await session.load(Note, 'n:1'))
      await session.flush()
      expect([a.subject.key, wall.top!.subject.key, session.isDirty(wall)]).to.deep.equal([
        'photo:1',
        'page:n:1',
        false,
      ])
      const later = await db.session().load(Wall, 1)
      expect([later.mentions.items[0].subject.key, later.top?.subject.key]).to.deep.equal(['photo:1', 'page:n:1'])
    })

    it('saves new entities of any of the classes along, from children', async () => {
      await db.withSession(async (session) => {
        const wall = await session.load(Wall, 2)
        const photo = Object.assign(new Photo(), { id: 7, file: 'new.jpg' })
        wall.mentions.add(mention('e', photo, answer('z', Object.assign(new Post(), { id: 7, title: 'New' }))))
      })
      const wall = await db.session().load(Wall, 2, { with: ['mentions.subject', 'mentions.answers.about'] })
      const e = await wall.mentions.get('e')
      expect((e!.subject.value as Photo).file).to.equal('new.jpg')
      expect((e!.answers.items[0].about.value as Post).title).to.equal('New')
    })

    it('refuses keys without a set, and of other sets, before anything is sent', async () => {
      const session = db.session()
      const wall = await session.load(Wall, 1)
      const [a] = wall.mentions
      for (const key of [1, 'author:ada', 'post:one', 'post']) {
        expect(() => a.subject.set(key)).to.throw(SkeinError, /is not a key of Post \| Photo \| Page/)
        wall.top!.subject.set(key)
        let error: unknown
        const { commands } = await server.commands.during(async () => (error = await rejection(() => session.flush())))
        expect(commands).to.equal(0)
        expect(error).to.be.instanceOf(SkeinError)
        expect((error as SkeinError).details).to.include({ className: 'Wall', key: 1 })
        expect((error as SkeinError).message).to.match(/top\.subject.* is not a key of Post \| Photo \| Page.*withSet/)
      }
    })

    it('refuses an entity of another class before anything is sent', async () => {
      const session = db.session()
      const wall = await session.load(Wall, 1)
      const ada = await session.load(Author, 'ada')
      expect(() => [...wall.mentions][0].subject.set(ada)).to.throw(SkeinError, /given a Author/)
      wall.top!.subject.set(ada)
      const error = await rejection(() => session.flush())
      expect(error).to.be.instanceOf(SkeinError)
      expect((error as SkeinError).message).to.match(/is not a key of Post \| Photo \| Page/)
    })

    it('does not take a string key that looks like one with a set for another record', async () => {
      await db.withSession(async (session) => {
        const note = session.create(Note, { id: 'post:1', text: 'confusing' })
        const wall = await session.load(Wall, 2)
        wall.top = pin(note)
        wall.mentions.add(mention('e', note))
      })
      expect(await binOf(2, 'top')).to.deep.equal({ subject: 'page:post:1' })
      const wall = await db.session().load(Wall, 2, { with: ['mentions.subject'] })
      expect(((await wall.mentions.get('e'))!.subject.value as Note).text).to.equal('confusing')
    })

    it('is walked through', async () => {
      const walk = db.session().walk(Wall, [1, 2]).out('mentions').out('subject')
      expect((await walk.keys()).sort()).to.deep.equal(['page:f1', 'page:n:1', 'photo:1', 'post:1'])
      const session = db.session()
      const authors = await session.walk(Wall, [1]).out('mentions').out('answers').out('about').out('author').keys()
      expect(authors).to.deep.equal(['ada'])
    })

    it('is found by a condition on the embedded part', async () => {
      const photo = await db.session().load(Photo, 1)
      const found = async (subject: unknown): Promise<unknown> =>
        db
          .scan(Wall)
          .where({ top: { subject } } as never)
          .keys()
      expect(await found('post:1')).to.deep.equal([1])
      expect(await found(photo)).to.deep.equal([])
      expect(await rejection(() => found(1))).to.have.property('code', 'SKEIN_2101')
    })

    it('is a key with its set as plain data, and is made of one again', async () => {
      const wall = await db.session().load(Wall, 1, { with: ['mentions.subject'] })
      const plain = JSON.parse(JSON.stringify(toPlain(wall))) as Record<string, unknown>
      expect(plain['mentions']).to.deep.equal([
        {
          id: 'a',
          subject: 'post:1',
          answers: [
            { id: 'x', about: 'photo:1' },
            { id: 'y', about: 'post:1' },
          ],
        },
        { id: 'b', subject: 'photo:1', answers: [] },
      ])
      expect([plain['top'], plain['pins']]).to.deep.equal([
        { subject: 'post:1' },
        [{ subject: 'photo:1' }, { subject: 'page:n:1' }],
      ])
      const copy = fromPlain(Wall, { ...plain, id: 3 }, { relations: 'keys' })
      await db.withSession((session) => Promise.resolve(session.persist(copy)))
      expect(await binOf(3, 'mentions')).to.deep.equal(await binOf(1, 'mentions'))
      expect(await binOf(3, 'top')).to.deep.equal({ subject: 'post:1' })
      expect(await binOf(3, 'pins')).to.deep.equal(await binOf(1, 'pins'))
      const wrong = { id: 4, mentions: [{ id: 'a', subject: 'author:ada' }] }
      expect(() => fromPlain(Wall, wrong, { relations: 'keys' })).to.throw(SkeinError, /takes a key of Post \| Photo/)
    })

    it('shows nothing once its target is deleted, and verify reports and clears it', async () => {
      await db.withSession(async (session) => void (await session.delete(Photo, 1)))
      const wall = await db.session().load(Wall, 1, { with: ['mentions.subject', 'mentions.answers.about'] })
      expect(wall.mentions.items.map(({ subject }) => subject.value?.constructor ?? null)).to.deep.equal([Post, null])
      const found = []
      const terms = { repair: true, ...(await settled(server)) }
      for await (const each of db.verify(Wall, terms)) found.push(each)
      expect(found.map(({ state, message }) => `${state}: ${message}`).sort()).to.deep.equal([
        'repaired: Wall 1 has "a".answers "x" in mentions, which points in about to Photo 1, which has no record.',
        'repaired: Wall 1 has "b" in mentions, which points in subject to Photo 1, which has no record.',
      ])
      expect(found.map(({ otherClass, otherKey }) => [otherClass, otherKey])).to.deep.equal([
        ['Photo', 1],
        ['Photo', 1],
      ])
      expect(await binOf(1, 'mentions')).to.deep.equal({
        a: { id: 'a', subject: 'post:1', 'answers/x': { id: 'x' }, 'answers/y': { id: 'y', about: 'post:1' } },
        b: { id: 'b' },
      })
    })

    it('is unreadable where another program has stored a key of none of the classes', async () => {
      const record = new Aerospike.Key(namespace, 'mention-wall', 2)
      await db.client.put(record, { mentions: { c: { id: 'c', subject: 'video:1' } } })
      const error = await rejection(() => db.session().load(Wall, 2))
      expect(error).to.have.property('code', 'SKEIN_3101')
      expect((error as SkeinError).message).to.match(/Wall.*video:1.*Post \| Photo \| Page/)
      const found = []
      for await (const { kind } of db.verify(Wall)) found.push(kind)
      expect(found).to.deep.equal(['unreadable'])
    })

    it('names by its key what the same flush deletes, as stored parts do', async () => {
      const session = db.session()
      const [wall, photo] = [await session.load(Wall, 2), await session.load(Photo, 1)]
      wall.mentions.add(mention('e', photo, answer('z', photo)))
      session.remove(photo)
      await session.flush()
      expect(((await binOf(2, 'mentions')) as { e: unknown }).e).to.deep.equal({
        id: 'e',
        subject: 'photo:1',
        'answers/z': { id: 'z', about: 'photo:1' },
      })
    })

    it('is added by a handle without loading the record', async () => {
      const session = db.session()
      const photo = await session.load(Photo, 1)
      session.at(Wall, 2).collection('mentions').add(mention('e', photo), mention('f', 'post:1'))
      await session.flush()
      const stored = (await binOf(2, 'mentions')) as Record<string, { subject: string }>
      expect([stored['e'].subject, stored['f'].subject]).to.deep.equal(['photo:1', 'post:1'])
    })
  })
}
