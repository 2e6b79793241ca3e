import { expect } from 'chai'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { open, type Database } from 'skein'
import { startEmbedded, type EmbeddedServer } from 'skein/embedded'
import { isNamedServer, MODES, PATIENT } from '../server.js'
import { BULKS, Child, Hooked, KILLED, Parent, RECORDS, Versioned } from './killed-models.js'
import { emptySets } from '../empty-sets.js'

const PROGRAM = fileURLToPath(new URL('./programs/bulk.js', import.meta.url))
/** Records of a step through sessions. */
const STEP = 100
/** Records that are written before the process is killed: all of the first step, and some of the second. */
const WRITTEN = 130

const title = 'a process killed with SIGKILL in a bulk operation through sessions'

for (const mode of MODES) {
  describe(isNamedServer ? `${title} (skipped: only the embedded server has faults)` : `${title} (${mode})`, () => {
    let server: EmbeddedServer
    let db: Database
    before(async function () {
      if (isNamedServer) this.skip()
      server = await startEmbedded({ namespaces: [`test:${mode}`] })
      db = await open({ hosts: server.hosts, namespace: 'test', entities: KILLED, ...PATIENT })
      await db.indexes.sync()
    })
    after(async () => {
      await db?.close()
      await server?.stop()
    })

    beforeEach(async () => {
      await emptySets(db, KILLED)
      await db.withSession((session) => {
        for (let id = 0; id < RECORDS; id++) {
          session.create(Versioned, { id })
          session.create(Hooked, { id })
          const parent = session.create(Parent, { id, state: id % 5 === 4 ? 'new' : 'old' })
          for (const name of ['a', 'b']) parent.children.add(session.create(Child, { id: `${id}${name}` }))
        }
      })
    })

    /** Runs the operation in a process that is killed at its command number `skip` on the set; the last cursor that it reported. */
    const killed = async (name: string, set: string, skip: number): Promise<string | undefined> => {
      const kind = ['write', 'delete'] as const
      const fault = await server.faults.add({ namespace: 'test', set, kind, skip, hang: true, times: Infinity })
      const child = fork(PROGRAM, [server.hosts, 'test', name], { execArgv: [] })
      const ended = once(child, 'exit')
      const cursors: string[] = []
      child.on('message', (cursor) => cursors.push(cursor as string))
      while ((await fault.hits()) === 0 && child.exitCode === null) await pause()
      child.kill('SIGKILL')
      await ended
      expect(child.signalCode).to.equal('SIGKILL')
      expect(cursors).not.to.include('done')
      // Sent commands may still be on their way: the fault stays until the server has read them.
      for (let i = 0; i < 3; i++) await server.commands.summary()
      await server.faults.clear()
      // The server undoes abandoned transactions when their time is over.
      if (mode === 'sc') await server.clock.advance(60)
      return cursors.at(-1)
    }

    /** Prices by id, counted: how many records have which. */
    const prices = (of: typeof Versioned | typeof Hooked): Promise<Map<number | null, number>> =>
      db.scan<Versioned | Hooked>(of).groupBy('price').count()

    for (const [what, of] of Object.entries({ 'by a version': Versioned, 'of a counter': Hooked })) {
      const set = of === Versioned ? 'qk_versioned' : 'qk_hooked'

      it(`leaves increments ${what} that are repeated for no more than the step it died in, and none that is lost`, async () => {
        const cursor = await killed(`increments ${what}`, set, WRITTEN)
        expect(cursor).to.be.a('string')
        expect(await prices(of)).to.deep.equal(
          new Map([
            [0, RECORDS - WRITTEN],
            [1, WRITTEN],
          ]),
        )
        const result = await BULKS[`increments ${what}`](db, { after: cursor })
        expect(result).to.include({ written: RECORDS - STEP, failed: 0, by: 'sessions' })
        expect(await prices(of)).to.deep.equal(
          new Map([
            [1, RECORDS - (WRITTEN - STEP)],
            [2, WRITTEN - STEP],
          ]),
        )
      })

      it(`leaves increments ${what} exact where the update itself ends the condition, and it is called again without a cursor`, async () => {
        await killed(`marked increments ${what}`, set, WRITTEN)
        const result = await BULKS[`marked increments ${what}`](db, {})
        expect(result).to.include({ written: RECORDS - WRITTEN, failed: 0 })
        expect(await prices(of)).to.deep.equal(new Map([[1, RECORDS]]))
      })
    }

    it('leaves deletes that the same call and a sweep complete, and deletes nothing else', async () => {
      await killed('deletes', 'qk_parent', WRITTEN)
      const left = await db.query(Parent).where({ state: 'old' }).count()
      expect(left).to.be.above(0)
      const { failed } = await BULKS.deletes(db, {})
      expect(failed).to.equal(0)
      await db.sweep(Parent)
      expect(await db.scan(Parent).groupBy('state').count()).to.deep.equal(new Map([['new', RECORDS / 5]]))
      expect(await db.scan(Child).count()).to.equal((2 * RECORDS) / 5)
      for await (const finding of db.verify([Parent, Child], { settle: 0 })) expect.fail(finding.message)
      expect(await db.sweep(Parent)).to.equal(0)
    })
  })
}

const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2))
