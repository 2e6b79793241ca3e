import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect } from 'chai'
import type { Database, TransactionEvent } from 'skein'
import type { FaultOptions } from 'skein/embedded'
import { emptySets } from '../empty-sets.js'
import { Agent, Listing, User, agent, listing } from '../relations/models.js'
import { needMode, startTestServer, type TestServer } from '../server.js'
import { useDatabase } from '../use-database.js'
import { fill, problems, randomNumbers, repair, runLoad } from './load-model.js'

// SKEIN_LOAD=20000 runs the full size.
const OPERATIONS = Number(process.env.SKEIN_LOAD ?? 480)
const FAULTS: readonly FaultOptions[] = [
  { answer: 14 },
  { answer: 18 },
  { answer: 9 },
  { answer: 9, after: true },
  { drop: true },
  { drop: true, after: true },
]

for (const mode of ['sc', 'ap'] as const) {
  // Only the embedded server fails on demand; elsewhere the workers meet only each other.
  describe(`16 workers that move, follow and delete, with faults where the server makes them (${mode})`, function () {
    this.timeout(600_000)
    let server: TestServer
    let namespace: string
    let db: Database
    before(async function () {
      server = await startTestServer()
      namespace = needMode(this, server, mode)
      db = await server.open({ namespace, entities: [Agent, Listing, User] })
      await emptySets(db, [Agent, Listing, User])
      await fill(db)
    })
    after(async () => {
      await db?.close()
      await server.stop()
    })

    it(`${OPERATIONS} operations leave both sides of every relation in step, and every acknowledged one is there`, async function () {
      const random = randomNumbers(7)
      const ends = countTransactions()
      const result = await runLoad(db, {
        total: OPERATIONS,
        async disturb(n) {
          if (n % 20 === 10)
            await server.embedded?.faults.add({ ...FAULTS[random(FAULTS.length)], namespace, skip: random(20) })
        },
        // A commit or an abort that met a fault leaves its records locked until its time is up; here that passes at once.
        blocked: async () => server.embedded?.clock.advance(10),
      })
      await server.embedded?.faults.clear()
      ends.stop()
      if (mode === 'sc') await server.embedded?.clock.advance(60)
      else await repair(db)
      expect(await problems(db, result)).to.deep.equal([])
      const { acknowledged, refused, failed, expectations } = result
      expect(acknowledged).to.be.greaterThan(OPERATIONS / 3)
      expect(expectations.certainty.certain).to.be.greaterThan(expectations.certainty.open)
      this.test!.title += ` (${acknowledged} acknowledged, ${refused} refused, ${failed} failed; ${ends.committed} committed, ${ends.aborted} aborted, ${ends.inDoubt} in doubt)`
    })
  })
}

/** Ends of the transactions of this process. */
function countTransactions(): Record<TransactionEvent['state'], number> & { stop(): void } {
  const count = (event: unknown): void => void ends[(event as TransactionEvent).state]++
  subscribe('skein:transaction', count)
  const ends = {
    committed: 0,
    aborted: 0,
    inDoubt: 0,
    stop: () => void unsubscribe('skein:transaction', count),
  }
  return ends
}

describe('one record that everybody writes', function () {
  this.timeout(120_000)
  let db: Database
  useDatabase('sc', [Agent, Listing, User], (opened) => ({ db } = opened))

  it('takes a bounded number of attempts, and no write is lost', async function () {
    const [workers, rounds] = [16, process.env.SKEIN_LOAD === undefined ? 4 : 20]
    await db.session().save(agent(1))
    let attempts = 0
    const worker = async (number: number): Promise<void> => {
      for (let round = 0; round < rounds; round++) {
        await db.transaction(
          async (session) => {
            attempts++
            ;(await session.load(Agent, 1)).listings.add(listing(`l${number}-${round}`))
          },
          { attempts: 50, timeout: 60 },
        )
      }
    }
    await Promise.all(Array.from({ length: workers }, (_, i) => worker(i)))
    const successes = workers * rounds
    expect(await (await db.session().load(Agent, 1)).listings.count()).to.equal(successes)
    expect(attempts / successes).to.be.lessThan(25)
    this.test!.title += ` (${(attempts / successes).toFixed(1)} attempts for each success)`
  })
})
