import Aerospike from 'aerospike'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect } from 'chai'
import type { Database } from 'skein'
import type { EmbeddedServer } from 'skein/embedded'
import { MODES, need, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { Node } from './models.js'

/** Rows of a batch, unless `open` is told otherwise. */
const BATCH = 256

/** Bytes in use once what nobody holds is collected. */
function heapUsed(): number {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
  return process.memoryUsage().heapUsed
}

for (const mode of MODES) {
  describe(`a wide walk (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, [Node], (opened) => ({ db, server, namespace } = opened))

    /** A tree in which each node leads to `width` others; every leaf leads back to the root. */
    const tree = async (width: number): Promise<number[]> => {
      const levels = [1, width, width ** 2, width ** 3]
      const rows: { type: number; key: Aerospike.Key; ops: unknown[] }[] = []
      let first = 0
      for (const [depth, count] of levels.entries()) {
        for (let i = 0; i < count; i++) {
          const id = first + i
          const next =
            depth === 3 ? [0] : Array.from({ length: width }, (_, child) => first + count + i * width + child)
          const { write } = Aerospike.operations
          const key = new Aerospike.Key(namespace, 'walk_node', id)
          rows.push({ type: Aerospike.batchType.BATCH_WRITE, key, ops: [write('id', id), write('next', next)] })
        }
        first += count
      }
      for (let from = 0; from < rows.length; from += 1000)
        await db.client.batchWrite(rows.slice(from, from + 1000) as never)
      return levels
    }

    const chunks = (levels: readonly number[]): number =>
      levels.reduce((sum, count) => sum + Math.ceil(count / BATCH), 0)

    for (const width of [5, 22]) {
      it(`of 3 hops reads ${width + width ** 2 + width ** 3} entities in 4 round trips, in chunks past the batch cap`, async () => {
        const levels = await tree(width)
        const session = db.session()
        const walk = session.walk(Node, 0).out('next').out('next').out('next')
        const all = levels.reduce((sum, count) => sum + count)
        let reached: Node[] = []
        const { commands, rows } = await server.commands.during(async () => (reached = await walk.entities()))
        expect(reached).to.have.length(width ** 3)
        expect(rows).to.equal(all)
        expect(commands).to.equal(chunks(levels))
        expect(walk.explain().roundTrips).to.equal(4)
        expect(session.isDirty(reached[0])).to.equal(false)
        const onTheWay = await server.commands.during(() => session.find(Node, 1))
        expect(onTheWay.commands, 'a node on the way is not kept').to.equal(1)
        expect(await walk.out('next').count()).to.equal(0)
        await session.close()
      })
    }

    it('holds memory in proportion to the entities that it reaches', async () => {
      const perEntity: number[] = []
      for (const width of [11, 22]) {
        const all = (await tree(width)).reduce((sum, count) => sum + count)
        const session = db.session()
        const before = heapUsed()
        for await (const _ of session.walk(Node, 0).out('next').out('next').out('next').stream()) {
          // The first of the last level: all levels are known now.
          perEntity.push((heapUsed() - before) / all)
          break
        }
        await session.close()
        await db.truncate(Node)
      }
      expect(perEntity[1]).to.be.below(2 * Math.max(perEntity[0], 500))
    })

    it('ends at its bound and reads nothing more', async () => {
      await tree(5)
      const session = db.session()
      const { rows } = await server.commands.during(async () => {
        const error: unknown = await session
          .walk(Node, 0, { max: 20 })
          .out('next')
          .out('next')
          .out('next')
          .count()
          .catch((reason: unknown) => reason)
        expect(error).to.have.property('code', 'SKEIN_2440')
      })
      expect(rows).to.equal(6)
      await session.close()
    })

    describe('with faults', () => {
      let embedded: EmbeddedServer
      beforeEach(function () {
        embedded = need(this, server.embedded, 'faults need the embedded server')
      })
      afterEach(() => embedded.faults.clear())

      for (const [what, fault] of [
        ['a lost connection', { drop: true }],
        ['a busy server', { answer: 18 }],
      ] as const) {
        it(`goes on after ${what} at every hop`, async () => {
          await tree(3)
          for (const skip of [0, 1, 2, 3]) {
            const session = db.session()
            const met = await embedded.faults.add({ kind: ['batch', 'read'], set: 'walk_node', skip, ...fault })
            const whole = await embedded.faults.add({ kind: 'batch', skip, ...fault })
            expect(await session.walk(Node, 0).out('next').out('next').out('next').count()).to.equal(27)
            expect((await met.hits()) + (await whole.hits())).to.be.greaterThan(0)
            await embedded.faults.clear()
            await session.close()
          }
        })
      }

      it('rejects with the reason where the server stays away, and can be walked again', async () => {
        await tree(3)
        const session = db.session()
        const walk = session.walk(Node, 0).out('next').out('next')
        await embedded.faults.add({ kind: 'read', set: 'walk_node', skip: 1, times: 1000, answer: 18 })
        const error: unknown = await walk.count().catch((reason: unknown) => reason)
        expect(error).to.have.property('code', 'SKEIN_4202')
        await embedded.faults.clear()
        expect(await walk.count()).to.equal(9)
        await session.close()
      })

      it('gives up waiting when its signal fires', async () => {
        await tree(3)
        const session = db.session()
        const stop = new AbortController()
        await embedded.faults.add({ kind: 'batch', delay: 200, times: 10 })
        const walk = session.walk(Node, 0, { signal: stop.signal }).out('next').out('next').count()
        stop.abort(new Error('enough'))
        const error: unknown = await walk.catch((reason: unknown) => reason)
        expect(error).to.have.property('message', 'enough')
        await embedded.faults.clear()
        await session.close()
      })
    })
  })
}
