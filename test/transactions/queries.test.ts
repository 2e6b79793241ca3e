import Aerospike from 'aerospike'
import { expect } from 'chai'
import {
  BeforeDelete,
  EntityGoneError,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  SkeinError,
  collection,
  ref,
  type Database,
  type Session,
} from 'skein'
import { emptySets } from '../empty-sets.js'
import { Article, Writer } from '../relations/strategies/consolidate/consolidate-models.js'
import { COMPANY, Department, Employee, department, employee } from '../relations/cascade/departments.js'
import { Agent, Listing, agent } from '../relations/models.js'
import { needMode, type TestServer } from '../server.js'
import { rejection } from '../session/rejection.js'
import { sharedServer } from '../shared-server.js'

/** Changes by others after a delete has found its members. */
let meanwhile = (): Promise<void> => Promise.resolve()

@Record({ set: 'crew' })
class Crew {
  @Key() id!: number
  @OneToMany(() => Sailor, 'crew', { strategy: 'secondaryIndex', onDelete: 'cascade' }) sailors = collection<Sailor>()
  @BeforeDelete() async wait(): Promise<void> {
    await meanwhile()
  }
}

@Record({ set: 'sailor' })
class Sailor {
  @Key() id!: string
  @ManyToOne(() => Crew, 'sailors') crew = ref<Crew>()
}

const CLASSES = [...COMPANY, Writer, Article, Agent, Listing, Crew, Sailor]

