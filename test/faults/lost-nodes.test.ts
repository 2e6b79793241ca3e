import { expect } from 'chai'
import { isNamedServer, MODES, type Mode } from '../server.js'
import { CASES, type Case } from './families.js'
import { useLanes, type Lane } from './lane.js'
import { expectRecovery } from './expectations.js'
import { show } from './world.js'

/** Troubles of a node, and how long a command is held so that they meet it. */
const TROUBLES = ['kill', 'freeze', 'slow'] as const
type Trouble = (typeof TROUBLES)[number]
const SLOW = 100
const HELD = 300
const NODES = 3
const LANES = 2
const MORE_THAN_ANY = 200

interface Job extends Case {
  readonly mode: Mode
  readonly turn: number
}

/** Every trouble at every command takes many minutes: by default it is every fourth operation, at one command. */
const IS_WHOLE = process.env.SKEIN_FAULTS === 'all'
const JOBS: readonly Job[] = MODES.flatMap((mode) => CASES.map((each) => ({ ...each, mode })))
  .map((each, turn) => ({ ...each, turn }))
  .filter(({ turn }) => IS_WHOLE || turn % 4 === 0)

describe(`a node in trouble at a command${isNamedServer ? ' (skipped: only the embedded server has nodes to kill)' : ''}`, function () {
  this.timeout(300_000)
  const results = useLanes(JOBS, atBoundaries, { lanes: LANES, nodes: NODES })

  for (const job of JOBS) it(`${job.mode}, ${job.title}`, () => results().get(job))
})

async function atBoundaries(job: Job, lane: Lane): Promise<void> {
  const clean = await lane.begin(job, job.mode)
  const before = show(await clean.world.stored())
  const count = await lane.disturb({ namespace: job.mode, delay: 0, times: Infinity }, () => clean.session.flush())
  expect(count).to.be.within(1, MORE_THAN_ANY)
  const after = show(await clean.world.stored())
  const skips = IS_WHOLE ? [...Array(count).keys()] : [job.turn % count]
  for (const skip of skips) {
    for (const trouble of IS_WHOLE ? TROUBLES : [TROUBLES[(job.turn >> 2) % TROUBLES.length]])
      await check(job, lane, { trouble, skip, before, after })
  }
}

/** Reads until the client knows again who has the partitions of a node that came back. */
async function whenMapped(read: () => Promise<unknown>): Promise<void> {
  while (
    await read().then(
      () => false,
      () => true,
    )
  )
    await new Promise((resolve) => setTimeout(resolve, 20))
}

interface Boundary {
  readonly trouble: Trouble
  readonly skip: number
  /** Stored records before the operation, and after it. */
  readonly before: string
  readonly after: string
}

/** Holds the command at the boundary, brings a node into trouble meanwhile, and looks at what is left when the node is back. */
async function check(job: Job, lane: Lane, { trouble, skip, before, after }: Boundary): Promise<void> {
  const { mode } = job
  const begun = await lane.begin(job, mode)
  const { world, session } = begun
  const node = lane.server.nodes[(job.turn + skip) % NODES]
  const where = `${trouble} at command ${skip}`
  const held = await lane.server.faults.add({ namespace: mode, skip, delay: HELD })
  let error: unknown
  const flushed = session.flush().catch((reason: unknown) => (error = reason))
  while ((await held.hits()) === 0) await new Promise((resolve) => setImmediate(resolve))
  await (trouble === 'slow' ? node.slow(SLOW) : node[trouble]())
  await flushed
  await lane.server.faults.clear()
  await node.restart()
  await lane.whole()
  await whenMapped(() => world.stored())
  await expectRecovery(job, lane, { ...begun, where, error, before, after })
}
