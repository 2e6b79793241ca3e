import { expect } from 'chai'
import { SkeinError } from 'skein'
import { isNamedServer, MODES, type Mode } from '../server.js'
import { CASES, type Case } from './families.js'
import { useLanes, type Lane } from './lane.js'
import { dangling, oneSided, show } from './world.js'

const LANES = 4
/** Not stored, or deleted here. */
const GONE = new Set(['SKEIN_3003', 'SKEIN_2305'])

interface Job extends Case {
  readonly mode: Mode
}

const JOBS: readonly Job[] = MODES.flatMap((mode) => CASES.map((each) => ({ ...each, mode })))

describe(`an error at every command, and a refresh of everything then${isNamedServer ? ' (skipped: only the embedded server has faults)' : ''}`, function () {
  this.timeout(120_000)
  const results = useLanes(JOBS, everyBoundary, { lanes: LANES })

  for (const job of JOBS) it(`leave two sides that agree: ${job.mode}, ${job.title}`, () => results().get(job))
})

async function everyBoundary(job: Job, lane: Lane): Promise<void> {
  const clean = await lane.begin(job, job.mode)
  // Nothing is delayed: it only counts.
  const count = await lane.disturb({ namespace: job.mode, delay: 0, times: Infinity }, () => clean.session.flush())
  for (let skip = 0; skip < count; skip++) await check(job, lane, skip)
}

async function check(job: Job, lane: Lane, skip: number): Promise<void> {
  const { mode, family } = job
  const { world, session, entities } = await lane.begin(job, mode)
  await lane.disturb({ answer: 4, namespace: mode, skip }, () => session.flush().catch(() => undefined))
  // The server undoes an abandoned transaction when its time is over.
  if (mode === 'sc') await lane.server.clock.advance(30)
  for (const entity of entities) {
    await session.refresh(entity).catch((error: unknown) => {
      if (!(error instanceof SkeinError && GONE.has(error.code))) throw error
    })
  }
  await session.flush()
  const where = `command ${skip}`
  expect(session.isDirty(), where).to.equal(false)
  const stored = await world.stored()
  expect([...oneSided(stored, family), ...dangling(stored, family)], `${where}\n${show(stored)}`).to.deep.equal([])
}
