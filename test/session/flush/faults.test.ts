import { expect } from 'chai'
import { PartialFailureError, SkeinError, type Database, type OpenOptions, type Session } from 'skein'
import type { FaultOptions } from 'skein/embedded'
import { need } from '../../server.js'
import { Account, Page, Person } from '../models.js'
import { inEachMode, type Bed } from '../modes.js'

type Outcome = 'applied' | 'maybe'

/** Something people do, and what must be stored once it is complete. `check` is told whether an increment stayed in doubt. */
interface Scenario {
  readonly name: string
  prepare(
    bed: Bed,
    session: Session,
  ): Promise<{
    readonly change: () => Promise<void> | void
    readonly send?: () => Promise<unknown>
    readonly check: (fresh: Session, increment: Outcome) => Promise<void>
  }>
}

const scenarios: readonly Scenario[] = [
  {
    name: 'creating three entities',
    prepare: async (bed, session) => {
      const ids = [bed.fresh(), bed.fresh(), bed.fresh()]
      return {
        change: () => ids.forEach((id) => session.create(Person, { id, name: `name of ${id}`, tags: ['t'] })),
        check: async (fresh) => {
          const found = await fresh.loadMany(Person, ids)
          expect(found.map(({ name, tags }) => [name, tags])).to.deep.equal(ids.map((id) => [`name of ${id}`, ['t']]))
        },
      }
    },
  },
  {
    name: 'changing two versioned entities',
    prepare: async (bed, session) => {
      const accounts = [1, 2].map(() => session.create(Account, { id: bed.freshNumber(), owner: 'Ada' }))
      await session.flush()
      return {
        change: () => accounts.forEach((account) => (account.balance = 50)),
        check: async (fresh) => {
          const found = await fresh.loadMany(
            Account,
            accounts.map(({ id }) => id),
          )
          expect(found.map(({ balance, version }) => [balance, version])).to.deep.equal([
            [50, 2],
            [50, 2],
          ])
          expect(accounts.map(({ version }) => version)).to.deep.equal([2, 2])
        },
      }
    },
  },
  {
    name: 'creating, changing and deleting at once',
    prepare: async (bed, session) => {
      const [changed, removed] = ['a', 'b'].map((name) => session.create(Person, { id: bed.fresh(), name, age: 1 }))
      const account = session.create(Account, { id: bed.freshNumber(), owner: 'Ada' })
      await session.flush()
      const id = bed.fresh()
      return {
        change() {
          changed.age = 2
          session.remove(removed)
          session.remove(account)
          session.create(Person, { id, name: 'c' })
        },
        check: async (fresh) => {
          const found = await fresh.findMany(Person, [changed.id, removed.id, id])
          expect(found.map((person) => person && [person.name, person.age])).to.deep.equal([
            ['a', 2],
            null,
            ['c', undefined],
          ])
          expect(await fresh.find(Account, account.id)).to.equal(null)
        },
      }
    },
  },
  {
    name: 'counting',
    prepare: async (bed, session) => {
      const page = session.create(Page, { path: bed.fresh(), views: 10 })
      await session.flush()
      return {
        change() {
          page.views += 5
          page.title = 'counted'
        },
        check: async (fresh, increment) => {
          const { views, title } = await fresh.load(Page, page.path)
          expect(title).to.equal('counted')
          expect(views).to.be.oneOf(increment === 'applied' ? [15] : [10, 15])
        },
      }
    },
  },
  {
    name: 'upserting',
    prepare: async (bed, session) => {
      const id = bed.freshNumber()
      await bed.db.session().save(Object.assign(new Account(), { id, owner: 'Eve', balance: 3 }))
      const account = Object.assign(new Account(), { id, owner: 'Ada' })
      return {
        change: () => undefined,
        send: () => session.upsert(account),
        check: async (fresh) => {
          const { owner, balance, version } = await fresh.load(Account, id)
          expect([owner, balance]).to.deep.equal(['Ada', 0])
          expect(version).to.equal(account.version).and.to.be.greaterThan(1)
        },
      }
    },
  },
]

const faults: { readonly [name: string]: FaultOptions } = {
  'refused before it runs (key busy)': { answer: 14 },
  'refused before it runs (time-out)': { answer: 9 },
  'answered with a time-out after it ran': { answer: 9, after: true },
  'connection lost before it runs': { drop: true },
  'connection lost after it ran': { drop: true, after: true },
}

inEachMode('a fault at every command', (bed) => {
  /** Counts the commands of the scenario, so that each of them can meet the fault. */
  async function commandsOf(context: Mocha.Context, scenario: Scenario): Promise<number> {
    const { commands } = need(context, bed().server.embedded, 'only the embedded server makes faults')
    const session = bed().db.session()
    const { change, send = () => session.flush() } = await scenario.prepare(bed(), session)
    await change()
    return (await commands.during(send)).rows
  }

  /** Sends with the fault in place, then again without it. */
  async function sendTwice(db: Database, scenario: Scenario, fault: FaultOptions): Promise<void> {
    const server = bed().server.embedded!
    const session = db.session()
    const { change, check, send = () => session.flush() } = await scenario.prepare(bed(), session)
    await change()
    const added = await server.faults.add({ kind: ['write', 'delete', 'read'], ...fault })
    let increment: Outcome = 'applied'
    try {
      await send()
    } catch (error) {
      if (!(error instanceof SkeinError)) throw error
      if (error instanceof PartialFailureError && error.records.some(({ outcome }) => outcome === 'inDoubt')) {
        increment = 'maybe'
      }
    } finally {
      expect(await added.hits()).to.be.greaterThan(0)
      await server.faults.clear()
    }
    await session.flush()
    expect(session.isDirty()).to.equal(false)
    await check(db.session(), increment)
  }

  /** A client of its own for each test: so many faults in a row would trip the circuit breaker of a shared one. */
  async function withDatabase(options: Partial<OpenOptions>, work: (db: Database) => Promise<void>): Promise<void> {
    const db = await bed().open(options)
    await work(db)
    await db.close()
  }

  for (const scenario of scenarios) {
    for (const [name, fault] of Object.entries(faults)) {
      it(`${scenario.name}: ${name}, once`, async function () {
        const count = await commandsOf(this, scenario)
        await withDatabase({}, async (db) => {
          for (let skip = 0; skip < count; skip++) await sendTwice(db, scenario, { ...fault, skip })
        })
      })

      it(`${scenario.name}: ${name}, until the caller gives up`, async function () {
        const count = await commandsOf(this, scenario)
        await withDatabase({ retry: { attempts: 1 } }, async (db) => {
          for (let skip = 0; skip < count; skip++) await sendTwice(db, scenario, { ...fault, skip, times: 1000 })
        })
      })
    }
  }
})
