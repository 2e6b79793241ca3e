import { expect } from 'chai'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { open, type Database } from 'skein'
import { startEmbedded, type EmbeddedServer, type Fault } from 'skein/embedded'
import { isNamedServer, MODES, PATIENT, type Mode } from '../server.js'
import { GROWING_CLASSES, Post, Reader, make } from './growing-models.js'
import type { Task } from './programs/split.js'

const PROGRAM = fileURLToPath(new URL('./programs/split.js', import.meta.url))
const READERS = Array.from({ length: 14 }, (_, i) => `r${i}`)

/** Changes of the number of shards; -1 is the record of the post. */
const COURSES = [
  { from: -1, to: 3 },
  { from: 2, to: 4 },
  { from: 2, to: -1 },
] as const

/** A move in a namespace of its own, which ends at a command: that one gets no answer; with `after` it has taken effect. */
interface Death {
  readonly mode: Mode
  readonly course: (typeof COURSES)[number]
  readonly skip: number
  readonly after: boolean
}

/** Commands of the longest move; later ones are not reached, and the move is complete. */
const LONGEST = 34

/** Unless asked for, some of all commands. */
function* rounds(): Generator<Death[]> {
  const isAll = process.env.SKEIN_FAULTS === 'all'
  const skips = isAll ? Array.from({ length: LONGEST }, (_, i) => i) : [1, 5, 9, 12, 17]
  for (const skip of skips)
    for (const after of isAll ? [false, true] : [skip % 2 === 0])
      yield MODES.flatMap((mode) => COURSES.map((course) => ({ mode, course, skip, after })))
}

const title = 'a process killed with SIGKILL while it splits a collection'

describe(isNamedServer ? `${title} (skipped: only the embedded server has faults)` : title, function () {
  this.timeout(600_000)
  let server: EmbeddedServer
  let databases: Database[]
  const names = MODES.flatMap((mode) => COURSES.map((_, i) => ({ mode, namespace: `${mode}${i}` })))

  before(async function () {
    if (isNamedServer) this.skip()
    server = await startEmbedded({ namespaces: names.map(({ mode, namespace }) => `${namespace}:${mode}`) })
    databases = await Promise.all(
      names.map(({ namespace }) => open({ hosts: server.hosts, namespace, entities: GROWING_CLASSES, ...PATIENT })),
    )
    for (const db of databases)
      await db.withSession((session) => {
        for (const id of [...READERS, 'new']) session.persist(make(Reader, { id }))
      })
  })
  after(async () => {
    await Promise.all((databases ?? []).map((db) => db.close()))
    await server?.stop()
  })

  it('loses no member, and the next writer finishes what it began', async () => {
    for (const deaths of rounds()) await dieTogether(deaths)
  })

  async function dieTogether(deaths: readonly Death[]): Promise<void> {
    await Promise.all(deaths.map(({ course }, i) => prepare(databases[i], course.from)))
    const child = fork(PROGRAM, { execArgv: [] })
    const ended = once(child, 'exit')
    const splits = deaths.map(({ course: { to } }, i) => ({ namespace: names[i].namespace, to }))
    child.send({ hosts: server.hosts, splits } satisfies Task)
    await Promise.race([once(child, 'message'), ended])
    const faults = await Promise.all(deaths.map(({ skip, after }, i) => stopAt(names[i].namespace, skip, after)))
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
    for (const [i, death] of deaths.entries()) await check(databases[i], names[i].namespace, death)
  }

  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5))

  async function stopAt(namespace: string, skip: number, after: boolean): Promise<Fault> {
    const rest = { namespace, skip, hang: true, times: Infinity }
    const last = after ? await server.faults.add({ ...rest, times: 1, after: true }) : undefined
    const first = await server.faults.add(rest)
    return last ?? first
  }

  async function prepare(db: Database, from: number): Promise<void> {
    await db.session().delete(Post, 'p')
    await db.session().save(make(Post, { id: 'p' }))
    await db.withSession((session) => {
      session
        .at(Post, 'p')
        .collection('readers')
        .add(...READERS)
    })
    if (from > 0) await db.session().at(Post, 'p').collection('readers').shard(from)
  }

  async function check(db: Database, namespace: string, { skip, after, course }: Death): Promise<void> {
    const where = `${namespace}, to ${course.to}: killed ${after ? 'after' : 'before'} command ${skip}`
    const keys = (): Promise<readonly unknown[]> => db.session().at(Post, 'p').collection('readers').keys()
    expect(await keys(), where).to.deep.equal([...READERS].sort())
    await db.withSession((session) => {
      const readers = session.at(Post, 'p').collection('readers')
      readers.remove('r3')
      readers.add('new')
    })
    expect(await keys(), where).to.deep.equal([...READERS, 'new'].filter((id) => id !== 'r3').sort())
    const { bins } = await db.client.get({ ns: namespace, set: 'gpost', key: 'p' })
    expect(
      Object.keys(bins).filter((name) => name.startsWith('_sk.')),
      where,
    ).to.deep.equal([])
  }
})
