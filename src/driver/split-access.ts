import type { SplitAccess } from '../plan/split-access.js'
import type { Driver } from './driver.js'

/** Access to records past any transaction. */
export const splitAccess = (driver: Driver): SplitAccess => ({
  read: (commands) => driver.read(commands),
  run: (commands) => driver.run(commands),
  announce: (done) => driver.events.split(done),
})
