import { read, write, type WriteCommand, type WriteOptions } from '#src/plan/command.js'
import { writeBin } from '#src/plan/operations.js'
import { recordKey, type RecordKey, type UserKey } from '#src/plan/record-key.js'
import { connect } from '#src/driver/connect.js'
import type { Driver } from '#src/driver/driver.js'
import type { DriverOptions } from '#src/driver/options.js'
import type { TransactionHandle } from '#src/driver/outcome.js'
import { needMode, patient, type Mode, type TestServer } from '../server.js'
import { sharedServer } from '../shared-server.js'

export async function connectTo(on: TestServer, options: Partial<DriverOptions> = {}): Promise<Driver> {
  return connect({ hosts: on.hosts, namespaces: on.namespaces, ...patient(options) })
}

let sets = 0

/** A maker of keys in a set that no other test uses. */
export function freshSet(namespace: string): (key: UserKey) => RecordKey {
  const set = `drv-${process.pid}-${Date.now() % 1e6}-${++sets}`
  return (key) => recordKey(namespace, set, key)
}

export interface OpenedDriver {
  readonly driver: Driver
  readonly server: TestServer
  /** Keys of a set that no other test uses. */
  readonly at: (key: UserKey) => RecordKey
}

/** Gives the suite around it a driver on the shared server; where the server has no namespace of that mode, the suite is skipped. */
export function useDriver(mode: Mode, take: (opened: OpenedDriver) => void): void {
  let driver: Driver | undefined
  let server: TestServer
  const give = (): void => take({ driver: driver!, server, at: freshSet(server[mode]!) })
  before(async function () {
    server = await sharedServer()
    needMode(this, server, mode)
    driver = await connectTo(server)
    give()
  })
  beforeEach(give)
  after(() => driver?.close())
}

/** A write of the bin that `valueOf` reads. */
export const put = (key: RecordKey, x: number, options: Partial<WriteOptions> = {}): WriteCommand =>
  write('Thing', key, [writeBin('x', x)], { exists: 'upsert', ...options })

export const valueOf = async (driver: Driver, key: RecordKey, transaction?: TransactionHandle): Promise<unknown> =>
  (await driver.readOne(read('Thing', key), { transaction }))?.bins.x
