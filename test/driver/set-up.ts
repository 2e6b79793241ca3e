import { recordKey, type RecordKey, type UserKey } from '#src/plan/record-key.js'
import { connect } from '#src/driver/connect.js'
import type { Driver } from '#src/driver/driver.js'
import type { DriverOptions } from '#src/driver/options.js'
import { patient, type TestServer } from '../server.js'

export async function connectTo(on: TestServer, options: Partial<DriverOptions> = {}): Promise<Driver> {
  return connect({ hosts: on.hosts, namespaces: on.namespaces, ...patient(options) })
}

let sets = 0

/** A maker of keys in a set that no other test uses. */
export function freshSet(namespace: string): (key: UserKey) => RecordKey {
  const set = `drv-${process.pid}-${Date.now() % 1e6}-${++sets}`
  return (key) => recordKey(namespace, set, key)
}
