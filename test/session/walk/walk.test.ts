import { expect } from 'chai'
import type { Database, Session } from 'skein'
import { MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { ALL, Comment, Desk, Owner, Painter, Photo, Post, Profile, User, Video, Writer } from './models.js'
import { comment, post, user } from './models.js'

const ids = (entities: readonly { readonly id: unknown }[]): unknown[] => entities.map(({ id }) => id)

for (const mode of MODES) {
  describe(`a walk (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, ALL, (opened) => ({ db, server } = opened))

    const store = (...entities: object[]): Promise<void> =>
      db.withSession(async (session) => entities.forEach((each) => void session.persist(each)))
    const within = <R>(work: (session: Session) => Promise<R>): Promise<R> => db.withSession(work)

    /** alice follows bob (friend) and carol (work); bob follows dora and alice; carol follows dora and emil. */
    const people = async (): Promise<void> => {
      const [alice, bob, carol, dora, emil] = [
        user('alice', 'Bern'),
        user('bob', 'Basel'),
        user('carol', 'Bern'),
        user('dora', 'Bern'),
        user('emil', 'Genf'),
      ]
      alice.follows.link(bob, { kind: 'friend', tags: ['school', 'chess'] })
      alice.follows.link(carol, { kind: 'work', since: new Date('2024-05-01') })
      bob.follows.link(dora, { kind: 'friend' })
      bob.follows.link(alice, { kind: 'friend' })
      carol.follows.link(dora, { kind: 'work' })
      carol.follows.link(emil, { kind: 'friend' })
      for (const [author, titles] of [
        [bob, ['b1', 'b2', 'b3']],
        [carol, ['c1']],
      ] as const)
        for (const title of titles) author.posts.add(post(title))
      await store(alice, bob, carol, dora, emil)
    }

    it('reaches each entity once, at the first hop that leads to it', async () => {
      await people()
      await within(async (session) => {
        const walk = session.walk(User, 'alice').out('follows')
        expect(ids(await walk.entities())).to.deep.equal(['bob', 'carol'])
        const further = walk.out('follows')
        expect(ids(await further.entities())).to.deep.equal(['dora', 'emil'])
        expect(await further.keys()).to.deep.equal(['dora', 'emil'])
        expect(await further.count()).to.equal(2)
        expect(await further.out('follows').count()).to.equal(0)
      })
    })

    it('follows links by their attributes, and goes on from entities by their properties', async () => {
      await people()
      await within(async (session) => {
        const alice = await session.load(User, 'alice')
        const friends = session.walk(alice).out('follows', { where: { kind: 'friend' } })
        expect(await friends.keys()).to.deep.equal(['bob'])
        const keysOf = (where: NonNullable<Parameters<typeof asked>[0]>): Promise<string[]> => asked(where).keys()
        const asked = (where: {
          since?: { gte?: Date; lt?: Date } | null
          tags?: { hasAny?: string[]; has?: string }
          kind?: { in?: string[]; startsWith?: string; ne?: string }
        }) => session.walk(alice).out('follows', { where })
        expect(await keysOf({ since: { gte: new Date('2024-01-01') } })).to.deep.equal(['carol'])
        expect(await keysOf({ since: { lt: new Date('2024-01-01') } })).to.deep.equal([])
        expect(await keysOf({ since: null })).to.deep.equal(['bob'])
        expect(await keysOf({ tags: { has: 'chess' } })).to.deep.equal(['bob'])
        expect(await keysOf({ tags: { hasAny: ['golf'] } })).to.deep.equal([])
        expect(await keysOf({ kind: { in: ['work', 'family'] } })).to.deep.equal(['carol'])
        expect(await keysOf({ kind: { startsWith: 'fr' } })).to.deep.equal(['bob'])
        expect(await keysOf({ kind: { ne: 'friend' } })).to.deep.equal(['carol'])
        const second = session
          .walk(alice)
          .out('follows')
          .out('follows', { to: { city: 'Bern' } })
        expect(ids(await second.entities())).to.deep.equal(['dora'])
        expect(await second.count()).to.equal(1)
        const through = session
          .walk(alice)
          .out('follows', { to: { city: 'Basel' } })
          .out('posts')
        expect(await through.keys()).to.deep.equal(['b1', 'b2', 'b3'])
      })
    })

    it('takes the first, the last and at most so many', async () => {
      await people()
      await within(async (session) => {
        const follows = session.walk(User, 'alice').out('follows')
        expect(await follows.out('posts', { last: 1 }).keys()).to.deep.equal(['b3', 'c1'])
        expect(await follows.out('posts', { last: 2 }).keys()).to.deep.equal(['b2', 'b3', 'c1'])
        expect(await follows.out('posts', { first: 2 }).keys()).to.deep.equal(['b1', 'b2', 'c1'])
        expect(await follows.out('posts', { limit: 2 }).keys()).to.deep.equal(['b1', 'b2'])
        expect(await session.walk(User, 'alice').out('follows', { limit: 1 }).out('follows').keys()).to.deep.equal([
          'dora',
        ])
        const one = session.walk(User, 'alice').out('follows', { where: { kind: { in: ['work', 'friend'] } }, last: 1 })
        expect(await one.keys()).to.deep.equal(['carol'])
      })
    })

    it('reaches at a later hop what the conditions of an earlier one have left out', async () => {
      await people()
      await within(async (session) => (await session.load(User, 'carol')).follows.link('bob', { kind: 'work' }))
      await within(async (session) => {
        const inBern = session.walk(User, 'alice').out('follows', { to: { city: 'Bern' } })
        expect(await inBern.keys()).to.deep.equal(['carol'])
        const next = inBern.out('follows')
        expect(await next.keys()).to.have.members(['bob', 'dora', 'emil'])
        expect((await next.paths()).map(ids)).to.have.deep.members([
          ['alice', 'carol', 'bob'],
          ['alice', 'carol', 'dora'],
          ['alice', 'carol', 'emil'],
        ])
        expect(await next.out('posts').keys()).to.deep.equal(['b1', 'b2', 'b3'])
      })
    })

    it('counts against its limit what the conditions leave', async () => {
      await people()
      await within(async (session) => {
        const bern = session.walk(User, ['bob', 'carol']).out('follows', { to: { city: 'Genf' }, limit: 1 })
        expect(await bern.keys()).to.deep.equal(['emil'])
        expect([await bern.count(), ids(await bern.entities())]).to.deep.equal([1, ['emil']])
        expect((await bern.paths()).map(ids)).to.deep.equal([['carol', 'emil']])
        const streamed: unknown[] = []
        for await (const { id } of bern.stream()) streamed.push(id)
        expect(streamed).to.deep.equal(['emil'])
        const posts = session
          .walk(User, 'alice')
          .out('follows', { to: { city: 'Bern' }, limit: 1 })
          .out('posts')
        expect(await posts.keys()).to.deep.equal(['c1'])
      })
    })

    it('checks the conditions of a hop with a limit in one batch more, and in further ones where few meet them', async () => {
      const [hub, ...others] = Array.from({ length: 301 }, (_, i) => user(`u${i}`, i === 300 ? 'Bern' : 'Basel'))
      for (const other of others) hub.follows.link(other, { kind: 'friend' })
      await store(hub)
      const cost = async (to: object, limit: number): Promise<readonly [number, number]> => {
        const session = db.session()
        const walk = session.walk(User, 'u0').out('follows', { to, limit })
        let found = 0
        const { commands } = await server.commands.during(async () => (found = (await walk.entities()).length))
        expect(walk.explain().roundTrips).to.equal(3)
        await session.close()
        return [found, commands]
      }
      expect(await cost({ city: 'Basel' }, 20)).to.deep.equal([20, 3])
      expect(await cost({ city: 'Bern' }, 20)).to.deep.equal([1, 4])
    })

    it('gives every way to what it reaches', async () => {
      await people()
      await within(async (session) => {
        const paths = await session.walk(User, 'alice').out('follows').out('follows').paths()
        expect(paths.map(ids)).to.deep.equal([
          ['alice', 'bob', 'dora'],
          ['alice', 'carol', 'dora'],
          ['alice', 'carol', 'emil'],
        ])
        const [start, friend] = paths[0]
        expect(start).to.equal(await session.load(User, 'alice'))
        expect(friend.city).to.equal('Basel')
      })
    })

    it('needs a round trip for each hop and one for what it reaches', async () => {
      await people()
      await within(async (session) => (await session.load(Post, 'b1')).comments.add(comment('x', 'dora')))
      for (const [run, trips] of [
        [(session: Session) => session.walk(User, 'alice').out('follows').entities(), 2],
        [(session: Session) => session.walk(User, 'alice').out('follows').out('posts', { last: 1 }).entities(), 3],
        [(session: Session) => session.walk(User, 'alice').out('follows').out('follows').out('posts').paths(), 4],
        [
          (session: Session) =>
            session
              .walk(User, 'alice')
              .out('follows')
              .out('follows', { to: { city: 'Bern' } })
              .entities(),
          3,
        ],
        [(session: Session) => session.walk(User, 'bob').out('posts').out('comments').out('author').count(), 3],
      ] as const) {
        const session = db.session()
        const { commands } = await server.commands.during(() => run(session))
        expect(commands).to.equal(trips)
        await session.close()
      }
    })

    it('does not read again what the session has loaded', async () => {
      await people()
      const session = db.session()
      const alice = await session.load(User, 'alice', { with: ['follows'] })
      const { commands } = await server.commands.during(() => session.walk(alice).out('follows').keys())
      expect(commands).to.equal(0)
      await session.close()
    })

    it('goes along references, pairs, shared keys and indexes', async () => {
      const alice = user('alice')
      alice.profile.set(Object.assign(new Profile(), { text: 'hello' }))
      alice.desk.set(Object.assign(new Desk(), { id: 7 }))
      alice.photos.add(...['p1', 'p2'].map((id) => Object.assign(new Photo(), { id })))
      alice.posts.add(post('a1'))
      await store(alice, user('bob'))
      await within(async (session) => {
        expect((await session.walk(User, 'alice').out('profile').entities())[0].text).to.equal('hello')
        expect(await session.walk(User, 'bob').out('profile').count()).to.equal(0)
        expect(await session.walk(User, 'nobody').out('profile').count()).to.equal(0)
        expect(await session.walk(Profile, 'alice').out('user').out('posts').keys()).to.deep.equal(['a1'])
        expect(await session.walk(Desk, 7).out('user').keys()).to.deep.equal(['alice'])
        expect(await session.walk(User, 'alice').out('desk').keys()).to.deep.equal([7])
        expect((await session.walk(User, 'alice').out('photos').keys()).sort()).to.deep.equal(['p1', 'p2'])
        expect(await session.walk(User, 'alice').out('photos', { limit: 1 }).count()).to.equal(1)
        expect(await session.walk(Photo, 'p1').out('owner').out('posts').keys()).to.deep.equal(['a1'])
        expect(await session.walk(Photo, 'p1').out('owner').out('photos').keys()).to.deep.equal(['p2'])
      })
    })

    it('goes into consolidated children and on from them', async () => {
      await people()
      await within(async (session) => {
        const found = await session.load(Post, 'b1', { with: ['comments'] })
        found.comments.add(comment('x', 'dora', 3), comment('y', 'emil', 1), comment('z', 'dora', 5))
      })
      await within(async (session) => {
        const comments = session.walk(User, 'bob').out('posts').out('comments')
        expect(await comments.keys()).to.deep.equal(['x', 'y', 'z'])
        const [x] = await comments.entities()
        expect(x).to.be.instanceOf(Comment)
        expect(ids(await comments.out('author').entities())).to.deep.equal(['dora', 'emil'])
        const liked = session
          .walk(User, 'bob')
          .out('posts')
          .out('comments', { to: { likes: { gt: 2 } } })
        expect(await liked.keys()).to.deep.equal(['x', 'z'])
        expect(await session.walk(User, 'bob').out('posts').out('comments', { last: 1 }).keys()).to.deep.equal(['z'])
        x.text = 'changed'
        expect(session.isDirty(await session.load(Post, 'b1'))).to.equal(true)
      })
      const session = db.session()
      expect((await session.walk(Post, 'b1').out('comments').entities())[0].text).to.equal('changed')
      const { commands } = await server.commands.during(() => session.walk(Post, 'b1').out('comments').count())
      expect(commands).to.equal(0)
      await session.close()
    })

    it('shows unsent changes from the side of an entity that the session knows by its key alone', async () => {
      await people()
      await within(async (session) => {
        const alice = await session.load(User, 'alice')
        alice.follows.link('emil', { kind: 'friend' })
        alice.follows.unlink('carol')
        ;(await session.load(Post, 'b1')).author.set('dora')
        expect(await session.walk(User, 'emil').out('followers').keys()).to.have.members(['alice', 'carol'])
        expect(await session.walk(User, 'carol').out('followers').keys()).to.deep.equal([])
        expect(await session.walk(User, 'dora').out('posts').keys()).to.deep.equal(['b1'])
        const onTheWay = session.walk(User, 'carol').out('follows').out('followers')
        expect(await onTheWay.keys()).to.have.members(['alice', 'bob'])
      })
    })

    it('shows unsent changes of an entity that is known by its key alone, whichever subclass its record is of', async () => {
      await people()
      await store(Object.assign(new Video(), { id: 'v1', title: 'v1', seconds: 5 }))
      await within(async (session) => {
        const alice = await session.load(User, 'alice')
        alice.posts.add('v1', 'b1')
        for (const id of ['v1', 'b1'])
          expect(await session.walk(Post, id).out('author').keys()).to.deep.equal(['alice'])
        expect(await session.load(Post, 'v1')).to.be.instanceOf(Video)
      })
      await within(async (session) => {
        expect(await session.walk(User, 'alice').out('posts').keys()).to.have.members(['v1', 'b1'])
      })
    })

    it('leaves the key of a missing entity free that an unsent change names', async () => {
      await people()
      await within(async (session) => {
        const alice = await session.load(User, 'alice')
        alice.follows.link('new', { kind: 'friend' })
        expect(await session.walk(User, 'new').out('followers').keys()).to.deep.equal([])
        session.create(User, { id: 'new' })
        expect(await session.walk(User, 'new').out('followers').keys()).to.deep.equal(['alice'])
      })
      await within(async (session) => {
        expect(await session.walk(User, 'new').out('followers').keys()).to.deep.equal(['alice'])
      })
    })

    it('shows unsent changes of the session', async () => {
      await people()
      const session = db.session()
      const [alice, bob, emil] = await session.loadMany(User, ['alice', 'bob', 'emil'])
      const frida = session.create(User, { id: 'frida' })
      alice.follows.remove(bob)
      alice.follows.link(emil, { kind: 'friend' })
      alice.follows.link(frida, { kind: 'friend' })
      emil.posts.add(session.persist(post('e1')))
      expect(await session.walk(alice).out('follows').keys()).to.deep.equal(['carol', 'emil', 'frida'])
      expect(
        await session
          .walk(alice)
          .out('follows', { where: { kind: 'friend' } })
          .keys(),
      ).to.deep.equal(['emil', 'frida'])
      expect(await session.walk(alice).out('follows').out('posts').keys()).to.deep.equal(['c1', 'e1'])
      session.remove(emil)
      expect(await session.walk(alice).out('follows').keys()).to.deep.equal(['carol', 'frida'])
      const [c1] = await session.walk(alice).out('follows').out('posts').entities()
      c1.author.set(frida)
      expect(await session.walk(c1).out('author').keys()).to.deep.equal(['frida'])
      expect(ids(await session.walk(frida).out('posts').entities())).to.deep.equal(['c1'])
      await session.close()
    })

    it('leaves out what has no record, and what is of another class', async () => {
      await people()
      await within(async (session) => {
        const bob = await session.load(User, 'bob')
        bob.posts.add(Object.assign(new Video(), { id: 'v1', title: 'v', seconds: 3 }))
      })
      await db.withSession(async (session) => session.delete(Post, 'c1'))
      await within(async (session) => {
        const posts = await session.walk(User, 'bob').out('posts').entities()
        expect(posts.map((each) => each.constructor)).to.deep.equal([Post, Post, Post, Video])
        expect(await session.walk(Video, 'v1').out('author').keys()).to.deep.equal(['bob'])
        expect(await session.walk(Video, 'b1').out('author').keys()).to.deep.equal([])
      })
    })
    it('follows the relation of the class that a record is of, whatever bin that has', async () => {
      const writer = Object.assign(new Writer(), { id: 1 })
      writer.own.add(post('w'))
      const painter = Object.assign(new Painter(), { id: 2 })
      painter.own.add(post('p'))
      await store(writer, painter, Object.assign(new Owner(), { id: 3 }))
      const session = db.session()
      const from = (...keys: number[]) => session.walk(Owner as typeof Writer, keys)
      const { commands } = await server.commands.during(async () =>
        expect(await from(1, 2, 3).out('own').keys()).to.deep.equal(['w', 'p']),
      )
      expect(commands).to.equal(2)
      expect(() => from(1).out('works')).to.throw(/works leads to Post from one subclass of Owner, and to Photo/)
      expect(await session.walk(Writer, 1).out('works').keys()).to.deep.equal([])
      await session.close()
    })

    it('streams the entities that it reaches, and does not keep them', async () => {
      const hub = user('hub')
      for (let i = 0; i < 600; i++) hub.posts.add(post(`p${String(i).padStart(3, '0')}`))
      await store(hub)
      const session = db.session()
      const kept: Post[] = []
      let count = 0
      for await (const each of session.walk(User, 'hub').out('posts').stream()) {
        count++
        if (each.id === 'p001') each.title = 'changed'
        kept.push(each)
      }
      expect(count).to.equal(600)
      expect(session.isDirty(kept[1])).to.equal(true)
      expect(() => session.isDirty(kept[0])).to.throw(/not managed/)
      await session.flush()
      expect((await session.load(Post, 'p001')).title).to.equal('changed')
      await session.close()
    })

    it('takes part in a transaction, where queries must be allowed', async () => {
      await people()
      if (mode !== 'sc') return
      await db.transaction(async (session) => {
        expect(await session.walk(User, 'alice').out('follows').out('follows').keys()).to.deep.equal(['dora', 'emil'])
        await rejects(session.walk(User, 'alice').out('photos').keys(), /SKEIN_2313/)
        expect(await session.walk(User, 'alice', { outsideTransaction: true }).out('photos').keys()).to.deep.equal([])
      })
    })

    it('refuses what cannot be walked before anything is sent', async () => {
      await people()
      const session = db.session()
      const { commands } = await server.commands.during(async () => {
        const walk = session.walk(User, 'alice')
        expect(() => walk.out('folows' as 'follows')).to.throw(/no relation 'folows'/)
        expect(() => walk.out('posts', { where: {} as never })).to.throw(/have no attributes/)
        expect(() => walk.out('follows', { where: { knd: 1 } as object })).to.throw(/Follow\.knd/)
        expect(() => walk.out('follows', { where: { kind: 3 as unknown as string } })).to.throw(/SKEIN_2201|kind/)
        expect(() => walk.out('follows', { to: { cty: 1 } as object })).to.throw(/no stored property 'cty'/)
        expect(() => walk.out('photos', { last: 3 })).to.throw(/have no order/)
        expect(() => walk.out('follows', { first: 1, last: 1 })).to.throw(/not both/)
        expect(() => walk.out('follows', { limit: 0 })).to.throw(/limit/)
        expect(() => walk.out('follows', { lmit: 1 } as object)).to.throw(/lmit/)
        expect(() => session.walk(User, 'alice', { mx: 1 } as object)).to.throw(/mx/)
        expect(() => session.walk(User, [])).to.throw(/needs an entity/)
        expect(() => session.walk(user('new'))).to.throw(/not managed/)
        expect(() => session.walk('alice' as unknown as User)).to.throw(/not an entity/)
        expect(() => session.walk(User, 3 as unknown as string)).to.throw(/SKEIN_2101|key/)
      })
      expect(commands).to.equal(0)
      await session.close()
    })

    it('ends with an error where it reaches more than it may', async () => {
      await people()
      await within(async (session) => {
        await rejects(session.walk(User, 'alice', { max: 4 }).out('follows').out('follows').count(), /SKEIN_2440/)
        expect(await session.walk(User, 'alice', { max: 5 }).out('follows').out('follows').count()).to.equal(2)
        await rejects(session.walk(User, 'alice', { max: 2 }).out('follows').paths(), /SKEIN_2440/)
      })
    })

    it('explains its hops', () => {
      const session = db.session()
      const walk = session
        .walk(User, 'alice')
        .out('follows', { where: { kind: 'friend' } })
        .out('posts', { last: 10 })
      const explained = walk.explain()
      expect(explained.roundTrips).to.equal(3)
      expect(String(explained)).to.equal(`walk from User
  User.follows: one batch reads the keys in the records, keeps links by their attributes, at the server
  User.posts: one batch reads the keys in the records, the last 10 of each
  then one batch reads each Post
  3 round trips, in chunks past the batch cap`)
    })
  })
}

async function rejects(promise: Promise<unknown>, what: RegExp): Promise<void> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  expect(`${(error as { code?: string })?.code} ${String(error)}`).to.match(what)
}
