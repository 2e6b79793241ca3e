import { expect } from 'chai'
import {
  Bin,
  DeletedAt,
  Embeddable,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  collection,
  ref,
  type Database,
  type DeleteProgress,
} from 'skein'
import { MODES, type TestServer } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'

@Record({ set: 'tuser' })
class User {
  @Key() id!: number
}

@Embeddable()
class Note {
  @Key() id!: string
  @Bin() rank!: number
  @ManyToOne(() => User) author = ref<User>()
}

@Record({ set: 'page' })
class Page {
  @Key() id!: number
  @OneToMany(() => Note, { strategy: 'consolidate', inverseIndex: { author: { name: 'a', onTargetDelete: 'delete' } } })
  notes = collection<Note>()
  @OneToMany(() => Note, {
    strategy: 'consolidate',
    eager: false,
    sortKey: ['rank'],
    inverseIndex: { author: { name: 'b', onTargetDelete: 'delete' } },
  })
  ranked = collection<Note>()
  @OneToMany(() => Note, { strategy: 'consolidate', inverseIndex: { author: { name: 'c' } } })
  kept = collection<Note>()
}

@Record({ set: 'tmember' })
class Member {
  @Key() id!: number
  @DeletedAt() deletedAt?: Date
}

@Embeddable()
class Seat {
  @Key() id!: string
  @ManyToOne(() => Member) member = ref<Member>()
}

@Record({ set: 'tclub' })
class Club {
  @Key() id!: number
  @OneToMany(() => Seat, { strategy: 'consolidate', inverseIndex: { member: { onTargetDelete: 'delete' } } })
  seats = collection<Seat>()
}

const note = (id: string, author: number): Note => {
  const made = Object.assign(new Note(), { id, rank: 1 })
  made.author.set(author)
  return made
}

