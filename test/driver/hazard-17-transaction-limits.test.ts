import { expect } from 'chai'
import { recordKey, type RecordKey } from '#src/plan/record-key.js'
import type { Driver } from '#src/driver/driver.js'
import type { TransactionHandle } from '#src/driver/outcome.js'
import type { SkeinError } from '#src/errors/index.js'
import { type OpenedDriver, put, useDriver, valueOf } from './set-up.js'
import { need, type TestServer } from '../server.js'
import { rejection } from '../session/rejection.js'

describe('hazard 17: a transaction has one namespace and at most 4,096 writes', () => {
  let server: TestServer
  let driver: Driver
  let at: OpenedDriver['at']
  useDriver('sc', (opened) => ({ driver, server, at } = opened))

  const value = (key: RecordKey, transaction?: TransactionHandle): Promise<unknown> => valueOf(driver, key, transaction)
  const thrown = (work: Promise<unknown>): Promise<SkeinError> => rejection(() => work) as Promise<SkeinError>

  it('refuses a second namespace and more writes than the server takes, before anything is sent', async function () {
    const transaction = await driver.begin()
    await driver.run([put(at(1), 1)], { transaction })
    const other = recordKey(need(this, server.ap, 'needs a second namespace'), 'thing', 1)
    const error = await thrown(driver.run([put(at(2), 2), put(other, 1)], { transaction }))
    expect(error.code).to.equal('SKEIN_4303')
    const many = Array.from({ length: 4096 }, (_, i) => put(at(`m${i}`), i))
    expect((await thrown(driver.run(many, { transaction }))).code).to.equal('SKEIN_4302')
    expect(await value(at(2), transaction)).to.equal(undefined)
    await driver.abort(transaction)
  })
})
