import { expect } from 'chai'
import { read, write } from '#src/plan/command.js'
import * as op from '#src/plan/operations.js'
import type { Driver } from '#src/driver/driver.js'
import { connectTo, freshSet } from './set-up.js'
import { sharedServer } from '../shared-server.js'
import { need, type TestServer } from '../server.js'

describe('hazard 5: one bad row must not lose the other rows of its batch', () => {
  let server: TestServer
  let driver: Driver

  before(async () => {
    server = await sharedServer()
    driver = await connectTo(server, { retry: { attempts: 2, backoff: 1 } })
  })
  afterEach(() => server.embedded?.faults.clear())
  after(() => driver?.close())

  it('gives every row its own outcome', async () => {
    const at = freshSet(server.namespaces[0])
    await driver.run([write('Thing', at('text'), [op.writeBin('n', 'no number')], { exists: 'upsert' })])
    const add = (key: string) => write('Thing', at(key), [op.listAppendUnique('n', [1])], { exists: 'upsert' })
    const outcomes = await driver.run(['a', 'text', 'b'].map(add))
    expect(outcomes.map((one) => one.state)).to.deep.equal(['written', 'notWritten', 'written'])
    expect(outcomes[1].error?.code).to.equal('SKEIN_4210')
  })

  it('gives every reader its own record or error', async function () {
    const embedded = need(this, server.embedded, 'needs a row that fails')
    const at = freshSet(server.namespaces[0])
    const keys = ['a', 'b', 'c', 'd']
    await driver.run(keys.map((key) => write('Thing', at(key), [op.writeBin('x', key)], { exists: 'upsert' })))
    const fault = await embedded.faults.add({ kind: 'read', set: at('b').set, key: 'b', answer: 14, times: 100 })
    // The first calls take every round trip, so that the readers below wait and leave as one batch.
    const busy = Array.from({ length: 4 }, (_, i) => driver.readOne(read('Thing', at(`busy${i}`))))
    const answers = await Promise.allSettled(keys.map((key) => driver.readOne(read('Thing', at(key)))))
    await Promise.all(busy)
    expect(await fault.hits()).to.equal(2)
    expect(
      answers.map((one) => (one.status === 'fulfilled' ? one.value?.bins.x : (one.reason as { code: string }).code)),
    ).to.deep.equal(['a', 'SKEIN_4202', 'c', 'd'])
  })
})
