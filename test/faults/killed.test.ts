import { expect } from 'chai'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Database } from 'skein'
import { startEmbedded, type EmbeddedServer, type Fault } from 'skein/embedded'
import { isNamedServer } from '../server.js'
import { expectAllOrNothing } from './expectations.js'
import type { Task } from './programs/operate.js'
import { openStalls, SERVERS, STALLS, type Stall } from './stall.js'
import { dangling, oneSided, show, World } from './world.js'

const PROGRAM = fileURLToPath(new URL('./programs/operate.js', import.meta.url))

/** The point where a process ends: its command number `skip` gets no answer; with `after` it has taken effect. */
interface Death {
  readonly stall: Stall
  readonly skip: number
  readonly after: boolean
}

/** The undisturbed run of an operation. */
interface Course {
  readonly count: number
  readonly before: string
  readonly after: string
}

const title = 'a process killed with SIGKILL at any command'

describe(isNamedServer ? `${title} (skipped: only the embedded server has faults)` : title, function () {
  this.timeout(600_000)
  let servers: EmbeddedServer[] = []
  let databases: ReadonlyMap<Stall, Database> = new Map()
  let courses: ReadonlyMap<Stall, Course>
  let worlds = 0

  before(async function () {
    if (isNamedServer) this.skip()
    servers = await Promise.all(
      Array.from({ length: SERVERS }, (_, i) =>
        startEmbedded({
          namespaces: STALLS.filter(({ server }) => server === i).map(({ namespace, mode }) => `${namespace}:${mode}`),
        }),
      ),
    )
    databases = await openStalls(hosts(), STALLS)
    courses = new Map((await Promise.all(servers.map((_, i) => coursesOn(i)))).flat())
  })
  after(async () => {
    await Promise.all(servers.map((server) => server.stop()))
  })

  it('leaves all or nothing of a transaction, no reference to nothing, and what the next process completes', async () => {
    const failures: unknown[] = []
    for (const deaths of rounds()) failures.push(...(await dieTogether(deaths)))
    if (failures.length > 0) throw new AggregateError(failures, failures.map(String).join('\n\n'))
  })

  const hosts = (): string[] => servers.map((server) => server.hosts)
  const serverOf = ({ server }: Stall): EmbeddedServer => servers[server]

  /** Each round kills one process, and with it every operation once. */
  function* rounds(): Generator<Death[]> {
    const each = STALLS.map(deathsOf)
    const most = Math.max(...each.map(({ length }) => length))
    for (let i = 0; i < most; i++) yield each.flatMap((deaths) => deaths[i] ?? [])
  }

  /** Everything takes a minute: by default it is one in the middle and one near the end. */
  function deathsOf(stall: Stall): Death[] {
    const { count } = courses.get(stall)!
    const all = Array.from({ length: 2 * count }, (_, i) => ({ stall, skip: i >> 1, after: i % 2 === 1 }))
    if (process.env.SKEIN_FAULTS === 'all') return all
    const { index } = stall
    return [all[Math.min(count + (index % 3), all.length - 1)], all[all.length - 1 - (index % 2)]]
  }

  async function coursesOn(server: number): Promise<(readonly [Stall, Course])[]> {
    const found: (readonly [Stall, Course])[] = []
    for (const stall of STALLS.filter((each) => each.server === server)) found.push([stall, await courseOf(stall)])
    return found
  }

  async function courseOf(stall: Stall): Promise<Course> {
    const db = databases.get(stall)!
    if (stall.family.isIndexed) await db.indexes.sync()
    const world = await prepare(stall, ++worlds)
    const session = db.session()
    await stall.operation.change(session, world)
    const before = show(await world.stored())
    // Nothing is delayed: it only counts.
    const counter = await serverOf(stall).faults.add({ namespace: stall.namespace, delay: 0, times: Infinity })
    await session.flush()
    const count = await counter.hits()
    await counter.remove()
    return { count, before, after: show(await world.stored()) }
  }

  async function prepare(stall: Stall, number: number): Promise<World> {
    const db = databases.get(stall)!
    const world = new World(db, stall.family, number)
    const session = db.session()
    stall.operation.prepare(session, world)
    await session.flush({ transactions: 'off' })
    return world
  }

  /** A process does all operations at once, each in its own namespace; when each has come to its command, it is killed. */
  async function dieTogether(deaths: readonly Death[]): Promise<unknown[]> {
    const operations = deaths.map(({ stall: { index } }) => ({ index, world: ++worlds }))
    const prepared = await Promise.all(deaths.map(({ stall }, i) => prepare(stall, operations[i].world)))
    const child = fork(PROGRAM, { execArgv: [] })
    const ended = once(child, 'exit')
    child.send({ hosts: hosts(), operations } satisfies Task)
    await Promise.race([once(child, 'message'), ended])
    const faults = await Promise.all(deaths.map(stopAt))
    child.send('go')
    const done = new Set<unknown>()
    child.on('message', (i) => done.add(i))
    for (const [i, fault] of faults.entries()) {
      while ((await fault.hits()) === 0 && !done.has(i) && isAlive(child)) await pause()
    }
    expect([...done], 'came to its end before it could be killed').to.deep.equal([])
    child.kill('SIGKILL')
    await ended
    expect(child.signalCode).to.equal('SIGKILL')
    for (const server of servers) {
      // Sent commands may still be on their way: the faults stay until the server has read them.
      for (let i = 0; i < 3; i++) await server.commands.summary()
      await server.faults.clear()
      // The server undoes its abandoned transactions when their time is over.
      await server.clock.advance(30)
    }
    const checked = await Promise.allSettled(deaths.map((death, i) => check(death, prepared[i])))
    return checked.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []))
  }

  /** The command is the last that takes effect, or the first that does not. */
  async function stopAt({ stall, skip, after }: Death): Promise<Fault> {
    const { faults } = serverOf(stall)
    const rest = { namespace: stall.namespace, skip, hang: true, times: Infinity }
    const last = after ? await faults.add({ ...rest, times: 1, after: true }) : undefined
    const first = await faults.add(rest)
    return last ?? first
  }

  async function check({ stall, skip, after: isAfter }: Death, world: World): Promise<void> {
    const { family, mode } = stall
    const { before, after } = courses.get(stall)!
    const where = `${mode}, ${stall.title}: killed ${isAfter ? 'after' : 'before'} command ${skip}`
    expect(await world.locked(), where).to.deep.equal([])
    const stored = await world.stored()
    const now = show(stored)
    expect(dangling(stored, family), where).to.deep.equal([])
    if (mode === 'sc') expectAllOrNothing(stall, { before, now, after }, where)
    await doAgain(stall, world, where)
    let end = await world.stored()
    if (mode === 'ap' && show(end) !== after) {
      await world.repair()
      await doAgain(stall, world, where)
      end = await world.stored()
    }
    expect(show(end), `${where}\n${now}`).to.equal(after)
    expect(oneSided(end, family), where).to.deep.equal([])
  }

  async function doAgain(stall: Stall, world: World, where: string): Promise<void> {
    const { operation } = stall
    const session = databases.get(stall)!.session()
    try {
      await (operation.again === undefined ? operation.change(session, world) : operation.again(session, world))
      await session.flush()
    } catch (cause) {
      throw new Error(`${where}: it could not be done again`, { cause })
    }
  }
})

const isAlive = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode === null && signalCode === null
const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 2))
