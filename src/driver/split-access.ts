import { setTimeout as pause } from 'node:timers/promises'
import type { InsideAccess, SplitAccess } from '../plan/split-access.js'
import { MOST_WRITES } from './capabilities.js'
import type { Driver } from './driver.js'
import { Tries } from './retry.js'

/** Attempts of a transaction that moves members: where others are faster each time, the members move in steps. */
const PATIENCE = { attempts: 4, deadline: 2000, backoff: 4, longestWait: 100 }

/** Access to records past any transaction; members move in steps where it may begin none of its own. */
export const splitAccess = (driver: Driver, mayBegin = true): SplitAccess => ({
  read: (commands) => driver.read(commands),
  run: (commands) => driver.run(commands),
  maxRecordSize: (namespace) => driver.capabilities.namespaces[namespace]?.maxRecordSize ?? 1024 * 1024,
  mostWrites: (namespace) => (driver.capabilities.namespaces[namespace]?.transactions === true ? MOST_WRITES : 0),
  atOnce: (work) => (mayBegin ? atOnce(driver, work) : Promise.resolve(false)),
  areHeld: (entity, keys) => driver.areHeld(keys.map((key) => ({ entity, key }))),
  announce: (done) => driver.events.split(done),
})

/** Commits the work in a transaction of its own; false where nothing of it was written. One in doubt counts as done: whoever looks will see. */
async function atOnce(driver: Driver, work: (inside: InsideAccess) => Promise<boolean>): Promise<boolean> {
  const tries = new Tries()
  for (;;) {
    const transaction = await driver.begin()
    const inside: InsideAccess = {
      read: (commands) => driver.read(commands, { transaction }),
      run: (commands) => driver.run(commands, { transaction }),
    }
    const end = await work(inside).catch(() => 'failed' as const)
    if (end === true) {
      const { state } = await driver.commit(transaction)
      if (state !== 'aborted') return true
    } else {
      await driver.abort(transaction)
      if (end === false) return false
    }
    const wait = tries.next(PATIENCE)
    if (wait === undefined) return false
    await pause(wait)
  }
}
