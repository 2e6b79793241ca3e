import { expect } from 'chai'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { EntityGoneError, open, PartialFailureError, type Database } from 'skein'
import { startEmbedded, type EmbeddedServer } from 'skein/embedded'
import { Department } from './departments.js'
import { PARENTS, storeFamily, type Parent } from './parents.js'

const PROGRAM = new URL('./programs/delete-parent.js', import.meta.url)

// SKEIN_KILLS=all dies at every command; SKEIN_LARGE=100000 is the number of children in a small heap.
const KILLS = process.env.SKEIN_KILLS === 'all' ? 'all' : { 'by index': [4, 9], 'key list': [6] }
const LARGE = Number(process.env.SKEIN_LARGE ?? 1000)
const CHILDREN = 20
const STEP = 8

for (const mode of ['ap', 'sc'] as const) {
  describe(`a large delete whose process dies (${mode})`, function () {
    this.timeout(1_200_000)
    let server: EmbeddedServer
    let last = 0
    before(async () => (server = await startEmbedded({ namespaces: [`test:${mode}`] })))
    after(() => server.stop())

    function start(kind: string, args: readonly number[], execArgv: string[] = []): ChildProcess {
      const options = { execArgv, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] as ('ignore' | 'pipe' | 'ipc')[] }
      return fork(PROGRAM, [server.hosts, kind, ...args.map(String)], options)
    }

    /** Deletes a parent in a process that dies at that command, and then here, while others keep adding children; false when it did not die. */
    async function dieAt(kind: string, command: number, db: Database): Promise<boolean> {
      const family = PARENTS[kind]
      const id = ++last
      const names = Array.from({ length: CHILDREN }, (_, i) => `${id}-${i}`)
      await storeFamily(db, family, id, names)
      const others = new Others(db, family, id)
      const child = start(kind, [id, STEP, command])
      child.on('message', () => void others.add())
      const [, signal] = (await once(child, 'close')) as [number | null, string | null]
      // A transaction that died with its process holds its records until its time is up.
      if (mode === 'sc') await server.clock.advance(60)
      await others.during(async () => {
        if (command % 2 === 0) await db.sweep(family.parent, { step: STEP })
        await db.session().delete(family.parent, id, { step: STEP })
      })
      expect(others.errors).to.deep.equal([])
      expect(await db.session().find(family.parent, id)).to.equal(null)
      const added = [...others.acknowledged, ...others.refused]
      const found = await db.session().findMany(family.child, [...names, ...added])
      expect(found.filter((one) => one !== null && family.refOf(one).key !== null)).to.deep.equal([])
      const kept = await db.session().findMany(family.child, [...names, ...others.acknowledged])
      expect(kept.every((one) => (one === null) === (family.children === 'go'))).to.equal(true)
      expect(await db.sweep(family.parent)).to.equal(0)
      return signal === 'SIGKILL'
    }

    for (const [kind, family] of Object.entries(PARENTS)) {
      const kills = KILLS === 'all' ? KILLS : (KILLS[kind as keyof typeof KILLS] ?? [])
      if (kills.length === 0) continue
      it(`is finished by a sweep or by deleting again, while others keep adding children (${kind}, killed at ${String(kills)})`, async function () {
        const db = await open({ hosts: server.hosts, namespace: 'test', entities: family.entities })
        await db.indexes.sync()
        if (kills !== 'all') for (const command of kills) expect(await dieAt(kind, command, db)).to.equal(true)
        else {
          let command = 1
          while (await dieAt(kind, command, db)) command++
          this.test!.title += ` (${command - 1} commands)`
        }
        await db.close()
      })
    }

    // The same code in both modes: the smaller run is spared one of them.
    if (mode === 'sc' && process.env.SKEIN_LARGE === undefined) return
    it(`holds only a few of ${LARGE} children in memory`, async function () {
      const family = PARENTS['by index']
      const db = await open({ hosts: server.hosts, namespace: 'test', entities: family.entities })
      await db.indexes.sync()
      const names = Array.from({ length: LARGE }, (_, i) => `large-${i}`)
      // All of them would not fit.
      const name = 'x'.repeat(Math.ceil(40_000_000 / LARGE))
      await storeFamily(db, family, ++last, names, (one) => Object.assign(one, { name }))
      const child = start(
        'by index',
        [last, process.env.SKEIN_LARGE === undefined ? 50 : 500, 0],
        ['--max-old-space-size=32'],
      )
      let output = ''
      child.stdout!.on('data', (data) => (output += String(data)))
      const [code] = (await once(child, 'close')) as [number]
      expect(code).to.equal(0)
      const left = db.session().ref(Department, last).collection('employees')
      expect(await left.count()).to.equal(0)
      expect(await db.session().find(Department, last)).to.equal(null)
      this.test!.title += ` (${output.trim()})`
      await db.close()
    })
  })
}

/** Sessions that keep adding children to a parent that is being deleted. */
class Others {
  readonly acknowledged: string[] = []
  readonly refused: string[] = []
  readonly errors: unknown[] = []
  readonly #running = new Set<Promise<void>>()
  #count = 0

  constructor(
    readonly db: Database,
    readonly family: Parent,
    readonly id: number,
  ) {}

  add(): Promise<void> {
    const added = this.#add(`${this.id}-other-${++this.#count}`)
    this.#running.add(added)
    return added.finally(() => this.#running.delete(added))
  }

  /** Adds children until the work is done and every one of them has its answer. */
  async during(work: () => Promise<void>): Promise<void> {
    let isDone = false
    const working = work().finally(() => (isDone = true))
    while (!isDone) await this.add()
    await working
    await Promise.all(this.#running)
  }

  async #add(name: string): Promise<void> {
    const child = this.family.newChild(name)
    this.family.refOf(child).set(this.id)
    await this.db
      .session()
      .save(child)
      .then(
        () => this.acknowledged.push(name),
        (error: unknown) => (isRefusal(error) ? this.refused.push(name) : this.errors.push(error)),
      )
  }
}

/** The error says that the parent is gone. */
function isRefusal(error: unknown): boolean {
  const causes = error instanceof PartialFailureError ? error.records.map(({ cause }) => cause) : [error]
  return causes.some((cause) => cause instanceof EntityGoneError)
}
