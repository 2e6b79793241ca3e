import { expect } from 'chai'
import type { RecordKey } from '#src/plan/record-key.js'
import { need } from '../server.js'
import { put, useDriver, type OpenedDriver } from './set-up.js'

/** The server's answer to the verification of a record that has changed since it was read. */
const VERSION_MISMATCH = 121

describe('records that a transaction may hold (sc)', () => {
  let opened: OpenedDriver
  useDriver('sc', (given) => (opened = given))

  const fill = async (): Promise<RecordKey[]> => {
    const keys = [1, 2, 3, 4].map((key) => opened.at(key))
    await opened.driver.run(keys.map((key) => put(key, 1)))
    return keys
  }
  const areHeld = (keys: readonly RecordKey[]): Promise<boolean[]> =>
    opened.driver.areHeld(keys.map((key) => ({ entity: 'Thing', key })))

  it('are those that one has written and not yet committed', async () => {
    const keys = await fill()
    const transaction = await opened.driver.begin()
    await opened.driver.run([put(keys[2], 2)], { transaction })
    expect(await areHeld(keys)).to.deep.equal([false, false, true, false])
    await opened.driver.commit(transaction)
    expect(await areHeld(keys)).to.deep.equal([false, false, false, false])
  })

  it('do not include all that were asked for together with one that changes meanwhile', async function () {
    const { faults } = need(this, opened.server.embedded, 'only the embedded server has faults')
    const keys = await fill()
    const changed = await faults.add({ kind: 'txn-verify', set: keys[0].set, answer: VERSION_MISMATCH })
    expect(await areHeld(keys)).to.deep.equal([false, false, false, false])
    expect(await changed.hits()).to.equal(1)
  })
})