for (const mode of MODES) {
  describe(`deleting what consolidated children point to (${mode})`, () => {
    let namespace: string
    let db: Database
    let server: TestServer
    useDatabase(mode, [User, Page], (opened) => ({ db, namespace, server } = opened))
    beforeEach(async () => {
      await db.withSession(async (session) => {
        for (const id of [1, 2]) session.create(User, { id })
        for (const id of [1, 2, 3]) {
          const { notes, ranked, kept } = session.create(Page, { id })
          for (const list of [notes, ranked, kept]) list.add(note('x', 1), note('y', id === 3 ? 1 : 2), note('z', 2))
        }
      })
    })

    const ids = async (page: number): Promise<string[]> => {
      const found = await db.session().load(Page, page, { with: ['notes', 'ranked', 'kept'] })
      return [found.notes, found.ranked, found.kept].map((notes) => notes.items.map(({ id }) => id).join(''))
    }

    it('is not undone by children that were given it before and are stored later', async () => {
      const session = db.session()
      const [page, user] = [await session.load(Page, 1), await session.load(User, 1)]
      const made = Object.assign(new Note(), { id: 'n', rank: 1 })
      made.author.set(user)
      page.kept.add(made)
      page.kept.items.find(({ id }) => id === 'z')!.author.set(user)
      expect(await session.delete(user)).to.equal(true)
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      expect(await db.session().find(User, 1)).to.equal(null)
      const { kept } = await db.session().load(Page, 1)
      expect(kept.items.map(({ id, author }) => [id, author.key])).to.deep.equal([
        ['n', 1],
        ['x', 1],
        ['y', 2],
        ['z', 1],
      ])
    })

    it('removes them wherever they are, and leaves those that are to be kept', async () => {
      expect(await db.session().delete(User, 2)).to.equal(true)
      expect(await db.session().find(User, 2)).to.equal(null)
      expect(await ids(1)).to.deep.equal(['x', 'x', 'xyz'])
      expect(await ids(3)).to.deep.equal(['xy', 'xy', 'xyz'])
      const { bins } = await db.client.get({ ns: namespace, set: 'page', key: 1 })
      expect([bins['a'], bins['b'], bins['c']]).to.deep.equal([{ 1: ['x'] }, { 1: ['x'] }, { 1: ['x'], 2: ['y', 'z'] }])
    })

    it('removes many of them in steps, and goes on where it was cut off', async () => {
      const all = Array.from({ length: 12 }, (_, i) => i + 4)
      await db.withSession((session) => {
        for (const id of all) session.create(Page, { id }).notes.add(note('x', 1), note('z', 2))
        return Promise.resolve()
      })
      const stop = new AbortController()
      const seen: DeleteProgress[] = []
      const onProgress = (progress: DeleteProgress): void => {
        seen.push(progress)
        if (seen.length === 3) stop.abort(new Error('power cut'))
      }
      const cut = await db
        .session()
        .delete(User, 2, { step: 4, onProgress, signal: stop.signal })
        .catch((error: Error) => error.message)
      expect(cut).to.equal('power cut')
      expect(seen.at(-1)).to.deep.equal({ className: 'Page', property: 'notes', done: 6 })
      expect(await db.session().find(User, 2)).to.equal(null)
      expect(await db.sweep(User, { step: 4 })).to.equal(1)
      expect(await Promise.all([1, 3, ...all].map(ids))).to.deep.equal([
        ['x', 'x', 'xyz'],
        ['xy', 'xy', 'xyz'],
        ...all.map(() => ['x', '', '']),
      ])
    })

    for (const name of ['notes', 'ranked'] as const) {
      it(`removes ${name} with two commands for each page of records that hold them`, async function () {
        if (mode !== 'ap') return this.skip()
        const pages = Array.from({ length: 12 }, (_, i) => i + 4)
        await db.withSession((session) => {
          for (const id of pages) session.create(Page, { id })[name].add(note('x', 3), note('y', 4), note('z', 5))
          for (const id of [3, 4, 5]) session.create(User, { id })
          return Promise.resolve()
        })
        const commands = async (user: number, step?: number): Promise<number> =>
          (await server.commands.during(() => db.session().delete(User, user, { step }))).commands
        // All at once: the user is read and deleted, and the index of the other collection finds nothing.
        expect(await commands(3)).to.equal(3 + 2)
        const [sixPages, threePages] = [await commands(4, 4), await commands(5, 8)]
        expect(sixPages - threePages).to.equal((6 - 3) * 2)
        const found = await db.session().loadMany(Page, pages, { with: [name] })
        expect(found.flatMap((page) => page[name].items)).to.deep.equal([])
      })
    }

    it('removes those that somebody else has added to a record which this session has loaded', async () => {
      const session = db.session()
      const page = await session.load(Page, 1, { with: ['ranked'] })
      await db.withSession(async (other) => {
        const { notes, ranked } = await other.load(Page, 1)
        for (const list of [notes, ranked]) list.add(note('new', 2))
      })
      await session.delete(User, 2)
      expect(session.isDirty(page)).to.equal(false)
      expect(await ids(1)).to.deep.equal(['x', 'x', 'xyz'])
      const { bins } = await db.client.get({ ns: namespace, set: 'page', key: 1 })
      expect([bins['a'], bins['b']]).to.deep.equal([{ 1: ['x'] }, { 1: ['x'] }])
    })

    it('leaves those that have been given to someone else meanwhile', async () => {
      const session = db.session()
      const page = await session.load(Page, 1)
      page.notes.items[1].author.set(1)
      await session.flush()
      await db.session().delete(User, 2)
      expect(await ids(1)).to.deep.equal(['xy', 'x', 'xyz'])
    })
  })
  describe(`purging what consolidated children point to (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Member, Club], (opened) => ({ db } = opened))

    it('removes them, which a soft delete has kept', async () => {
      await db.withSession((session) => {
        const members = [1, 2].map((id) => session.create(Member, { id }))
        const club = session.create(Club, { id: 1 })
        for (const member of members) {
          const seat = Object.assign(new Seat(), { id: `s${member.id}` })
          seat.member.set(member)
          club.seats.add(seat)
        }
      })
      const seats = async (): Promise<string[]> => [...(await db.session().load(Club, 1)).seats].map(({ id }) => id)
      await db.session().delete(Member, 1)
      expect(await seats()).to.deep.equal(['s1', 's2'])
      expect(await db.purge(Member, { olderThan: new Date(Date.now() + 60_000) })).to.equal(1)
      expect(await seats()).to.deep.equal(['s2'])
    })
  })
}
