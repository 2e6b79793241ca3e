import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect } from 'chai'
import { type RecordKey } from '#src/plan/record-key.js'
import type { Driver } from '#src/driver/driver.js'
import type { CommandEvent } from '#src/driver/events.js'
import type { TransactionHandle } from '#src/driver/outcome.js'
import { connectTo, type OpenedDriver, put, useDriver, valueOf } from './set-up.js'
import { need, type TestServer } from '../server.js'

describe('hazard 3: the first write of a transaction creates its monitor record', () => {
  let server: TestServer
  let driver: Driver
  let at: OpenedDriver['at']
  useDriver('sc', (opened) => ({ driver, server, at } = opened))

  const value = (key: RecordKey, transaction?: TransactionHandle): Promise<unknown> => valueOf(driver, key, transaction)

  it('sends the first write alone and the others only after it', async function () {
    const embedded = need(this, server.embedded, 'holding commands back needs the embedded server')
    const fault = await embedded.faults.add({ kind: 'write', set: at(0).set, delay: 50 })
    const order: unknown[] = []
    const listen = (event: unknown): void => void order.push((event as CommandEvent).text)
    const watched = await connectTo(server, { reveal: { keys: true } })
    subscribe('skein:command', listen)
    const transaction = await watched.begin()
    await watched.run(
      [0, 1, 2, 3].map((key) => put(at(key), key)),
      { transaction },
    )
    unsubscribe('skein:command', listen)
    await watched.abort(transaction)
    await watched.close()
    expect(await fault.hits()).to.equal(1)
    expect(order[0]).to.contain(`${at(0).set}/0 `)
    expect(order).to.have.length(4)
  })

  it('lets another write be the first when the first one failed', async () => {
    const transaction = await driver.begin()
    const outcomes = await driver.run([put(at(1), 1, { exists: 'mustExist' }), put(at(2), 2), put(at(3), 3)], {
      transaction,
    })
    expect(outcomes.map((one) => one.state)).to.deep.equal(['notWritten', 'written', 'written'])
    expect((await driver.commit(transaction)).state).to.equal('committed')
    expect(await value(at(3))).to.equal(3)
  })
})
