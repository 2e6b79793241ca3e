import { expect } from 'chai'
import type { EmbeddedServer } from 'skein/embedded'
import { read, write, type WriteCommand } from '#src/plan/command.js'
import * as op from '#src/plan/operations.js'
import type { RecordKey } from '#src/plan/record-key.js'
import type { Driver } from '#src/driver/driver.js'
import { connectTo, freshSet } from './set-up.js'
import { sharedServer } from '../shared-server.js'
import { need } from '../server.js'

describe('aborting calls', () => {
  let embedded: EmbeddedServer
  let driver: Driver
  let at: (key: number) => RecordKey

  before(async function () {
    const server = await sharedServer()
    embedded = need(this, server.embedded, 'holding commands back needs the embedded server')
    driver = await connectTo(server, { limits: { roundTrips: 1, batchRows: 1, alone: 1 }, retry: { backoff: 1 } })
    at = freshSet('test')
  })
  afterEach(() => embedded.faults.clear())
  after(() => driver?.close())

  const put = (key: number): WriteCommand => write('Thing', at(key), [op.writeBin('x', 1)], { exists: 'upsert' })

  it('rejects a read at once, with the reason of the signal', async () => {
    await embedded.faults.add({ kind: 'read', delay: 200 })
    const controller = new AbortController()
    const answers = [1, 2].map((key) =>
      driver.readOne(read('Thing', at(key)), { signal: controller.signal }).catch((error: unknown) => error),
    )
    const reason = new Error('enough')
    controller.abort(reason)
    expect(await Promise.all(answers)).to.deep.equal([reason, reason])
    // Until the one that is out has been answered: other tests count what the server sees.
    await driver.readOne(read('Thing', at(3)))
  })

  it('never sends a read that waited', async () => {
    await embedded.faults.add({ kind: 'read', delay: 100 })
    const controller = new AbortController()
    const seen = await embedded.commands.during(async () => {
      const first = driver.readOne(read('Thing', at(1)))
      const second = driver.readOne(read('Thing', at(2)), { signal: controller.signal }).catch(() => undefined)
      controller.abort()
      await Promise.all([first, second])
      await driver.readOne(read('Thing', at(3)))
    })
    expect(seen.commands).to.equal(2)
  })

  it('waits for writes that are out and does not send the others', async () => {
    await embedded.faults.add({ kind: 'write', delay: 100 })
    const controller = new AbortController()
    const running = driver.run([put(1), put(2), put(3)], { signal: controller.signal })
    controller.abort(new Error('enough'))
    const outcomes = await running
    expect(outcomes.map((one) => one.reason ?? one.state)).to.deep.equal(['written', 'notSent', 'notSent'])
    expect(outcomes[1].error?.code).to.equal('SKEIN_4209')
    const found = await driver.read([1, 2, 3].map((key) => read('Thing', at(key))))
    expect(found.map((one) => one !== null)).to.deep.equal([true, false, false])
  })

  it('does not repeat a write once aborted', async () => {
    const fault = await embedded.faults.add({ kind: 'write', answer: 14, delay: 50, times: 100 })
    const controller = new AbortController()
    const running = driver.run([put(4)], { signal: controller.signal })
    controller.abort()
    expect((await running)[0]).to.deep.include({ state: 'notWritten', reason: 'unavailable' })
    expect(await fault.hits()).to.equal(1)
  })

  it('sends nothing when the signal was already aborted', async () => {
    const signal = AbortSignal.abort(new Error('early'))
    const seen = await embedded.commands.during(async () => {
      const error: unknown = await driver.read([read('Thing', at(1))], { signal }).catch((thrown: unknown) => thrown)
      expect(error).to.have.property('message', 'early')
      const outcomes = await driver.run([put(5), write('Thing', at(6), [op.addToBin('n', 1)], { exists: 'upsert' })], {
        signal,
      })
      expect(outcomes.map((one) => one.reason)).to.deep.equal(['notSent', 'notSent'])
    })
    expect(seen.commands).to.equal(0)
  })

  it('leaves no listener behind', async () => {
    const { signal } = new AbortController()
    let listeners = 0
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args))
    signal.removeEventListener = (...args: Parameters<typeof remove>) => (listeners--, remove(...args))
    await driver.run([put(7)], { signal })
    await driver.read([read('Thing', at(7)), read('Thing', at(8))], { signal })
    expect(listeners).to.equal(0)
  })
})
