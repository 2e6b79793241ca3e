import Aerospike from 'aerospike'
import { expect } from 'chai'
import type { Database, Finding } from 'skein'
import type { EmbeddedServer } from 'skein/embedded'
import { emptySets } from '../../empty-sets.js'
import { MODES, need, needMode } from '../../server.js'
import { sharedServer } from '../../shared-server.js'
import { Agent, Listing, User, agent, listing, user } from '../models.js'

const AGENTS = [1, 2, 3]
const LISTINGS = ['a', 'b', 'c', 'd', 'e', 'f']
const USERS = [1, 2, 3, 4, 5]
const KEY_BUSY = 14

interface HalfDone {
  readonly name: string
  readonly disagreements: number
  /** The command that does not get through. */
  readonly held: { readonly kind: 'write' | 'delete'; readonly set: string }
  readonly work: () => Promise<unknown>
}

for (const mode of MODES) {
  describe(`verify while others write (${mode})`, function () {
    let server: EmbeddedServer
    let namespace: string
    let db: Database
    /** Goes on until it gets through, and step by step also where there are transactions, which would show nothing of themselves before they are done. */
    let stepwise: Database
    before(async function () {
      const shared = await sharedServer()
      server = need(this, shared.embedded, 'only the embedded server lets time pass and holds commands back')
      namespace = needMode(this, shared, mode)
      const options = { namespace, entities: [Agent, Listing, User] }
      db = await shared.open(options)
      const retry = { attempts: Infinity, backoff: 2, deadline: 60_000 }
      stepwise = await shared.open({ ...options, transactions: 'off', retry })
    })
    after(async () => {
      await db?.close()
      await stepwise?.close()
    })

    async function verifyAll(options: { repair?: boolean; settle?: number } = {}): Promise<Finding[]> {
      const findings: Finding[] = []
      for await (const finding of db.verify([Agent, Listing, User], options)) findings.push(finding)
      return findings
    }

    beforeEach(() => emptySets(db, [Agent, Listing, User]))
    afterEach(() => server.faults.clear())

    it('finds what is wrong, and nothing else, while children move and users follow and unfollow', async () => {
      await db.withSession(async (session) => {
        session.persist(agent(9)).listings.add(listing('z'))
      })
      const broken = new Aerospike.Key(namespace, 'agent', 9)
      await db.client.operate(broken, [Aerospike.lists.removeByValue('listings', 'z')])
      await server.clock.advance(10)
      await db.withSession(async (session) => {
        for (const id of AGENTS) session.persist(agent(id))
        for (const id of LISTINGS) session.persist(listing(id))
        for (const id of USERS) session.persist(user(id))
      })
      let isOver = false
      let writes = 0
      const writer = async (seed: number) => {
        for (let i = seed; !isOver; i += 7) {
          await step(i, seed).catch((error: { code?: string }) => {
            // Two writers may meet in one transaction, or on a record that one of them deletes: that is theirs to handle.
            if (error.code === undefined || !/^SKEIN_[34]/.test(error.code)) throw error
          })
          writes++
        }
      }
      const step = (i: number, seed: number) =>
        db.withSession(async (session) => {
          if (i % 3 === 0) {
            const moved = await session.find(Listing, LISTINGS[i % LISTINGS.length])
            moved?.agent.set(i % 4 === 3 ? null : AGENTS[i % AGENTS.length])
          } else if (i % 3 === 1) {
            const one = await session.load(User, USERS[i % USERS.length])
            const other = USERS[(i + seed) % USERS.length]
            if (await one.follows.contains(other)) one.follows.remove(other)
            else one.follows.add(other)
          } else {
            // Deletes and stores again, as a child of somebody.
            const id = `${LISTINGS[i % LISTINGS.length]}${seed}`
            if (await session.delete(Listing, id)) return
            const made = session.persist(listing(id))
            made.agent.set(AGENTS[i % AGENTS.length])
          }
        })
      const writers = [1, 2, 3, 4].map(writer)
      const findings: Finding[] = []
      for (let run = 0; run < 25; run++) findings.push(...(await verifyAll({ repair: run > 4 })))
      isOver = true
      await Promise.all(writers)
      expect(writes, 'the writers worked while it looked').to.be.greaterThan(0)
      expect(findings.map(({ kind, key, state }) => `${kind} ${String(key)} ${state}`)).to.deep.equal([
        ...Array<string>(5).fill('missingLink 9 found'),
        'missingLink 9 repaired',
      ])
      await server.clock.advance(10)
      expect((await verifyAll()).map(({ message }) => message)).to.deep.equal([])
    })

    const halfDone: HalfDone[] = [
      {
        name: 'moved',
        disagreements: 2,
        held: { kind: 'write', set: 'agent' },
        work: () =>
          stepwise.withSession(async (session) => {
            const child = await session.load(Listing, 'a')
            child.agent.set(2)
          }),
      },
      {
        name: 'deleted',
        disagreements: 1,
        held: { kind: 'delete', set: 'listing' },
        work: () => stepwise.session().delete(Listing, 'a'),
      },
      {
        name: 'stored',
        disagreements: 1,
        held: { kind: 'write', set: 'agent' },
        work: () => stepwise.withSession(async (session) => session.persist(listing('b')).agent.set(1)),
      },
    ]
    for (const { name, held, work, disagreements } of halfDone) {
      it(`takes a child for what it is that is just being ${name}`, async () => {
        await stepwise.withSession(async (session) => {
          session.persist(agent(1)).listings.add(listing('a'))
          session.persist(agent(2))
        })
        await server.clock.advance(10)
        const fault = await server.faults.add({ ...held, answer: KEY_BUSY, times: Infinity })
        const working = work()
        while ((await fault.hits()) === 0) await new Promise((resolve) => setImmediate(resolve))
        // Without the time to settle the two sides are seen to disagree.
        const seen = await verifyAll({ settle: 0 })
        const judged = await verifyAll({ repair: true })
        await server.faults.clear()
        await working
        expect(seen).to.have.length(disagreements)
        expect(judged).to.deep.equal([])
        await server.clock.advance(10)
        expect(await verifyAll()).to.deep.equal([])
      })
    }
  })
}
