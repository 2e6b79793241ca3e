import { expect } from 'chai'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { open, type Database } from 'skein'
import { startEmbedded, type EmbeddedServer, type Fault } from 'skein/embedded'
import { ALL_FAULTS } from '../../faults/faults.js'
import { isNamedServer, MODES, PATIENT, type Mode } from '../../server.js'
import { Reader, make } from './growing-models.js'
import { change, expected, KILLED_CLASSES, prepare, shown, type Kind, type Task } from './killed-splits.js'

const PROGRAM = fileURLToPath(new URL('./programs/split.js', import.meta.url))

/** Changes of the number of shards; -1 is the record of the owner. */
const COURSES = [
  { from: -1, to: 3 },
  { from: 2, to: 4 },
  { from: 2, to: -1 },
] as const
const KINDS: readonly Kind[] = ['readers', 'scores']

/** A move in a namespace of its own. */
interface Split {
  readonly namespace: string
  readonly mode: Mode
  readonly kind: Kind
  readonly course: (typeof COURSES)[number]
}

const SPLITS: readonly Split[] = MODES.flatMap((mode) =>
  KINDS.flatMap((kind) => COURSES.map((course, i) => ({ namespace: `${mode}${kind}${i}`, mode, kind, course }))),
)

/** More commands than any move has. */
const MOST = 80

const title = 'a process killed with SIGKILL while it splits a collection'

describe(isNamedServer ? `${title} (skipped: only the embedded server has faults)` : title, function () {
  this.timeout(900_000)
  let server: EmbeddedServer
  let databases: Database[]

  before(async function () {
    if (isNamedServer) this.skip()
    server = await startEmbedded({ namespaces: SPLITS.map(({ mode, namespace }) => `${namespace}:${mode}`) })
    databases = await Promise.all(
      SPLITS.map(({ namespace }) => open({ hosts: server.hosts, namespace, entities: KILLED_CLASSES, ...PATIENT })),
    )
    for (const db of databases) await db.indexes.sync()
    for (const db of databases)
      await db.withSession((session) => {
        for (let i = 0; i < 14; i++) session.persist(make(Reader, { id: `r${i}` }))
        session.persist(make(Reader, { id: 'new' }))
      })
  })
  after(async () => {
    await Promise.all((databases ?? []).map((db) => db.close()))
    await server?.stop()
  })

  it('loses no key and no child, and the next writer finishes what it began', async () => {
    // By default, at some of all commands; the last command gets no answer, before or after its effect.
    if (!ALL_FAULTS) for (const skip of [1, 5, 9, 12, 17]) await dieTogether(skip, skip % 2 === 0)
    else
      for (let skip = 0, isComplete = false; !isComplete; skip++) {
        expect(skip).to.be.below(MOST)
        await dieTogether(skip, true)
        isComplete = await dieTogether(skip, false)
      }
  })

  /** True where all moves were complete before the command was reached. */
  async function dieTogether(skip: number, after: boolean): Promise<boolean> {
    await Promise.all(SPLITS.map(({ kind, course }, i) => prepare(databases[i], kind, course.from)))
    const child = fork(PROGRAM, { execArgv: [] })
    const ended = once(child, 'exit')
    const splits = SPLITS.map(({ namespace, kind, course: { to } }) => ({ namespace, kind, to }))
    child.send({ hosts: server.hosts, splits } satisfies Task)
    await Promise.race([once(child, 'message'), ended])
    const faults = await Promise.all(SPLITS.map(({ namespace }) => stopAt(namespace, skip, after)))
    const done = new Set<unknown>()
    child.on('message', (i) => done.add(i))
    child.send('go')
    for (const [i, fault] of faults.entries()) while ((await fault.hits()) === 0 && !done.has(i)) await pause()
    child.kill('SIGKILL')
    await ended
    expect(child.signalCode).to.equal('SIGKILL')
    for (let i = 0; i < 3; i++) await server.commands.summary()
    await server.faults.clear()
    await server.clock.advance(30)
    for (const [i, split] of SPLITS.entries())
      await check(databases[i], split, `killed ${after ? 'after' : 'before'} command ${skip}`)
    return done.size === SPLITS.length
  }

  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))

  async function stopAt(namespace: string, skip: number, after: boolean): Promise<Fault> {
    const rest = { namespace, skip, hang: true, times: Infinity }
    const last = after ? await server.faults.add({ ...rest, times: 1, after: true }) : undefined
    const first = await server.faults.add(rest)
    return last ?? first
  }

  async function check(db: Database, { namespace, kind, course }: Split, killed: string): Promise<void> {
    const where = `${namespace}, to ${course.to}: ${killed}`
    expect(await shown(db, kind), where).to.deep.equal(expected(kind, false))
    await change(db, kind)
    expect(await shown(db, kind), where).to.deep.equal(expected(kind, true))
    const set = kind === 'readers' ? 'gpost' : 'gpmatch'
    const { bins } = await db.client.get({ ns: namespace, set, key: 'p' })
    const marks = Object.keys(bins).filter((name) => name.startsWith('_sk.'))
    expect(marks, where).to.deep.equal([])
  }
})
