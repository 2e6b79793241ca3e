import { expect } from 'chai'
import {
  Bin,
  Companion,
  compileModel,
  Embeddable,
  Index,
  Key,
  ManyToMany,
  OneToMany,
  Record,
  Sharded,
  collection,
  type Database,
} from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

const unique = `qc${process.pid}${Date.now() % 1e6}`

@Embeddable()
class Since {
  @Bin({ type: 'int' }) year!: number
}

@Record({ set: `${unique}u` })
class User {
  @Key() id!: string
  @Bin() name!: string
  @Bin({ type: 'int' }) age = 0
  @Companion() @Index() @ManyToMany(() => User, 'followers', { owner: true }) follows = collection<User>()
  @Sharded({ by: 'hash', shards: 3, subkeys: 'followedIn' })
  @Index()
  @ManyToMany(() => User, 'follows')
  followers = collection<User>()
  @Sharded({ by: 'hash', shards: 3, subkeys: 'clubsIn' })
  @Index()
  @ManyToMany(() => Club, 'members', { owner: true, attributes: () => Since })
  clubs = collection<Club, Since>()
  @Companion({ subkeys: 'notesIn' }) @OneToMany(() => Note) notes = collection<Note>()
}

@Record({ set: `${unique}c`, tenant: true })
class TenantClub {
  @Key() id!: string
  @Companion() @Index() @OneToMany(() => TenantNote) notes = collection<TenantNote>()
}

@Record({ set: `${unique}t`, tenant: true })
class TenantNote {
  @Key() id!: string
}

@Record({ set: `${unique}k` })
class Club {
  @Key() id!: number
  @ManyToMany(() => User, 'clubs', { attributes: () => Since }) members = collection<User, Since>()
}

@Record({ set: `${unique}n` })
class Note {
  @Key() id!: number
}

const CLASSES = [User, Club, Note, TenantClub, TenantNote]
const code = async (ask: () => Promise<unknown>): Promise<unknown> => {
  try {
    await ask()
    return undefined
  } catch (error) {
    return (error as { code?: string }).code
  }
}

