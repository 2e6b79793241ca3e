import { expect } from 'chai'
import {
  EntityGoneError,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  RestrictedError,
  SkeinError,
  collection,
  ref,
  type Database,
  type Session,
} from 'skein'
import { MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import {
  COMPANY,
  Department,
  Employee,
  Player,
  Team,
  department,
  employee,
  player,
  team,
  trophy,
} from '../cascade/departments.js'

/** Sets that no server has an index for. */
const unique = `si${process.pid}${Date.now() % 1e6}`

@Record({ set: `${unique}s` })
class Shelf {
  @Key() id!: number
  @OneToMany(() => Book, 'shelf', { strategy: 'secondaryIndex' }) books = collection<Book>()
}

@Record({ set: `${unique}b` })
class Book {
  @Key() id!: string
  @ManyToOne(() => Shelf, 'books') shelf = ref<Shelf>()
}

for (const mode of MODES) {
  describe(`a collection by secondary index (${mode})`, () => {
    let server: TestServer
    let namespace: string
    let db: Database
    useDatabase(mode, COMPANY, (opened) => ({ db, server, namespace } = opened))

    const ids = (entities: Iterable<{ id: string }>): string[] => [...entities].map(({ id }) => id).sort()

    async function hire(count: number, into = 1, prefix = 'e'): Promise<string[]> {
      const session = db.session()
      const home = (await session.find(Department, into)) ?? department(into)
      const names = Array.from({ length: count }, (_, i) => `${prefix}${String(i).padStart(4, '0')}`)
      home.employees.add(...names.map(employee))
      await session.save(home)
      return names
    }

    it('says which index is missing, and what creates it', async () => {
      const library = await server.open({ namespace, entities: [Shelf, Book] })
      try {
        await library.session().save(Object.assign(new Shelf(), { id: 1 }))
        const shelf = await library.session().load(Shelf, 1)
        const missing = await shelf.books.load().catch((error: unknown) => error)
        expect(missing).to.be.instanceOf(SkeinError).and.have.property('code', 'SKEIN_4211')
        expect((missing as SkeinError).message)
          .to.include(`'${unique}b_shelf'`)
          .and.include('db.indexes.sync()')
        await library.indexes.sync()
        expect(await (await library.session().load(Shelf, 1)).books.load()).to.deep.equal([])
      } finally {
        await library.client.indexRemove(namespace, `${unique}b_shelf`)
        await library.close()
      }
    })

    it('saves new children with their parent, and finds them', async () => {
      const session = db.session()
      const home = department(1)
      home.employees.add(employee('a'), employee('b'))
      await session.save(home)
      expect(session.isDirty()).to.equal(false)

      const other = db.session()
      const found = await other.load(Department, 1, { with: ['employees'] })
      expect(ids(found.employees)).to.deep.equal(['a', 'b'])
      for (const each of found.employees) expect(each.department.value).to.equal(found)
    })

    it('takes the key of a parent that is new in the same flush, from new and stored children', async () => {
      await db.session().save(employee('old'))
      const session = db.session()
      session.persist(department(1))
      session.persist(employee('young')).department.set(1)
      ;(await session.load(Employee, 'old')).department.set(1)
      await session.flush()
      expect(ids((await db.session().load(Department, 1, { with: ['employees'] })).employees)).to.deep.equal([
        'old',
        'young',
      ])
      const alone = db.session()
      alone.persist(department(2))
      const child = employee('first')
      child.department.set(2)
      await alone.save(child)
      expect(await db.session().at(Department, 2).collection('employees').keys()).to.deep.equal(['first'])
    })

    it('stores nothing on the parent', async function () {
      await hire(3)
      const session = db.session()
      const home = await session.load(Department, 1)
      home.employees.add(employee('late'))
      const plan = String(await session.explain())
      expect(plan).to.include('employee/"late"').and.not.include('department/1')
    })

    it('answers contains, count and keys without loading, with what is not sent yet', async () => {
      const names = await hire(20)
      const session = db.session()
      const home = await session.load(Department, 1)
      expect(await home.employees.contains('e0003')).to.equal(true)
      expect(await home.employees.contains('nobody')).to.equal(false)
      expect(await home.employees.count()).to.equal(20)
      expect([...(await home.employees.keys())].sort()).to.deep.equal(names)
      home.employees.remove('e0003')
      home.employees.add(employee('new'))
      expect(await home.employees.contains('e0003')).to.equal(false)
      expect(await home.employees.count()).to.equal(20)
      expect(await home.employees.keys())
        .to.include('new')
        .and.not.include('e0003')
      expect(home.employees.isLoaded).to.equal(false)
    })

    it('is paged by a token that another session can go on with', async () => {
      const names = await hire(50)
      const seen: string[] = []
      let after: string | undefined
      do {
        const home = await db.session().load(Department, 1)
        const page = await home.employees.page({ count: 12, after })
        expect(page.length).to.be.at.most(12)
        seen.push(...page.map(({ id }) => id))
        after = page.next
      } while (after !== undefined)
      expect(seen.sort()).to.deep.equal(names)
      const home = await db.session().load(Department, 1)
      const refused = await home.employees.page({ offset: 5, count: 5 }).catch((error: unknown) => error)
      expect(refused).to.have.property('code', 'SKEIN_2430')
    })

    for (const count of [1, 3, 5, 8])
      it(`is paged by ${count} at most, with what was added and removed and is not sent`, async () => {
        const names = await hire(6)
        const session = db.session()
        const home = await session.load(Department, 1)
        home.employees.remove(names[0])
        const added = ['n1', 'n2', 'n3', 'n4', 'n5']
        home.employees.add(...added.map((id) => employee(id)))
        const seen: string[] = []
        let after: string | undefined
        do {
          const page = await home.employees.page({ count, after })
          expect(page.length).to.be.at.most(count)
          seen.push(...page.map(({ id }) => id))
          after = page.next
        } while (after !== undefined)
        expect(seen.slice(0, added.length)).to.deep.equal(added)
        expect(seen.sort()).to.deep.equal([...names.slice(1), ...added])
      })

    it('is streamed, and what only passes through is detached', async () => {
      const names = await hire(40)
      const session = db.session()
      const home = await session.load(Department, 1)
      const kept = await session.load(Employee, 'e0000')
      const seen: string[] = []
      for await (const each of home.employees.stream()) {
        seen.push(each.id)
        if (each.id === 'e0007') each.name = 'changed'
      }
      expect(seen.sort()).to.deep.equal(names)
      expect(session.isDirty(kept)).to.equal(false)
      await session.flush()
      expect((await db.session().load(Employee, 'e0007')).name).to.equal('changed')
      expect(await session.load(Employee, 'e0000')).to.equal(kept)
    })

    it('moves a child by writing the child alone', async () => {
      await hire(1, 1, 'x')
      await hire(1, 2, 'y')
      const session = db.session()
      const [one, two] = await session.loadMany(Department, [1, 2], { with: ['employees'] })
      const [moved] = one.employees.items
      two.employees.add(moved)
      expect(one.employees.items).to.deep.equal([])
      expect(moved.department.value).to.equal(two)
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      const [left, right] = await db.session().loadMany(Department, [1, 2], { with: ['employees'] })
      expect(ids(left.employees)).to.deep.equal([])
      expect(ids(right.employees)).to.deep.equal(['x0000', 'y0000'])
    })

    it('adds and removes children that are not loaded', async () => {
      await hire(1, 1, 'x')
      await hire(1, 2, 'y')
      const session = db.session()
      const one = await session.load(Department, 1)
      one.employees.add('y0000')
      one.employees.remove('x0000')
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      const check = db.session()
      expect((await check.load(Employee, 'y0000')).department.key).to.equal(1)
      expect((await check.load(Employee, 'x0000')).department.key).to.equal(null)
    })

    it('refuses children for a parent that is gone or being deleted, and rolls the link back', async () => {
      const [name] = await hire(1, 1)
      for (const add of [
        async (session: Session) => (await session.load(Employee, name)).department.set(99),
        async (session: Session) => {
          const home = department(98)
          await session.save(home)
          await db.session().delete(Department, 98)
          home.employees.add(name)
        },
      ]) {
        const session = db.session()
        await add(session)
        const error = (await session.flush().catch((reason: unknown) => reason)) as Error
        // A single record that was not written is reported by its own error.
        expect(error instanceof EntityGoneError ? error : error.cause, String(error)).to.be.instanceOf(EntityGoneError)
        expect((await db.session().load(Employee, name)).department.key).to.equal(1)
      }
    })

    it('deletes children with their parent, also when nobody loaded them', async () => {
      const names = await hire(30)
      expect(await db.session().delete(Department, 1)).to.equal(true)
      expect(await db.session().find(Department, 1)).to.equal(null)
      expect(await db.session().findMany(Employee, names)).to.deep.equal(names.map(() => null))
    })

    it('detaches children where the relation says so', async () => {
      const session = db.session()
      const home = team(1)
      home.players.add(player('a'), player('b'))
      await session.save(home)
      await db.session().delete(Team, 1)
      const players = await db.session().loadMany(Player, ['a', 'b'])
      expect(players.map(({ team }) => team.key)).to.deep.equal([null, null])
    })

    it('forbids the delete where the relation says so', async () => {
      const session = db.session()
      const home = team(1)
      home.players.add(player('a'))
      home.trophies.add(trophy('cup'))
      await session.save(home)
      const error = await db
        .session()
        .delete(Team, 1)
        .catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(RestrictedError)
      expect((await db.session().load(Player, 'a')).team.key).to.equal(1)
    })

    it('deletes orphans where the relation says so', async () => {
      const session = db.session()
      const home = team(1)
      const a = player('a')
      home.players.add(a, player('b'), player('c'))
      await session.save(home)
      home.players.remove(a)
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      const other = db.session()
      const again = await other.load(Team, 1)
      again.players.remove('b')
      await other.flush()
      expect(other.isDirty()).to.equal(false)
      expect(await db.session().findMany(Player, ['a', 'b'])).to.deep.equal([null, null])
      expect(ids(await (await db.session().load(Team, 1)).players.load())).to.deep.equal(['c'])
    })
  })
}
