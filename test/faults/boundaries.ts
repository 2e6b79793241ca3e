import { expect } from 'chai'
import { isNamedServer, MODES, type Mode } from '../server.js'
import type { Case } from './families.js'
import { ALL_FAULTS, FAULTS } from './faults.js'
import { useLanes, type Lane } from './lane.js'
import { expectRecovery } from './expectations.js'
import { show } from './world.js'

const [ERROR, ...OTHERS] = Object.keys(FAULTS)

/** Every fault at every command takes minutes: by default it is three of them at each, and all in turn. */
function faultsAt(turn: number): readonly string[] {
  if (ALL_FAULTS) return [ERROR, ...OTHERS]
  return [ERROR, ...OTHERS.filter((_, i) => i % 3 === turn % 3)]
}

const MORE_THAN_ANY = 200
const LANES = 4

interface Job extends Case {
  readonly mode: Mode
  readonly turn: number
}

/** Tests each case with a fault at every command that it sends; unless all are asked for, at every so many of them, by turns. */
export function describeEveryBoundary(title: string, cases: readonly Case[], every = 1): void {
  const jobs: readonly Job[] = MODES.flatMap((mode) => cases.map((each) => ({ ...each, mode }))).map((each, turn) => ({
    ...each,
    turn,
  }))

  describe(isNamedServer ? `${title} (skipped: only the embedded server has faults)` : title, function () {
    this.timeout(120_000)
    const results = useLanes(jobs, (job, lane) => everyBoundary(job, lane, ALL_FAULTS ? 1 : every), { lanes: LANES })

    for (const job of jobs) it(`${job.mode}, ${job.title}`, () => results().get(job))
  })
}

async function everyBoundary(job: Job, lane: Lane, every: number): Promise<void> {
  const clean = await lane.begin(job, job.mode)
  const before = show(await clean.world.stored())
  // Nothing is delayed: it only counts.
  const count = await lane.disturb({ namespace: job.mode, delay: 0, times: Infinity }, () => clean.session.flush())
  expect(count).to.be.within(1, MORE_THAN_ANY)
  const after = show(await clean.world.stored())
  for (let skip = job.turn % every; skip < count; skip += every) {
    for (const title of faultsAt(job.turn + skip)) await check(job, lane, { title, skip, before, after })
  }
}

interface Boundary {
  readonly title: string
  readonly skip: number
  /** The stored records before the operation, and after it. */
  readonly before: string
  readonly after: string
}

async function check(job: Job, lane: Lane, { title, skip, before, after }: Boundary): Promise<void> {
  const { mode, family } = job
  const begun = await lane.begin(job, mode)
  const { world, session } = begun
  const where = `${title}, command ${skip}`
  let error: unknown
  const hits = await lane.disturb({ ...FAULTS[title], namespace: mode, skip }, () =>
    session.flush().catch((reason: unknown) => (error = reason)),
  )
  expect(hits, where).to.be.greaterThan(0)
  await expectRecovery(job, lane, { ...begun, where, error, before, after })
  if (family.shards !== undefined) await world.clear(mode)
}
