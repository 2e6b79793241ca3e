import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from 'skein'
import { companionKey, hashShard } from '#src/keys/index.js'
import { isNamedServer, MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { Board, GROWING_PART_CLASSES, remark } from '../strategies/growing-parts/growing-part-models.js'

const IDS = Array.from({ length: 12 }, (_, i) => `r${10 + i}`)
const SHARDS = 4
/** The companion that is missing. */
const LOST = 3
/** Milliseconds by which a command is late: longer than others need to move all children. */
const LATE = 300

for (const mode of MODES) {
  describe(`verifying children whose companion is missing (${mode})`, () => {
    let db: Database
    let other: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, GROWING_PART_CLASSES, (opened) => ({ db, server, namespace } = opened))
    before(async () => {
      other = await server.open({ namespace, entities: GROWING_PART_CLASSES })
    })
    afterEach(() => server.embedded?.faults.clear())
    after(() => other?.close())

    const notes = (of = db) => of.session().at(Board, 'b').collection('notes')
    const shown = async (of = db): Promise<string[]> => (await notes(of).page({ count: 100 })).map(({ id }) => id)
    const companion = (shard: number) => ({
      ns: namespace,
      set: 'gpboard_notes',
      key: companionKey('b', shard) as string,
    })
    const companions = async (): Promise<unknown[]> => {
      const found = await db.client.query(namespace, 'gpboard_notes').results()
      return found.map(({ bins }) => bins['_sk.shards'])
    }
    const verify = async (of: Database, repair: boolean): Promise<string[]> => {
      const found: string[] = []
      for await (const { kind, partKey, state } of of.verify(Board, { settle: 0, repair }))
        found.push(`${kind} ${String(partKey)} ${state}`)
      return found.sort()
    }

    /** Puts the children of one companion into another, and deletes the first. */
    const lose = async (): Promise<void> => {
      await notes().shard(SHARDS)
      const [from, to] = await Promise.all([LOST, 0].map((shard) => db.client.get(companion(shard))))
      await db.client.put(companion(0), { notes: { ...(to.bins.notes as object), ...(from.bins.notes as object) } })
      await db.client.remove(companion(LOST), mode === 'sc' ? { durableDelete: true } : undefined)
    }
    beforeEach(async () => {
      const board = Object.assign(new Board(), { id: 'b' })
      board.notes.add(...IDS.map((id) => remark(id)))
      await db.session().save(board)
      await lose()
    })
    const lost = IDS.filter((id) => hashShard(id, SHARDS) === LOST)

    it('makes it, and moves the children there', async () => {
      expect(lost.length).to.be.above(0)
      expect(await verify(db, false)).to.deep.equal(lost.map((id) => `misplacedMember ${id} found`))
      expect(await verify(db, true)).to.deep.equal(lost.map((id) => `misplacedMember ${id} repaired`))
      expect(await shown(other)).to.deep.equal(IDS)
      expect(await companions()).to.deep.equal(Array(SHARDS).fill(SHARDS))
      expect(await verify(other, false)).to.deep.equal([])
    })

    it('leaves nothing behind where others move the children before it is made', async function () {
      if (isNamedServer) this.skip()
      for (const to of [2, -1]) {
        const { faults } = server.embedded!
        const made = await faults.add({ namespace, set: 'gpboard_notes', kind: 'write', delay: LATE })
        const verifying = verify(other, true)
        while ((await made.hits()) === 0) await pause(1)
        await (to < 0 ? notes().merge() : notes().shard(to))
        await verifying
        expect(await companions()).to.deep.equal(Array(Math.max(to, 0)).fill(to))
        expect(await shown()).to.deep.equal(IDS)
        expect(await verify(db, false)).to.deep.equal([])
        if (to > 0) await lose()
      }
    })
  })
}