for (const mode of MODES) {
  describe(`which owners of companions have a member (${mode})`, () => {
    let db: Database
    useDatabase(mode, CLASSES, (opened) => ({ db } = opened))

    beforeEach(() =>
      db.withSession(async (session) => {
        const [anna, bob, cleo] = ['anna', 'bob', 'cleo'].map((id) => session.create(User, { id, name: id, age: 30 }))
        const club = session.create(Club, { id: 7 })
        anna.follows.add(bob, cleo)
        cleo.follows.add(bob)
        anna.notes.add(session.create(Note, { id: 1 }))
        bob.clubs.link(club, Object.assign(new Since(), { year: 2020 }))
      }),
    )

    it('is found by an index on the companions', async () => {
      const fans = db.query(User).whereHas('follows', 'bob')
      expect((await fans.keys()).sort()).to.deep.equal(['anna', 'cleo'])
      expect((await fans.toArray()).map(({ name }) => name).sort()).to.deep.equal(['anna', 'cleo'])
      expect(await fans.count()).to.equal(2)
      expect(await fans.exists()).to.equal(true)
      expect((await fans.only('name').toArray()).map(({ name, age }) => `${name} ${age}`).sort()).to.have.length(2)
      const plan = fans.explain()
      expect(plan.index).to.match(/follows_items$/)
      expect(String(plan)).to.match(/here: reads the records of User that they belong to/)
      expect((await db.query(User).whereHas('followers', 'cleo').keys()).sort()).to.deep.equal(['bob'])
      expect(await db.query(User).whereHas('clubs', 7).keys()).to.deep.equal(['bob'])
      expect(await db.query(User).whereHas('clubs', 8).keys()).to.deep.equal([])
    })

    it('is narrowed by other conditions, sorted, limited and aggregated', async () => {
      const fans = db.query(User).whereHas('follows', 'bob')
      expect(await fans.where({ name: 'cleo' }).count()).to.equal(1)
      expect(await fans.where({ name: 'nobody' }).keys()).to.deep.equal([])
      expect((await fans.orderBy('name', 'desc').limit(1).toArray())[0].name).to.equal('cleo')
      expect(await fans.limit(1).keys()).to.have.length(1)
      expect(await fans.sum('age')).to.equal(60)
      expect([...(await fans.groupBy('name').count())].sort()).to.deep.equal([
        ['anna', 1],
        ['cleo', 1],
      ])
    })

    it('names each owner once, whichever of its companions have one of several members', async () => {
      expect((await db.query(User).whereHasAny('followers', ['anna', 'cleo']).keys()).sort()).to.deep.equal([
        'bob',
        'cleo',
      ])
      expect((await db.query(User).whereHasAny('follows', ['bob', 'cleo']).keys()).sort()).to.deep.equal([
        'anna',
        'cleo',
      ])
    })

    it('is paged, each owner once', async () => {
      await db.withSession((session) => {
        for (let i = 0; i < 40; i++)
          session.create(User, { id: `u${i}`, name: i % 2 === 0 ? 'even' : 'odd' }).follows.add('bob')
      })
      for (const name of [undefined, 'even']) {
        const fans = db.query(User).whereHas('follows', 'bob')
        const query = name === undefined ? fans : fans.where({ name })
        const seen: string[] = []
        let after: string | undefined
        let pages = 0
        do {
          const page = await query.page({ count: 7, ...(after === undefined ? {} : { after }) })
          seen.push(...page.map(({ id }) => id))
          after = page.next
          pages++
        } while (after !== undefined)
        expect(seen.sort()).to.deep.equal((await query.keys()).sort())
        expect(seen).to.have.length(name === undefined ? 42 : 20)
        expect(pages).to.be.within(Math.ceil(seen.length / 7), Math.ceil(seen.length / 7) + 1)
      }
      expect(await code(() => db.query(User).whereHasAny('followers', ['anna', 'bob']).page({ count: 2 }))).to.equal(
        'SKEIN_2510',
      )
      const sorted = db.query(User).whereHasAny('follows', ['bob', 'cleo']).where({ age: 30 }).orderBy('name')
      const first = await sorted.page({ count: 1 })
      const rest = await sorted.page({ count: 9, after: first.next! })
      expect([...first, ...rest].map(({ id }) => id)).to.deep.equal(['anna', 'cleo'])
      const ofShards = db.query(User).whereHasAny('followers', ['anna', 'cleo']).orderBy('name')
      expect((await ofShards.page({ count: 9 })).map(({ id }) => id)).to.deep.equal(['bob', 'cleo'])
    })

    it('forgets owners that are deleted', async () => {
      await db.session().delete(User, 'anna')
      expect(await db.query(User).whereHas('follows', 'bob').keys()).to.deep.equal(['cleo'])
    })

    it('is asked in sessions, with relations', async () => {
      const session = db.session()
      const [bob] = await session
        .query(User)
        .whereHas('clubs', await session.load(Club, 7))
        .with('clubs')
        .toArray()
      expect(bob.clubs.items.map(({ id }) => id)).to.deep.equal([7])
      expect(await session.load(User, 'bob')).to.equal(bob)
      await session.close()
    })

    it('is changed in bulk, through sessions', async () => {
      const result = await db.query(User).whereHas('follows', 'bob').update({ age: 31 })
      expect(result).to.include({ written: 2, by: 'sessions' })
      expect((await db.query(User).whereHas('follows', 'bob').toArray()).map(({ age }) => age)).to.deep.equal([31, 31])
      expect((await db.read(User, ['bob']))[0]!.age).to.equal(30)
      await db.query(User).whereHas('follows', 'bob').delete()
      expect(await db.scan(User).keys()).to.deep.equal(['bob'])
    })

    it('needs an index or a scan, and is one condition on companions', async () => {
      expect(await code(() => db.query(User).whereHas('notes', 1).keys())).to.equal('SKEIN_2511')
      expect(await db.query(User).whereHas('notes', 1).scan().keys()).to.deep.equal(['anna'])
      const twice = db.query(User).whereHas('follows', 'bob').whereHas('followers', 'anna')
      expect(await code(() => twice.keys())).to.equal('SKEIN_2510')
    })

    it('leaves out the records of other tenants', async () => {
      for (const tenant of ['acme', 'best'])
        await db.withSession(
          (session) => void session.create(TenantClub, { id: 'x' }).notes.add(session.create(TenantNote, { id: 'n' })),
          { tenant },
        )
      const query = db.query(TenantClub, { tenant: 'acme' }).whereHas('notes', 'n')
      expect(await query.keys()).to.deep.equal(['x'])
      expect(await query.count()).to.equal(1)
      expect((await query.page({ count: 5 })).map(({ id }) => id)).to.deep.equal(['x'])
    })

    it('has an index on the set of the companions', async () => {
      const { missing, different, unused } = await db.indexes.diff()
      expect([missing, different, unused.filter(({ set }) => set?.startsWith(unique))]).to.deep.equal([[], [], []])
      const model = compileModel(CLASSES, { namespace: 'test' })
      expect(model.entity(User).indexes.map(({ set }) => set)).to.deep.equal([
        `${unique}u_follows`,
        `${unique}u_followers`,
        `${unique}u_clubs`,
      ])
    })
  })
}
