import { expect } from 'chai'
import { write, type WriteCommand, type WriteOptions } from '#src/plan/command.js'
import * as op from '#src/plan/operations.js'
import { type RecordKey } from '#src/plan/record-key.js'
import type { Driver } from '#src/driver/driver.js'
import { connectTo, freshSet } from './set-up.js'
import { sharedServer } from '../shared-server.js'
import { need, needMode, type TestServer } from '../server.js'

describe('hazard 2: a batch write in a transaction registers only its last record', () => {
  let server: TestServer
  let driver: Driver
  let at: (key: string | number) => RecordKey

  before(async function () {
    server = await sharedServer()
    needMode(this, server, 'sc')
    driver = await connectTo(server)
  })
  beforeEach(() => (at = freshSet(server.sc!)))
  after(() => driver?.close())

  const put = (key: RecordKey, x: number, options: Partial<WriteOptions> = {}): WriteCommand =>
    write('Thing', key, [op.writeBin('x', x)], { exists: 'upsert', ...options })

  it('writes record by record, never as a batch', async function () {
    const embedded = need(this, server.embedded, 'counting commands needs the embedded server')
    const seen = await embedded.commands.during(async () => {
      const transaction = await driver.begin()
      await driver.run(
        Array.from({ length: 20 }, (_, i) => put(at(i), i)),
        { transaction },
      )
      await driver.abort(transaction)
    })
    expect(seen.byKind.write?.commands).to.equal(20)
    expect(seen.byKind['txn-monitor']?.commands).to.equal(20)
  })
})
