import { expect } from 'chai'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { EntityGoneError, PartialFailureError, RetriesExhaustedError, type Database } from 'skein'
import { emptySets } from '../../empty-sets.js'
import { MODES, need, needMode, startTestServer, type TestServer } from '../../server.js'
import { PARENTS, storeFamily, type Parent } from './parents.js'

const PROGRAM = new URL('./programs/delete-parent.js', import.meta.url)

// SKEIN_KILLS=all dies at every command; SKEIN_LARGE=100000 is the number of children in a small heap.
const KILLS: Record<string, Record<string, readonly number[]>> = {
  ap: { 'by index': [4], 'key list': [7] },
  sc: { 'by index': [9] },
}
const IS_LARGE = process.env.SKEIN_LARGE !== undefined
/** Bytes of all children together; more than the heap holds in the large run. */
const BYTES = IS_LARGE ? 40_000_000 : 8_000_000
/** A list of keys must fit its record. */
const large = (count: number): Record<string, number> => ({ 'by index': count, 'key list': Math.min(count, 40_000) })
const SIZES = IS_LARGE ? large(Number(process.env.SKEIN_LARGE)) : { 'by index': 400 }
const CHILDREN = 20
const STEP = 8

for (const mode of MODES) {
  describe(`a large delete whose process dies (${mode})`, function () {
    this.timeout(1_200_000)
    let server: TestServer
    let namespace: string
    let last = 0
    before(async function () {
      server = await startTestServer()
      namespace = needMode(this, server, mode)
      if (mode === 'sc')
        need(this, server.embedded, 'only the embedded server ends the transaction of a dead process at once')
    })
    after(() => server.stop())

    async function openWith({ entities }: Parent): Promise<Database> {
      const db = await server.open({ namespace, entities })
      await emptySets(db, entities)
      await db.indexes.sync()
      return db
    }

    function start(kind: string, args: readonly number[], execArgv: string[] = []): ChildProcess {
      const options = { execArgv, stdio: ['ignore', 'pipe', 'inherit', 'ipc'] as ('ignore' | 'pipe' | 'ipc')[] }
      return fork(PROGRAM, [server.hosts, namespace, kind, ...args.map(String)], options)
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
      if (mode === 'sc') await server.embedded!.clock.advance(60)
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
      const kills = process.env.SKEIN_KILLS === 'all' ? 'all' : (KILLS[mode][kind] ?? [])
      if (kills.length === 0) continue
      it(`is finished by a sweep or by deleting again, while others keep adding children (${kind}, killed at ${String(kills)})`, async function () {
        const db = await openWith(family)
        if (kills !== 'all') for (const command of kills) expect(await dieAt(kind, command, db)).to.equal(true)
        else {
          let command = 1
          while (await dieAt(kind, command, db)) command++
          this.test!.title += ` (${command - 1} commands)`
        }
        await db.close()
      })
    }

    for (const [kind, count] of Object.entries(mode === 'ap' || IS_LARGE ? SIZES : {})) {
      it(`holds only a few of ${count} children in memory (${kind})`, async function () {
        const family = PARENTS[kind]
        const db = await openWith(family)
        const names = Array.from({ length: count }, (_, i) => `large-${i}`)
        const text = 'x'.repeat(BYTES / count)
        await storeFamily(db, family, ++last, names, (one) => Object.assign(one, { name: text, city: text }))
        const child = start(kind, [last, IS_LARGE ? 500 : 20, 0], ['--expose-gc', '--max-old-space-size=32'])
        let output = ''
        child.stdout!.on('data', (data) => (output += String(data)))
        const [code] = (await once(child, 'close')) as [number]
        expect(code).to.equal(0)
        const { before, peak, ms } = JSON.parse(output) as Record<string, number>
        expect(peak - before).to.be.lessThan(BYTES / 1024 / 3)
        expect(await db.session().find(family.parent, last)).to.equal(null)
        for (let i = 0; i < count; i += 1000) {
          const found = await db.session().findMany(family.child, names.slice(i, i + 1000))
          expect(found.every((one) => one === null)).to.equal(true)
        }
        this.test!.title += ` (${before} KiB before, ${peak} at most, ${ms} ms)`
        await db.close()
      })
    }
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

/** The error says that the parent is gone, or that a transaction met others too often and stored nothing. */
function isRefusal(error: unknown): boolean {
  if (error instanceof RetriesExhaustedError) return true
  const causes = error instanceof PartialFailureError ? error.records.map(({ cause }) => cause) : [error]
  return causes.some((cause) => cause instanceof EntityGoneError)
}
