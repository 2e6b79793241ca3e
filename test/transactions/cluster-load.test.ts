import { expect } from 'chai'
import { open, type Database } from 'skein'
import { startEmbedded, type EmbeddedServer } from 'skein/embedded'
import { Agent, Listing, User } from '../relations/models.js'
import { fill, problems, randomNumbers, repair, runLoad } from './load-model.js'

// SKEIN_LOAD=20000 runs the full size.
const OPERATIONS = Number(process.env.SKEIN_LOAD ?? 320)

const TOTAL_TIMEOUT = 2000
const DEADLINE = 10_000
/** Stages of the longest operation, each of which may need the first try, the deadline and the last try. */
const STAGES = 5
/** A machine that has much else to do is late with everything; a call that nothing ends would be far beyond this. */
const BUSY = 3
const MOST_OF_A_CALL = STAGES * BUSY * (DEADLINE + 2 * TOTAL_TIMEOUT)

/** Troubles one node at a time: each record has two copies. */
class Trouble {
  readonly #random = randomNumbers(11)
  #bad: number | undefined
  #isBusy = false

  constructor(readonly server: EmbeddedServer) {}

  async next(): Promise<void> {
    if (this.#isBusy) return
    this.#isBusy = true
    if (this.#bad === undefined) await this.#begin()
    else await this.end()
    this.#isBusy = false
  }

  async #begin(): Promise<void> {
    this.#bad = this.#random(this.server.nodes.length)
    const node = this.server.nodes[this.#bad]
    const kind = this.#random(4)
    if (kind === 0) await node.kill()
    else if (kind === 1) await node.freeze()
    else if (kind === 2) await node.slow(100)
    else {
      const arrived = await this.server.movePartitions({ node })
      setTimeout(() => void arrived().catch(() => undefined), 500)
    }
  }

  async end(): Promise<void> {
    if (this.#bad !== undefined) await this.server.nodes[this.#bad].restart()
    this.#bad = undefined
  }
}

for (const [mode, namespace] of [
  ['sc', 'test'],
  ['ap', 'cache'],
] as const) {
  describe(`16 workers on a cluster whose nodes die, freeze, slow down and come back (${mode})`, function () {
    this.timeout(600_000)
    let server: EmbeddedServer
    let db: Database
    before(async () => {
      server = await startEmbedded({ nodes: 3, namespaces: ['test:sc', 'cache:ap'] })
      const times = { socketTimeout: 500, totalTimeout: TOTAL_TIMEOUT }
      db = await open({
        hosts: server.hosts,
        namespace,
        entities: [Agent, Listing, User],
        // The client notices a lost node soon, so that the test does not wait for it.
        connTimeoutMs: 1000,
        tenderInterval: 250,
        retry: { deadline: DEADLINE },
        policies: {
          read: times,
          batch: times,
          write: { totalTimeout: TOTAL_TIMEOUT },
          operate: { totalTimeout: TOTAL_TIMEOUT },
          remove: { totalTimeout: TOTAL_TIMEOUT },
          batchParentWrite: { totalTimeout: TOTAL_TIMEOUT },
        },
      })
      await fill(db)
    })
    after(async () => {
      await db?.close()
      await server.stop()
    })

    it(`${OPERATIONS} operations lose nothing, tear nothing and end`, async function () {
      const trouble = new Trouble(server)
      const result = await runLoad(db, {
        total: OPERATIONS,
        disturb: async (n) => {
          if (n % 20 === 10) await trouble.next()
        },
        blocked: () => server.clock.advance(10),
      })
      await trouble.end()
      await Promise.all(server.nodes.map((node) => node.slow(0)))
      while (db.client.getNodes().length < server.nodes.length) await new Promise((resolve) => setTimeout(resolve, 20))
      if (mode === 'sc') await server.clock.advance(60)
      else await repair(db)
      expect(await problems(db, result)).to.deep.equal([])
      const { acknowledged, refused, failed, longest } = result
      expect(longest).to.be.lessThan(MOST_OF_A_CALL)
      expect(acknowledged).to.be.greaterThan(OPERATIONS / 3)
      this.test!.title += ` (${acknowledged} acknowledged, ${refused} refused, ${failed} failed)`
    })
  })
}
