import Aerospike from 'aerospike'
import { expect } from 'chai'
import { fromPlain, Key, keysOf, ManyToOne, Record, ref, SkeinError, toPlain, type Database } from 'skein'
import { expectRoundTrips } from '../../../expect-round-trips.js'
import { MODES, type TestServer } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'
import { settled } from '../../verify/settled.js'
import { Author, Comment, Form, Note, ONE_SIDED, Photo, Post } from './several-models.js'

for (const mode of MODES) {
  describe(`a reference to one of several classes (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, ONE_SIDED, (opened) => ({ db, server, namespace } = opened))

    beforeEach(() =>
      db.withSession(async (session) => {
        session.create(Author, { id: 'ada', name: 'Ada' })
        session.create(Post, { id: 1, title: 'One', author: 'ada' })
        session.create(Photo, { id: 1, file: 'one.jpg', author: 'ada', shownIn: 'ada' })
        session.create(Note, { id: 'n:1', text: 'Note' })
        session.create(Form, { id: 'f1', author: 'ada' })
        session.create(Comment, { id: 1, text: 'to the post', subject: 'post:1' })
        session.create(Comment, { id: 2, text: 'to the photo', subject: keysOf(Photo).withSet(1) })
        session.create(Comment, { id: 3, text: 'to the note', subject: 'page:n:1' })
        session.create(Comment, { id: 4, text: 'to nothing' })
        session.create(Comment, { id: 5, text: 'to the form', subject: 'page:f1' })
      }),
    )

    const subjectOf = async (comment: number): Promise<unknown> =>
      (await db.client.get(new Aerospike.Key(namespace, 'comment', comment))).bins['subject']

    it('is stored as text that names the set and the key', async () => {
      expect(await subjectOf(1)).to.equal('post:1')
      expect(await subjectOf(3)).to.equal('page:n:1')
    })

    it('never takes the post 1 for the photo 1', async () => {
      const session = db.session()
      const [onPost, onPhoto] = await session.loadMany(Comment, [1, 2], { with: ['subject'] })
      expect(onPost.subject.value).to.be.instanceOf(Post)
      expect(onPhoto.subject.value).to.be.instanceOf(Photo)
      expect([onPost.subject.key, onPhoto.subject.key]).to.deep.equal(['post:1', 'photo:1'])
      expect(session.isDirty(onPost)).to.equal(false)
      onPost.subject.set(onPhoto.subject.value)
      expect(session.isDirty(onPost)).to.equal(true)
      await session.flush()
      expect(await subjectOf(1)).to.equal('photo:1')
    })

    it('loads what comments of all kinds lead to in one batch, and what these lead to in another', async () => {
      const session = db.session()
      let comments: Comment[] = []
      const { commands } = await server.commands.during(async () => {
        comments = await session.loadMany(Comment, [1, 2, 3, 4, 5], {
          with: ['subject.author', 'subject.shownIn'],
        })
      })
      expectRoundTrips(commands, 3)
      const [post, photo, note, nothing, form] = comments.map(({ subject }) => subject.value)
      expect([(post as Post).title, (photo as Photo).file, (note as Note).text]).to.deep.equal([
        'One',
        'one.jpg',
        'Note',
      ])
      expect(nothing).to.equal(null)
      expect((form as Form).author.value?.name).to.equal('Ada')
      expect((photo as Photo).shownIn.value).to.equal((post as Post).author.value)
    })

    it('refuses a path that none of the classes knows', async () => {
      const error = await db
        .session()
        .load(Comment, 1, { with: ['subject.nothing' as 'subject'] })
        .catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(SkeinError)
    })

    it('loads many that are asked for in one tick as one batch', async () => {
      const session = db.session()
      const comments = await session.loadMany(Comment, [1, 2, 3])
      const { commands } = await server.commands.during(() =>
        Promise.all(comments.map(({ subject }) => subject.load())),
      )
      expectRoundTrips(commands, 1)
    })

    it('takes an entity, a key with its set, or null, and nothing else', async () => {
      const session = db.session()
      const comment = await session.load(Comment, 4)
      comment.subject.set(await session.load(Photo, 1))
      expect(comment.subject.key).to.equal('photo:1')
      comment.subject.set(keysOf(Post).withSet(1))
      expect(comment.subject.key).to.equal('post:1')
      expect(comment.subject.isLoaded).to.equal(false)
      for (const wrong of [1, 'post', 'post:x', 'post:01', 'author:ada', 'nowhere:1', 'post:'])
        expect(() => comment.subject.set(wrong), String(wrong)).to.throw(
          SkeinError,
          /not a key of Post \| Photo \| Page/,
        )
      expect(() => comment.subject.set(new Author())).to.throw(SkeinError, /is of Post \| Photo \| Page/)
      comment.subject.set(null)
      await session.flush()
      expect(await db.session().load(Comment, 4)).to.have.nested.property('subject.key', null)
    })

    it('stores a new target with the entity that points to it', async () => {
      await db.withSession((session) => {
        const comment = session.create(Comment, { id: 9, text: 'new' })
        comment.subject.set(session.create(Photo, { id: 9, file: 'nine.jpg' }))
        return Promise.resolve()
      })
      const comment = await db.session().load(Comment, 9, { with: ['subject'] })
      expect((comment.subject.value as Photo).file).to.equal('nine.jpg')
    })

    it('is found by the entity, and by the key, it leads to', async () => {
      const post = await db.session().load(Post, 1)
      const keys = (query: { keys(): Promise<unknown> }) => query.keys()
      expect(await keys(db.query(Comment).where({ subject: post }))).to.deep.equal([1])
      expect(await keys(db.query(Comment).where({ subject: 'photo:1' }))).to.deep.equal([2])
      expect(await keys(db.query(Comment).where({ subject: { in: [post, 'page:n:1'] } }))).to.have.members([1, 3])
      expect(() => db.query(Comment).where({ subject: 1 })).to.throw(SkeinError, /not a key of Post \| Photo \| Page/)
      expect(String(db.query(Comment).where({ subject: post }).explain())).to.include('comment_subject')
    })

    it('is a hop of a walk, and what it leads to is the start of the next', async () => {
      const session = db.session()
      const walk = session.walk(Comment, [1, 2, 3, 4, 5]).out('subject')
      expect(await walk.keys()).to.deep.equal(['post:1', 'photo:1', 'page:n:1', 'page:f1'])
      let authors: object[] = []
      const { commands } = await server.commands.during(async () => {
        authors = await db
          .session()
          .walk(Comment, [1, 2, 3, 4, 5])
          .out('subject')
          .out('author' as never)
          .entities()
      })
      expectRoundTrips(commands, 3)
      expect(authors).to.have.lengthOf(1)
      const entities = await walk.entities()
      expect(entities.map(({ constructor }) => constructor)).to.deep.equal([Post, Photo, Note, Form])
      expect(() => session.walk(Comment, 1).out('subject', { to: { id: 1 } })).to.throw(SkeinError, /one class/)
    })

    it('shows nothing once its target is deleted, and verify reports and clears it', async () => {
      const session = db.session()
      const comment = await session.load(Comment, 2, { with: ['subject'] })
      await session.delete(comment.subject.value!)
      expect(comment.subject.key).to.equal(null)
      expect(await db.session().load(Post, 1)).to.be.instanceOf(Post)
      const later = await db.session().load(Comment, 2, { with: ['subject'] })
      expect(later.subject.value).to.equal(null)
      const found = []
      const terms = { repair: true, ...(await settled(server)) }
      for await (const { message, state } of db.verify(Comment, terms)) found.push(`${state}: ${message}`)
      expect(found).to.deep.equal(['repaired: Comment 2 holds Photo 1 in subject, which has no record.'])
      expect(await subjectOf(2)).to.equal(undefined)
      expect(await subjectOf(1)).to.equal('post:1')
    })

    it('leads to what was deleted softly only when asked', async () => {
      const session = db.session()
      await session.delete(Note, 'n:1')
      const comment = await db.session().load(Comment, 3)
      expect(comment.subject.key).to.equal('page:n:1')
      expect(await comment.subject.load({ deleted: 'include' })).to.be.instanceOf(Note)
      const [hidden] = await db.session().loadMany(Comment, [3], { with: ['subject'] })
      expect(hidden.subject.value).to.equal(null)
    })

    it('is a key with its set as plain data, and is made of one again', async () => {
      const comment = await db.session().load(Comment, 1, { with: ['subject'] })
      expect(toPlain(comment)).to.deep.include({ id: 1, subject: 'post:1' })
      expect(JSON.parse(JSON.stringify(comment.subject))).to.equal('post:1')
      const copy = fromPlain(Comment, { id: 8, text: 'copy', subject: 'photo:1' }, { relations: 'keys' })
      await db.withSession((session) => Promise.resolve(session.persist(copy)))
      expect(await subjectOf(8)).to.equal('photo:1')
      const wrong = { id: 8, text: 'copy', subject: 1 }
      expect(() => fromPlain(Comment, wrong, { relations: 'keys' })).to.throw(SkeinError, /with its set/)
    })

    it('has keys that the class of its target makes and takes apart', () => {
      expect(keysOf(Post).withSet(17)).to.equal('post:17')
      expect(keysOf(Note).withSet('n:1')).to.equal('page:n:1')
      expect(keysOf(Post).withoutSet('post:17')).to.equal(17)
      expect(keysOf(Photo).withoutSet('post:17')).to.equal(null)
      expect(() => keysOf(Post).withSet('x' as never)).to.throw(SkeinError)
    })

    it('is told apart in a transaction', async () => {
      if (mode === 'ap') return
      await db.transaction(async (session) => {
        const [onPost, onPhoto] = await session.loadMany(Comment, [1, 2], { with: ['subject'] })
        const before = onPost.subject.value
        onPost.subject.set(onPhoto.subject.value)
        onPhoto.subject.set(before)
      })
      expect([await subjectOf(1), await subjectOf(2)]).to.deep.equal(['photo:1', 'post:1'])
    })

    it('is unreadable where another program has named a set that none of the classes has', async () => {
      await db.client.put(new Aerospike.Key(namespace, 'comment', 1), { subject: 'video:1' })
      const error = await db
        .session()
        .load(Comment, 1)
        .catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(SkeinError).with.property('code', 'SKEIN_3101')
      const found = []
      for await (const finding of db.verify(Comment)) found.push(finding)
      expect(found.map(({ kind }) => kind)).to.deep.equal(['unreadable'])
    })
  })
}

@Record({ set: 'several-post', tenant: true })
class TenantPost {
  @Key() id!: number
}

@Record({ set: 'several-memo' })
class SharedMemo {
  @Key({ type: 'bigint' }) id!: bigint
}

@Record({ set: 'several-icon' })
class Icon {
  @Key({ type: 'bytes' }) id!: Buffer
}

@Record({ set: 'several-mark', tenant: true })
class Mark {
  @Key() id!: number
  @ManyToOne(() => [TenantPost, SharedMemo, Icon]) subject = ref<TenantPost | SharedMemo | Icon>()
}

describe('a reference to classes with keys of other types, and of tenants', () => {
  let db: Database
  let namespace: string
  useDatabase('ap', [TenantPost, SharedMemo, Icon, Mark], (opened) => ({ db, namespace } = opened))

  it('stores each key as its record has it, and shows it as people use it', async () => {
    const bytes = Buffer.from([1, 255])
    const big = 2n ** 62n
    await db.withSession(
      (session) => {
        const subjects = [
          session.create(TenantPost, { id: 1 }),
          session.create(SharedMemo, { id: big }),
          session.create(Icon, { id: bytes }),
        ]
        subjects.forEach((subject, i) => session.create(Mark, { id: i, subject }))
      },
      { tenant: 'acme' },
    )
    const session = db.session({ tenant: 'acme' })
    const marks = await session.loadMany(Mark, [0, 1, 2], { with: ['subject'] })
    expect(marks.map(({ subject }) => subject.key)).to.deep.equal([
      'several-post:1',
      `several-memo:${big}`,
      'several-icon:01ff',
    ])
    expect(marks.map(({ subject }) => subject.value?.id)).to.deep.equal([1, big, bytes])
    const { bins } = await db.client.get(new Aerospike.Key(namespace, 'several-mark', 'acme:0'))
    expect(bins['subject']).to.equal('several-post:acme:1')
    const other = db.session({ tenant: 'other' })
    other.create(Mark, { id: 0, subject: 'several-post:1' })
    await other.flush()
    expect(await (await db.session({ tenant: 'other' }).load(Mark, 0)).subject.load()).to.equal(null)
  })
})
