import { expect } from 'chai'
import type { Driver } from '#src/driver/driver.js'
import { type OpenedDriver, put, useDriver } from './set-up.js'
import { need, type TestServer } from '../server.js'

describe('hazard 2: a batch write in a transaction registers only its last record', () => {
  let server: TestServer
  let driver: Driver
  let at: OpenedDriver['at']
  useDriver('sc', (opened) => ({ driver, server, at } = opened))

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