describe('what an index finds, and a transaction', () => {
  let server: TestServer
  let namespace: string
  let db: Database
  let last = 0
  before(async function () {
    server = await sharedServer()
    namespace = needMode(this, server, 'sc')
    db = await server.open({ namespace, entities: CLASSES })
    await emptySets(db, CLASSES)
    await db.indexes.sync()
  })
  after(async () => {
    if (db !== undefined) await emptySets(db, CLASSES)
    await db?.close()
  })

  /** A department with two employees; none of them is used by another test. */
  async function staff(): Promise<{ id: number; names: string[] }> {
    const id = ++last
    const names = [`a${id}`, `b${id}`]
    await db.withSession(async (session) => {
      session.persist(department(id)).employees.add(...names.map(employee))
    })
    return { id, names }
  }

  const idsOf = (members: Iterable<{ id: string }>): string[] => [...members].map(({ id }) => id).sort()

  const QUERIES: { [what: string]: (session: Session, id: number, options?: object) => Promise<unknown> } = {
    'load with it': (session, id, options) => session.load(Department, id, { with: ['employees'], ...options }),
    'find with it': (session, id, options) => session.findMany(Department, [id], { with: ['employees'], ...options }),
    load: async (session, id, options) => (await session.load(Department, id)).employees.load(options),
    count: async (session, id, options) => (await session.load(Department, id)).employees.count(options),
    keys: async (session, id, options) => (await session.load(Department, id)).employees.keys(options),
    page: async (session, id, options) => (await session.load(Department, id)).employees.page({ count: 5, ...options }),
    async stream(session, id, options) {
      for await (const each of (await session.load(Department, id)).employees.stream(options))
        expect(each.id).to.be.a('string')
    },
    async pointingTo(session, id, options) {
      for await (const each of session.pointingTo(Article, 'remarks.author', id, options)) expect(each.id).to.equal(id)
    },
    delete: (session, id, options) => session.delete(Department, id, options),
    async flush(session, id, options) {
      session.remove(await session.load(Department, id))
      await session.flush(options)
    },
  }

  for (const [what, ask] of Object.entries(QUERIES)) {
    it(`is refused: ${what}, unless it is asked for outside of it`, async () => {
      const { id } = await staff()
      const error = (await rejection(() => db.transaction((session) => ask(session, id)))) as SkeinError
      expect(error.code).to.equal('SKEIN_2313')
      expect(error.message).to.match(/by its index on '.+' cannot take part in a transaction.*outsideTransaction: true/)
      expect(await db.session().find(Department, id)).to.not.equal(null)
      await db.transaction((session) => ask(session, id, { outsideTransaction: true }))
    })
  }

  it('is refused: sweep, unless it is asked for outside of it', async () => {
    const error = (await rejection(() => db.transaction(() => db.sweep(Department)))) as SkeinError
    expect(error.code).to.equal('SKEIN_2313')
    expect(await db.transaction(() => db.sweep(Department, { outsideTransaction: true }))).to.equal(0)
  })

  it('is asked by other sessions and by flushes with transactions of their own', async () => {
    const { id, names } = await staff()
    await db.transaction(async () => {
      const other = await db.session().load(Department, id, { with: ['employees'] })
      expect(idsOf(other.employees)).to.deep.equal(names)
    })
    await db.session().delete(Department, id)
    expect(await db.session().findMany(Employee, names)).to.deep.equal([null, null])
  })

  it('holds the parent that a child is given to: one that is gone takes none', async () => {
    const { names } = await staff()
    const error = (await rejection(() =>
      db.transaction(async (session) => {
        ;(await session.load(Employee, names[0])).department.set(999_999)
      }),
    )) as Error
    expect(error.cause).to.be.instanceOf(EntityGoneError)
    expect((await db.session().load(Employee, names[0])).department.key).to.equal(last)
  })

  it('holds the parent that a child is given to: one that is being deleted takes none', async () => {
    const [{ names }, { id }] = [await staff(), await staff()]
    await db.client.put(new Aerospike.Key(namespace, 'department', id), { '_sk.deleting': true } as never)
    await rejection(() =>
      db.transaction(async (session) => {
        ;(await session.load(Employee, names[0])).department.set(id)
      }),
    )
    expect((await db.session().load(Employee, names[0])).department.key).to.not.equal(id)
  })

  it('holds the parent that a child is given to: it is not deleted meanwhile', async () => {
    const [{ names }, { id }] = [await staff(), await staff()]
    let attempts = 0
    await rejection(() =>
      db.transaction(async (session) => {
        const moved = await session.load(Employee, names[0])
        moved.department.set(await session.find(Department, id))
        if (++attempts === 1) await db.session().delete(Department, id)
        // The second time there is nothing to be given to.
        if (moved.department.key === null) throw new Error('gone')
      }),
    )
    expect(attempts).to.equal(2)
    expect((await db.session().load(Employee, names[0])).department.key).to.not.equal(id)
  })

  it('is asked again when a child joins after a delete has asked', async () => {
    const id = ++last
    await db.withSession(async (session) => {
      session.persist(Object.assign(new Crew(), { id }))
      session.persist(Object.assign(new Sailor(), { id: `s${id}` }))
    })
    const joining = [`s${id}`]
    meanwhile = async () => {
      for (const name of joining.splice(0)) {
        await db.transaction(async (session) => (await session.load(Sailor, name)).crew.set(id))
      }
    }
    await db.transaction((session) => session.delete(Crew, id, { outsideTransaction: true }))
    expect(await db.session().find(Crew, id)).to.equal(null)
    expect(await db.session().find(Sailor, `s${id}`)).to.equal(null)
  })

  describe('a delete that reaches more than a transaction can write', () => {
    /** Children are known by key alone: their records are not read. */
    async function crowded(count: number): Promise<number> {
      const id = ++last
      await db.session().save(agent(id))
      const keys = Array.from({ length: count }, (_, i) => `none${i}`)
      await db.client.put(new Aerospike.Key(namespace, 'agent', id), { listings: keys })
      return id
    }

    it('is refused where a transaction is required, before anything is sent', async () => {
      const id = await crowded(4096)
      const session = db.session()
      const one = await session.load(Agent, id)
      for (const refused of [
        () => session.delete(one, { transactions: 'required' }),
        () => {
          session.remove(one)
          return session.explain(one, { transactions: 'required' })
        },
        () => db.transaction((inside) => inside.delete(Agent, id)),
      ]) {
        const error = (await rejection(refused)) as SkeinError
        expect(error.code).to.equal('SKEIN_4302')
        expect(error.message).to.match(/^Deleting Agent .* Agent\.listings/)
      }
      expect((await db.client.get(new Aerospike.Key(namespace, 'agent', id))).bins).to.not.have.property('_sk.deleting')
    })

    it('is one transaction where one is required and it fits', async () => {
      const id = await crowded(600)
      await db.session().delete(Agent, id, { transactions: 'required' })
      expect(await db.session().find(Agent, id)).to.equal(null)
    })
  })
})
