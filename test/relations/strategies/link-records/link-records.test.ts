import Aerospike from 'aerospike'
import { expect } from 'chai'
import { PartialFailureError, SkeinError, type Database, type Session } from 'skein'
import { expectRoundTrips } from '../../../expect-round-trips.js'
import { MODES, type TestServer } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'
import { Access, Doc, Follow, LINKED, Person, saved, Topic, User } from './link-models.js'

for (const mode of MODES) {
  describe(`link records (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    let session: Session
    useDatabase(mode, LINKED, (opened) => ({ db, server, namespace } = opened))
    beforeEach(async () => {
      saved.length = 0
      await db.withSession(async (first) => {
        for (const id of ['ann', 'bob', 'cem']) first.create(Person, { id })
        first.create(Topic, { id: 'tea' })
        for (const id of [1, 2]) first.create(User, { id })
        for (const id of ['x', 'y']) first.create(Doc, { id })
      })
      session = db.session()
    })

    /** Links as both ends list them, and the link records that there are. */
    const stored = async (): Promise<object> => {
      const reading = db.session()
      const lists: { [id: string]: object } = {}
      for (const id of ['ann', 'bob', 'cem']) {
        const person = await reading.find(Person, id)
        if (person !== null) lists[id] = [await person.follows.keys(), await person.followers.keys()]
      }
      return { ...lists, links: [...(await db.scan(Follow).keys())].sort() }
    }
    const faults = async (repair = false): Promise<string[]> => {
      const found: string[] = []
      for (const each of LINKED) {
        for await (const { kind, message, state } of db.verify(each, { settle: 0, repair }))
          found.push(`${kind} ${state}: ${message}`)
      }
      return found
    }
    /** Deletes a record past Skein. */
    const erase = (set: string, key: string): Promise<unknown> =>
      db.client.remove(new Aerospike.Key(namespace, set, key), { durableDelete: mode === 'sc' } as never)
    const follow = (from: string, to: string, values: { kind?: string; since?: number } = {}): Promise<void> =>
      db.withSession(async (one) => one.at(Person, from).collection('follows').link(to, values))

    afterEach(async () => expect(await faults()).to.deep.equal([]))

    describe('a link', () => {
      it('is a record that both ends list', async () => {
        const ann = await session.load(Person, 'ann')
        ann.follows.link('bob', { kind: 'friend', since: 2020 })
        await session.flush()
        expect(await stored()).to.deep.equal({
          ann: [['bob'], []],
          bob: [[], ['ann']],
          cem: [[], []],
          links: ['ann:bob'],
        })
        const link = await db.session().load(Follow, 'ann:bob')
        expect(link).to.deep.include({ kind: 'friend', since: 2020, version: 1 })
        expect([link.from.key, link.to.key]).to.deep.equal(['ann', 'bob'])
        expect(saved).to.deep.equal(['ann:bob'])
      })

      it('is made from either end, by key or by entity, by add or by link', async () => {
        const [ann, bob] = await session.loadMany(Person, ['ann', 'bob'])
        ann.follows.add(bob)
        bob.followers.link('cem', { kind: 'fan', topic: 'tea' })
        session.at(Person, 'cem').collection('follows').add('ann')
        await session.save(ann)
        await session.flush()
        expect(await stored()).to.deep.equal({
          ann: [['bob'], ['cem']],
          bob: [[], ['ann', 'cem']],
          cem: [['ann', 'bob'], []],
          links: ['ann:bob', 'cem:ann', 'cem:bob'],
        })
        expect((await db.session().load(Follow, 'cem:bob')).topic.key).to.equal('tea')
      })

      it('is saved with new ends, also where a session has neither yet', async () => {
        const [dan, eva] = [new Person(), new Person()]
        dan.id = 'dan'
        eva.id = 'eva'
        dan.follows.link(eva, { since: 7 })
        dan.follows.add('bob')
        expect(dan.follows.isLoaded).to.equal(false)
        await session.save(dan)
        const read = await db.session().load(Person, 'dan', { with: ['follows.followers'] })
        expect(read.follows.items.map(({ id }) => id)).to.deep.equal(['bob', 'eva'])
        expect(read.follows.items[1].followers.items).to.deep.equal([read])
        expect((await read.follows.linkOf('eva'))?.since).to.equal(7)
      })

      it('replaces the one that is stored, and its version counts on', async () => {
        await follow('ann', 'bob', { kind: 'friend', since: 1 })
        await follow('ann', 'bob', { since: 2 })
        const link = await db.session().load(Follow, { from: 'ann', to: 'bob' })
        expect(link).to.deep.include({ since: 2, version: 2 })
        expect(link.kind).to.equal(undefined)
        expect(await session.at(Person, 'ann').collection('follows').count()).to.equal(1)
      })

      it('gets the values that are given where the session has it, with a save of either end', async () => {
        await follow('ann', 'bob', { kind: 'friend', since: 1 })
        const ann = await session.load(Person, 'ann', { with: ['follows'] })
        ann.follows.link('bob', { since: 2 })
        await session.save(ann)
        expect(await db.session().load(Follow, 'ann:bob')).to.deep.include({ kind: 'friend', since: 2, version: 2 })
        saved.length = 0
        ann.city = 'Bern'
        await session.save(ann)
        expect(saved).to.deep.equal([])
      })

      it('is shown at both ends at once, and rolled back at both', async () => {
        const [ann, bob] = await session.loadMany(Person, ['ann', 'bob'], { with: ['follows', 'followers'] })
        ann.follows.add(bob)
        expect([ann.follows.items, bob.followers.items]).to.deep.equal([[bob], [ann]])
        expect([await ann.follows.contains('bob'), await bob.followers.count()]).to.deep.equal([true, 1])
        bob.followers.unlink(ann)
        expect([ann.follows.items, bob.followers.items]).to.deep.equal([[], []])
        await session.flush()
        expect(await stored()).to.deep.include({ links: [] })
      })

      it('refuses what the class of links does not have, and its own ends', async () => {
        const ann = await session.load(Person, 'ann')
        const code = (work: () => void): unknown => {
          try {
            work()
            return undefined
          } catch (error) {
            return (error as SkeinError).code
          }
        }
        expect(code(() => ann.follows.link('bob', { kinds: 'friend' } as never))).to.equal('SKEIN_2310')
        expect(code(() => ann.follows.link('bob', { to: 'cem' }))).to.equal('SKEIN_2310')
        expect(code(() => ann.follows.add(new Topic() as never))).to.equal('SKEIN_2408')
        expect(session.isDirty()).to.equal(false)
      })
    })

    describe('asking', () => {
      beforeEach(async () => {
        for (const to of ['ann', 'bob', 'cem']) await follow('ann', to, { since: to.length, kind: to })
        await follow('cem', 'bob')
      })

      it('whether one follows another is one get', async () => {
        const { follows } = await session.load(Person, 'ann')
        expect([await follows.contains('bob'), await follows.contains('nobody')]).to.deep.equal([true, false])
        expect(await session.linkOf(Follow, 'bob', 'ann')).to.equal(null)
        const link = await session.linkOf(Follow, 'ann', 'bob')
        expect(link?.kind).to.equal('bob')
        expect(await follows.linkOf('bob')).to.equal(link)
        expect(await session.linkOf(Follow, link!.from.key!, await session.load(Person, 'bob'))).to.equal(link)
      })

      it('answers from the far end: keys, counts, pages and streams', async () => {
        const { follows } = await session.load(Person, 'ann')
        expect(await follows.count()).to.equal(3)
        expect(await follows.keys({ offset: 1, count: 2 })).to.deep.equal(['bob', 'cem'])
        expect((await follows.page({ offset: -2, count: 2 })).map(({ id }) => id)).to.deep.equal(['bob', 'cem'])
        follows.remove('bob')
        expect(await follows.keys()).to.deep.equal(['ann', 'cem'])
        const streamed: string[] = []
        for await (const { id } of follows.stream()) streamed.push(id)
        expect(streamed).to.deep.equal(['ann', 'cem'])
        expect((await follows.page({ count: 5 })).map(({ id }) => id)).to.deep.equal(['ann', 'cem'])
      })

      it('loads links and what they lead to in one batch', async () => {
        let ann: Person
        const loaded = await server.commands.during(async () => {
          ann = await session.load(Person, 'ann', { with: ['follows'] })
          expect((await ann.follows.linkOf('cem'))?.kind).to.equal('cem')
        })
        expectRoundTrips(loaded.commands, 2)
        expect(ann!.follows.items.map(({ id }) => id)).to.deep.equal(['ann', 'bob', 'cem'])
        const asked = await server.commands.during(async () => {
          await session.at(Person, 'cem').collection('follows').contains('bob')
        })
        expect(asked.commands).to.equal(1)
      })

      it('walks through the links, and asks them about their values', async () => {
        const walk = session.walk(Person, 'ann').out('follows', { where: { kind: { gte: 'b' } } })
        expect(await walk.keys()).to.deep.equal(['bob', 'cem'])
        expect(await walk.out('followers').keys()).to.deep.equal([])
        const first = await session.walk(Person, 'cem').out('follows').out('followers', { first: 1 }).entities()
        expect(first.map(({ id }) => id)).to.deep.equal(['ann'])
      })
    })

    describe('without one of its ends', () => {
      it('is not stored', async () => {
        const ann = await session.load(Person, 'ann')
        ann.follows.link('nobody', { kind: 'friend' })
        session.at(User, 1).collection('docs').link('none', {})
        await session.flush().then(
          () => expect.fail(),
          (error: unknown) => expect(error).to.be.instanceOf(PartialFailureError),
        )
        expect(await stored()).to.deep.include({ ann: [[], []], links: [] })
        expect([await db.scan(Access).count(), session.isDirty()]).to.deep.equal([0, true])
        await db.withSession(async (one) => void one.create(Person, { id: 'nobody' }))
        ann.follows.unlink('nobody')
        session.at(User, 1).collection('docs').unlink('none')
        await session.flush()
        expect(await stored()).to.deep.include({ ann: [[], []], links: [] })
      })

      it('is stored once that is there', async () => {
        const ann = await session.load(Person, 'ann')
        ann.follows.link('nobody', { kind: 'friend' })
        await session.flush().then(
          () => expect.fail(),
          () => undefined,
        )
        await db.withSession(async (one) => void one.create(Person, { id: 'nobody' }))
        await session.flush()
        expect(await stored()).to.deep.include({ ann: [['nobody'], []], links: ['ann:nobody'] })
        expect(await db.session().at(Person, 'nobody').collection('followers').keys()).to.deep.equal(['ann'])
      })

      it('is deleted by a repair', async () => {
        await follow('ann', 'bob')
        await db.withSession(async (one) => one.at(User, 1).collection('docs').link('x', {}))
        await erase('lperson', 'bob')
        await erase('ldoc', 'x')
        expect(await faults(true)).to.deep.equal([
          'danglingKey repaired: Follow "ann:bob" holds Person "bob" in to, which has no record.',
          'danglingKey repaired: Access "a:1:x" holds Doc "x" in doc, which has no record.',
        ])
        expect(await stored()).to.deep.include({ ann: [[], []], links: [] })
        expect(await session.at(User, 1).collection('docs').keys()).to.deep.equal([])
      })
    })

    describe('unlinking', () => {
      beforeEach(async () => {
        await follow('ann', 'bob', { kind: 'friend' })
        await follow('ann', 'cem')
        await follow('bob', 'ann')
      })

      it('deletes the record, from either end, loaded or not', async () => {
        const ann = await session.load(Person, 'ann', { with: ['follows'] })
        ann.follows.unlink('bob')
        session.at(Person, 'cem').collection('followers').unlink('ann')
        await session.flush()
        expect(ann.follows.items).to.deep.equal([])
        expect(await stored()).to.deep.equal({
          ann: [[], ['bob']],
          bob: [['ann'], []],
          cem: [[], []],
          links: ['bob:ann'],
        })
      })

      it('and linking again leaves the record as it is', async () => {
        const ann = await session.load(Person, 'ann', { with: ['follows.followers'] })
        const [bob] = ann.follows.items
        ann.follows.remove(bob)
        expect(bob.followers.items).to.deep.equal([])
        bob.followers.add(ann)
        expect(ann.follows.items).to.include(bob)
        expect(session.isDirty()).to.equal(false)
        await session.flush()
        expect((await db.session().load(Follow, 'ann:bob')).kind).to.equal('friend')
      })

      it('of a record that another session has deleted does nothing', async () => {
        const ann = await session.load(Person, 'ann', { with: ['follows'] })
        await db.session().delete(Follow, 'ann:bob')
        ann.follows.remove('bob')
        await session.flush()
        expect(await stored()).to.deep.include({ links: ['ann:cem', 'bob:ann'] })
      })

      it('deletes the links of an end that is deleted, at both ends', async () => {
        await session.delete(Person, 'ann')
        expect(await stored()).to.deep.equal({ bob: [[], []], cem: [[], []], links: [] })
      })

      it('and deleting the same end in one flush deletes both', async () => {
        const ann = await session.load(Person, 'ann')
        ann.follows.unlink('bob')
        ann.followers.unlink('bob')
        session.remove(ann)
        await session.flush()
        expect(await stored()).to.deep.equal({ bob: [[], []], cem: [[], []], links: [] })
      })

      it('shows the delete of a link at both ends', async () => {
        const ann = await session.load(Person, 'ann', { with: ['follows.followers'] })
        const link = (await ann.follows.linkOf('bob'))!
        const bob = link.to.value!
        await session.delete(link)
        expect([ann.follows.items.map(({ id }) => id), bob.followers.items]).to.deep.equal([['cem'], []])
      })
    })

    describe('by index', () => {
      beforeEach(async () => {
        await db.withSession(async (one) => {
          one.at(User, 1).collection('docs').link('x', { role: 'owner' })
          one.at(Doc, 'x').collection('users').link(2, { role: 'reader' })
        })
      })

      it('an end finds its links without a list', async () => {
        const doc = await session.load(Doc, 'x', { with: ['users.docs'] })
        expect(doc.users.items.map(({ id }) => id).sort()).to.deep.equal([1, 2])
        expect(doc.users.items[0].docs.items).to.deep.equal([doc])
        expect([await doc.users.contains(2), await doc.users.contains(3)]).to.deep.equal([true, false])
        expect((await doc.users.linkOf(1))?.role).to.equal('owner')
        const page = await doc.users.page({ count: 1 })
        const next = await doc.users.page({ count: 5, after: page.next })
        expect([...page, ...next].map(({ id }) => id).sort()).to.deep.equal([1, 2])
        expect([...(await doc.users.keys())].sort()).to.deep.equal([1, 2])
      })

      it('walks through the links, and queries ask for them', async () => {
        const readers = await session
          .walk(Doc, 'x')
          .out('users', { where: { role: 'reader' } })
          .entities()
        expect(readers.map(({ id }) => id)).to.deep.equal([2])
        const links = await db.query(Access).where({ role: 'owner' }).toArray()
        expect(links.map(({ doc }) => doc.key)).to.deep.equal(['x'])
      })

      it('keeps an end that is to stay while it has links', async () => {
        const refused = await session.delete(Doc, 'x').catch((error: unknown) => error as SkeinError)
        expect((refused as SkeinError).code).to.equal('SKEIN_3007')
        await session.delete(User, 1)
        const doc = await session.load(Doc, 'x')
        doc.users.unlink(2)
        await session.flush()
        expect(await session.delete(doc)).to.equal(true)
      })

      it('an access that has expired is gone, whatever the list says', async () => {
        await session.save(await session.load(Access, 'a:1:x'), { ttl: 1 })
        await new Promise((done) => setTimeout(done, 1500))
        const { docs } = await db.session().load(User, 1, { with: ['docs'] })
        expect([docs.items, docs.dangling, await docs.contains('x')]).to.deep.equal([[], ['x'], false])
        expect(await db.session().walk(User, 1).out('docs').count()).to.equal(0)
        expect(await faults(true)).to.have.length(1)
      })
    })
  })
}
