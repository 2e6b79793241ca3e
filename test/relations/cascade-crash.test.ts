import { expect } from 'chai'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { open, type Database } from 'skein'
import { startEmbedded, type EmbeddedServer } from 'skein/embedded'
import { COMPANY, Department, Employee, department, employee } from './departments.js'

const PROGRAM = fileURLToPath(new URL('./programs/delete-department.js', import.meta.url))

for (const mode of ['ap', 'sc'] as const) {
  describe(`a large delete whose process dies (${mode})`, function () {
    this.timeout(120_000)
    let server: EmbeddedServer
    let db: Database
    before(async () => {
      server = await startEmbedded({ namespaces: [`test:${mode}`] })
      db = await open({ hosts: server.hosts, namespace: 'test', entities: COMPANY })
      await db.indexes.sync()
    })
    after(async () => {
      await db.close()
      await server.stop()
    })

    async function staff(count: number): Promise<string[]> {
      const first = db.session()
      await first.save(department(1))
      const names = Array.from({ length: count }, (_, i) => `e${i}`)
      for (let i = 0; i < count; i += 500) {
        const session = db.session()
        for (const name of names.slice(i, i + 500)) {
          const each = employee(name)
          each.department.set(1)
          session.persist(each)
        }
        await session.flush({ transactions: 'off' })
      }
      return names
    }

    function start(...flags: string[]): ChildProcess {
      return spawn(process.execPath, [...flags, PROGRAM, server.hosts, 'test'], {
        stdio: ['ignore', 'ignore', 'inherit'],
      })
    }

    /** Kills the process at its command number `skip`, which never gets an answer; with `after` it has taken effect. */
    async function dieAt(skip: number, after: boolean): Promise<boolean> {
      const fault = await server.faults.add({ kind: ['write', 'delete', 'batch', 'query'], skip, hang: true, after })
      const child = start()
      const ended = once(child, 'exit')
      while ((await fault.hits()) === 0 && child.exitCode === null)
        await new Promise((resolve) => setTimeout(resolve, 5))
      child.kill('SIGKILL')
      await ended
      await server.faults.clear()
      return child.signalCode === 'SIGKILL'
    }

    it('is finished by a sweep or by deleting again, whichever command was the last', async () => {
      for (const [skip, after] of [
        [1, true],
        [3, false],
        [4, true],
        [6, true],
      ] as const) {
        const names = await staff(600)
        expect(await dieAt(skip, after), `killed at ${skip}`).to.equal(true)
        if (skip % 2 === 0) await db.sweep(Department)
        await db.session().delete(Department, 1)
        expect(await db.session().find(Department, 1)).to.equal(null)
        expect((await db.session().findMany(Employee, names)).every((each) => each === null)).to.equal(true)
        expect(await db.sweep(Department)).to.equal(0)
      }
    })

    it('holds only a few of the children in memory', async () => {
      const names = await staff(Number(process.env.SKEIN_LARGE ?? 4000))
      const child = start('--max-old-space-size=40')
      const [code] = (await once(child, 'exit')) as [number]
      expect(code).to.equal(0)
      expect((await db.session().findMany(Employee, names.slice(0, 100))).every((each) => each === null)).to.equal(true)
      expect(await db.session().find(Department, 1)).to.equal(null)
    })
  })
}
