import { expect } from 'chai'
import { EntityGoneError, type Database } from 'skein'
import { companionKey, hashShard } from '#src/keys/index.js'
import { MODES, type TestServer } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { storedBins } from '../../stored-bins.js'
import { useDatabase } from '../../use-database.js'
import {
  Agent,
  Blog,
  Club,
  COMPANION_CLASSES,
  Listing,
  Note,
  Person,
  Post,
  SHARDS,
  User,
  agent,
  club,
  listing,
  person,
  user,
} from './companion-models.js'

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `u${i}`)

for (const mode of MODES) {
  describe(`companion records (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, COMPANION_CLASSES, (opened) => ({ db, server, namespace } = opened))

    const stored = (set: string, key: string | number) => storedBins(db, namespace, set, key)
    const recordsOf = async (set: string): Promise<number> => (await db.client.query(namespace, set).results()).length

    const follow = (ids: readonly string[], whom = 'ada'): Promise<unknown> =>
      db.withSession(
        (session) =>
          void session
            .at(User, whom)
            .collection('followers')
            .add(...ids),
      )

    const people = (ids: readonly string[]): Promise<unknown> =>
      db.withSession((session) => {
        for (const id of ids) session.persist(user(id))
      })

    it('hold the members, spread by the hash of their keys, and the owner says how', async () => {
      await people(['ada', ...names(20)])
      await follow(names(20))
      const root = await stored('cuser', 'ada')
      expect(root).to.deep.include({ subkeys: ['hash-shards', SHARDS], followsIn: ['companion'] })
      expect(root).not.to.have.any.keys('followers', 'follows')
      const shards = await Promise.all(
        Array.from({ length: SHARDS }, (_, shard) => stored('cuser_followers', companionKey('ada', shard) as string)),
      )
      shards.forEach((bins, shard) => {
        const here = names(20).filter((id) => hashShard(id, SHARDS) === shard)
        expect(bins?.followers ?? []).to.deep.equal(here.sort())
      })
      expect(await stored('cuser_follows', 'u3')).to.deep.include({ follows: ['ada'] })
      expect(await db.session().at(User, 'ada').collection('followers').count()).to.equal(20)
    })

    it('are asked for their members: contains, count, keys, items, with', async () => {
      await people(['ada', ...names(12)])
      await follow(names(12))
      const session = db.session()
      const { followers } = await session.load(User, 'ada')
      expect(followers.isLoaded).to.equal(false)
      expect(await followers.contains('u7')).to.equal(true)
      expect(await followers.contains('nobody')).to.equal(false)
      expect(await followers.count()).to.equal(12)
      expect(await followers.keys()).to.deep.equal(names(12).sort())
      expect((await followers.load()).map(({ id }) => id)).to.deep.equal(names(12).sort())
      const { followers: loaded } = await db.session().load(User, 'ada', { with: ['followers.follows'] })
      expect(loaded.items.map(({ follows }) => follows.items.map(({ id }) => id))).to.deep.equal(
        names(12).map(() => ['ada']),
      )
      const none = await db.session().load(User, 'u1', { with: ['followers'] })
      expect(none.followers.items).to.deep.equal([])
    })

    it('are paged in the order of members, and streamed', async () => {
      await people(['ada', ...names(23)])
      await follow(names(23))
      const { followers } = await db.session().load(User, 'ada')
      const seen: string[][] = []
      let after: string | undefined
      do {
        const page = await followers.page({ count: 10, ...(after === undefined ? {} : { after }) })
        seen.push(page.map(({ id }) => id))
        after = page.next
      } while (after !== undefined)
      expect(seen.map(({ length }) => length)).to.deep.equal([10, 10, 3])
      expect(seen.flat()).to.deep.equal(names(23).sort())
      const streamed: string[] = []
      for await (const { id } of followers.stream()) streamed.push(id)
      expect(streamed.sort()).to.deep.equal(names(23).sort())
      for (const wrong of ['x', '', 7 as never]) {
        const error = (await rejection(() => followers.page({ count: 1, after: wrong }))) as { code?: string }
        expect(error.code).to.equal('SKEIN_2501')
      }
      for (const ask of [() => followers.page({ count: 1, offset: 3 }), () => followers.keys({ offset: -2 })]) {
        const error = (await rejection(ask)) as { code?: string }
        expect(error.code).to.equal('SKEIN_2430')
      }
    })

    it('take one command for a member that only they know of, and the owner is not read', async () => {
      await db.session().save(agent(1))
      await db.withSession((session) => void session.persist(listing('a')))
      await db.withSession((session) => void session.at(Agent, 1).collection('kept').add('a'))
      for (const change of ['remove', 'add'] as const) {
        const session = db.session()
        session.at(Agent, 1).collection('kept')[change]('a')
        const { rows } = await server.commands.during(() => session.flush())
        expect(rows).to.equal(1)
      }
      expect(await stored('cagent_kept', 1)).to.deep.include({ kept: ['a'] })
    })

    it('are made with the owner, for members of a new owner', async () => {
      const ada = user('ada')
      ada.followers.add(user('u1'), user('u2'))
      await db.session().save(ada)
      expect(await db.session().at(User, 'ada').collection('followers').keys()).to.deep.equal(['u1', 'u2'])
      expect(await db.session().at(User, 'u2').collection('follows').keys()).to.deep.equal(['ada'])
    })

    it('lose members that are taken out, on both sides', async () => {
      await people(['ada', ...names(6)])
      await follow(names(6))
      await db.withSession(async (session) => {
        const ada = await session.load(User, 'ada', { with: ['followers'] })
        ada.followers.remove(ada.followers.items[0])
        session.at(User, 'u3').collection('follows').remove('ada')
        session.at(User, 'ada').collection('followers').remove('nobody')
      })
      expect(await db.session().at(User, 'ada').collection('followers').keys()).to.deep.equal(['u1', 'u2', 'u4', 'u5'])
      expect(await db.session().at(User, 'u0').collection('follows').count()).to.equal(0)
    })

    it('of an owner that is not there are not made', async () => {
      await db.withSession((session) => void session.persist(listing('a')))
      const session = db.session()
      session.at(Agent, 99).collection('kept').add('a')
      const error = await rejection(() => session.flush())
      expect(error).to.be.instanceOf(EntityGoneError)
      expect((error as EntityGoneError).message).to.match(/Agent cagent\/99/)
      expect(await recordsOf('cagent_kept')).to.equal(0)
    })

    it('go with their owner, and the others forget it', async () => {
      await people(['ada', ...names(9)])
      await follow(names(9))
      await follow(['ada'], 'u1')
      await db.session().delete(User, 'ada')
      expect(await recordsOf('cuser_followers')).to.equal(1)
      for (const id of names(9)) expect(await db.session().at(User, id).collection('follows').count()).to.equal(0)
      expect(await db.session().at(User, 'u1').collection('followers').count()).to.equal(0)
    })

    it('cascade a delete to their members, also to more than one plan holds', async () => {
      const boss = agent(7)
      for (let i = 0; i < 30; i++) boss.listings.add(listing(`l${i}`))
      for (let id = 0; id < 30; id++) boss.notes.add(Object.assign(new Note(), { id }))
      await db.session().save(boss)
      expect(await db.session().at(Agent, 7).collection('listings').count()).to.equal(30)
      await db.session().delete(Agent, 7, { step: 8 })
      expect(
        await Promise.all(['cagent', 'clisting', 'cnote', 'cagent_listings', 'cagent_notes'].map(recordsOf)),
      ).to.deep.equal([0, 0, 0, 0, 0])
    })

    it('let a child move between owners', async () => {
      const [one, two] = [agent(1), agent(2)]
      one.listings.add(listing('a'), listing('b'))
      await db.withSession((session) => {
        session.persist(one)
        session.persist(two)
      })
      await db.withSession(async (session) => (await session.load(Listing, 'a')).agent.set(2))
      await db.withSession((session) => void session.at(Agent, 2).collection('listings').add('b'))
      const count = (id: number): Promise<number> => db.session().at(Agent, id).collection('listings').count()
      expect([await count(1), await count(2)]).to.deep.equal([0, 2])
      await db.session().delete(Listing, 'a')
      expect([await count(1), await count(2)]).to.deep.equal([0, 1])
    })

    it('delete orphans that were taken out', async () => {
      const boss = agent(1)
      for (const id of [1, 2, 3]) boss.notes.add(Object.assign(new Note(), { id }))
      await db.session().save(boss)
      await db.withSession((session) => void session.at(Agent, 1).collection('notes').remove(2, 9))
      expect(
        await db
          .session()
          .findMany(Note, [1, 2, 3])
          .then((all) => all.map((note) => note?.id)),
      ).to.deep.equal([1, undefined, 3])
    })

    it('keep the attributes of links', async () => {
      await db.withSession((session) => {
        for (const id of [1, 2]) session.persist(person(id))
        session.persist(club('chess'))
      })
      await db.withSession((session) => {
        session.at(Club, 'chess').collection('members').link(1, { role: 'chair' })
        session.at(Person, 2).collection('clubs').link('chess', { role: 'guest' })
      })
      const roles = async (): Promise<unknown[]> => {
        const chess = await db.session().load(Club, 'chess', { with: ['members'] })
        const inside = await Promise.all([1, 2].map(async (id) => (await chess.members.attributesOf(id))?.role))
        const alone = await Promise.all(
          [1, 2].map(async (id) => (await db.session().at(Club, 'chess').collection('members').attributesOf(id))?.role),
        )
        return [...inside, ...alone]
      }
      expect(await roles()).to.deep.equal(['chair', 'guest', 'chair', 'guest'])
      await db.withSession(async (session) => {
        const chess = await session.load(Club, 'chess')
        const link = await chess.members.attributesOf(2)
        link!.role = 'member'
      })
      expect(await roles()).to.deep.equal(['chair', 'member', 'chair', 'member'])
      expect((await db.session().at(Person, 2).collection('clubs').attributesOf('chess'))?.role).to.equal('member')
      expect((await db.session().load(Club, 'chess')).members.isLoaded).to.equal(false)
    })

    it('leave out members that were deleted softly', async () => {
      const blog = Object.assign(new Blog(), { id: 'b' })
      for (const id of [1, 2, 3, 4]) blog.posts.add(Object.assign(new Post(), { id }))
      await db.session().save(blog)
      await db.session().delete(Post, 2)
      const { posts } = await db.session().load(Blog, 'b')
      expect([await posts.count(), await posts.contains(2), await posts.contains(3)]).to.deep.equal([3, false, true])
      expect(await posts.keys()).to.deep.equal([1, 3, 4])
      expect((await posts.page({ count: 9 })).map(({ id }) => id)).to.deep.equal([1, 3, 4])
      expect(await posts.count({ deleted: 'include' })).to.equal(4)
      const streamed: number[] = []
      for await (const { id } of posts.stream()) streamed.push(id)
      expect(streamed.sort()).to.deep.equal([1, 3, 4])
    })

    it('are found where their owner says, whatever the class says', async () => {
      await people(['ada', ...names(12)])
      await follow(names(12))
      // As a program with three shards would have stored it.
      const put = (set: string, key: string, bins: object): Promise<unknown> =>
        db.client.put({ ns: namespace, set, key }, bins as never)
      await put('cuser', 'eve', { id: 'eve', subkeys: ['hash-shards', 3] })
      for (const shard of [0, 1, 2]) {
        const followers = names(12).filter((id) => hashShard(id, 3) === shard)
        await put('cuser_followers', `eve:${shard}`, { '_sk.root': 'eve', '_sk.shards': 3, followers })
      }
      for (const ask of [db, await server.open({ namespace, entities: COMPANION_CLASSES })]) {
        const followers = ask.session().at(User, 'eve').collection('followers')
        expect(await followers.contains('u5')).to.equal(true)
        expect(await followers.count()).to.equal(12)
        if (ask !== db) await ask.close()
      }
      const fresh = await server.open({ namespace, entities: COMPANION_CLASSES })
      await fresh.withSession((session) => {
        session.at(User, 'eve').collection('followers').add('ada')
        session.at(User, 'eve').collection('followers').remove('u5')
      })
      await fresh.close()
      const left = [...names(12).filter((id) => id !== 'u5'), 'ada']
      for (const shard of [0, 1, 2]) {
        const bins = await stored('cuser_followers', `eve:${shard}`)
        expect(bins?.followers).to.have.members(left.filter((id) => hashShard(id, 3) === shard))
      }
      expect(await recordsOf('cuser_followers')).to.equal(SHARDS + 3)
    })
  })
}
