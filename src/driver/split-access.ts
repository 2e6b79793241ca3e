import type { SplitAccess } from '../plan/split-access.js'
import type { Driver } from './driver.js'

/** Access to records past any transaction. */
export const splitAccess = (driver: Driver): SplitAccess => ({
  read: (commands) => driver.read(commands),
  run: (commands) => driver.run(commands),
  maxRecordSize: (namespace) => driver.capabilities.namespaces[namespace]?.maxRecordSize ?? 1024 * 1024,
  announce: (done) => driver.events.split(done),
})
