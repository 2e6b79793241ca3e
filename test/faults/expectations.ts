import { expect } from 'chai'
import type { Session, SkeinError } from 'skein'
import type { Mode } from '../server.js'
import type { Case } from './families.js'
import type { Begun, Lane } from './lane.js'
import { dangling, oneSided, show } from './world.js'

export interface States {
  readonly before: string
  readonly now: string
  readonly after: string
}

/** Everything is as before, or as it should be after; where records are not tied together, each of them. */
export function expectAllOrNothing({ operation }: Case, { before, now, after }: States, where: string): void {
  if (operation.isUntied !== true) return void expect([before, after], `${where}\n${now}`).to.include(now)
  const either = [...before.split('\n'), ...after.split('\n')]
  for (const record of now.split('\n')) expect(either, where).to.include(record)
}

/** A flush that met a fault. */
export interface Disturbed extends Begun {
  readonly where: string
  readonly error: unknown
  /** The stored records before the operation, and after one that nothing disturbed. */
  readonly before: string
  readonly after: string
}

const NO_ANSWER = ['SKEIN_4201', 'SKEIN_4205']
const MOST_FLUSHES = 5

/** The time-outs of these sessions are short, and a busy machine may be late: a flush that was not answered is repeated, as people do. */
async function flushAgain(session: Session): Promise<void> {
  for (let left = MOST_FLUSHES; ; left--) {
    try {
      return await session.flush()
    } catch (error) {
      if (left === 1 || !NO_ANSWER.includes((error as SkeinError).code)) throw error
    }
  }
}

/** Looks at what a disturbed flush left, flushes again, and wants the records of an undisturbed one. */
export async function expectRecovery(job: Case & { readonly mode: Mode }, lane: Lane, found: Disturbed): Promise<void> {
  const { mode, family } = job
  const { world, session, where, error, before, after } = found
  if (mode === 'sc') {
    // The server undoes an abandoned transaction when its time is over.
    await lane.server.clock.advance(30)
    expect(await world.locked(), where).to.deep.equal([])
  }
  const stored = await world.stored()
  const now = show(stored)
  expect(dangling(stored, family), where).to.deep.equal([])
  if (error === undefined) expect(now, where).to.equal(after)
  else if (mode === 'sc') expectAllOrNothing(job, { before, now, after }, where)
  await flushAgain(session).catch((reason: unknown) => {
    throw new Error(`${where}: the second flush failed\n${now}`, { cause: reason })
  })
  expect(session.isDirty(), where).to.equal(false)
  let end = now === after ? stored : await world.stored()
  // Without transactions, a lost answer may have taken along which list a child was on: that is what repair is for.
  if (mode === 'ap' && show(end) !== after) {
    await world.repair()
    end = await world.stored()
  }
  expect(show(end), `${where}, second flush`).to.equal(after)
  expect(oneSided(end, family), where).to.deep.equal([])
}
