import { expect } from 'chai'
import { binEquals, read, remove, write } from '#src/plan/command.js'
import * as op from '#src/plan/operations.js'
import type { Driver } from '#src/driver/driver.js'
import { connectTo, freshSet } from './set-up.js'
import { sharedServer } from '../shared-server.js'
import { needMode, type TestServer } from '../server.js'

describe('hazard 16: where deletes must be durable, and where they must not', () => {
  let server: TestServer
  let driver: Driver

  before(async () => {
    server = await sharedServer()
    driver = await connectTo(server)
  })
  after(() => driver?.close())

  for (const mode of ['sc', 'ap'] as const) {
    it(`deletes alone, in a batch, with reads, and by the last bin, in ${mode}`, async function () {
      const at = freshSet(needMode(this, server, mode))
      const keys = [1, 2, 3, 4, 5].map(at)
      await driver.run(keys.map((key) => write('Thing', key, [op.writeBin('x', 1)], { exists: 'mustNotExist' })))
      const outcomes = [
        ...(await driver.run([remove('Thing', keys[0])])),
        ...(await driver.run([remove('Thing', keys[1]), remove('Thing', keys[2], { guards: [binEquals('x', 1)] })])),
        ...(await driver.run([remove('Thing', keys[3], { operations: [op.readBin('x')] })])),
        ...(await driver.run([write('Thing', keys[4], [op.removeBin('x')], { exists: 'mustExist' })])),
      ]
      expect(outcomes.map((one) => one.state)).to.deep.equal(Array(5).fill('written'))
      const left = await driver.read(keys.map((key) => read('Thing', key)))
      expect(left).to.deep.equal(Array(5).fill(null))
    })
  }

  it('deletes inside a transaction', async function () {
    const at = freshSet(needMode(this, server, 'sc'))
    const put = (key: number) => write('Thing', at(key), [op.writeBin('x', key)], { exists: 'upsert' })
    await driver.run([put(1), put(2)])
    const transaction = await driver.begin()
    const gone = [remove('Thing', at(1)), remove('Thing', at(2), { operations: [op.readBin('x')] })]
    const outcomes = await driver.run(gone, { transaction })
    expect(outcomes.map((one) => [one.state, one.bins.x])).to.deep.equal([
      ['written', undefined],
      ['written', 2],
    ])
    expect((await driver.commit(transaction)).state).to.equal('committed')
    expect(await driver.read([read('Thing', at(1)), read('Thing', at(2))])).to.deep.equal([null, null])
  })
})
