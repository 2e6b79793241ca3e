import { expect } from 'chai'
import { type RecordKey } from '#src/plan/record-key.js'
import type { Driver } from '#src/driver/driver.js'
import type { TransactionHandle } from '#src/driver/outcome.js'
import type { EmbeddedServer, Fault, FaultOptions } from 'skein/embedded'
import { type OpenedDriver, put, useDriver, valueOf } from './set-up.js'
import { need, type TestServer } from '../server.js'

describe('hazard 15: commits and aborts may throw, return a number, or be in doubt', () => {
  let server: TestServer
  let driver: Driver
  let at: OpenedDriver['at']
  useDriver('sc', (opened) => ({ driver, server, at } = opened))

  const value = (key: RecordKey, transaction?: TransactionHandle): Promise<unknown> => valueOf(driver, key, transaction)

  let embedded: EmbeddedServer
  const faults: Fault[] = []
  const disturb = async (options: FaultOptions): Promise<void> => void faults.push(await embedded.faults.add(options))

  before(function () {
    embedded = need(this, server.embedded, 'faults need the embedded server')
  })
  afterEach(async () => {
    const hits = await Promise.all(faults.splice(0).map((fault) => fault.hits()))
    await embedded.faults.clear()
    expect(hits).to.not.include(0)
  })

  const written = async (): Promise<TransactionHandle> => {
    const transaction = await driver.begin()
    await driver.run([put(at(1), 1), put(at(2), 2)], { transaction })
    return transaction
  }

  it('a transaction that only read is committed', async () => {
    const transaction = await driver.begin()
    await value(at(1), transaction)
    expect((await driver.commit(transaction)).state).to.equal('committed')
  })

  it('an empty transaction is committed', async () => {
    expect((await driver.commit(await driver.begin())).state).to.equal('committed')
  })

  for (const after of [false, true]) {
    it(`a commit whose decision is lost ${after ? 'after' : 'before'} it took effect is repeated until it is decided`, async () => {
      const transaction = await written()
      await disturb({ kind: 'txn-commit', drop: true, after })
      expect((await driver.commit(transaction)).state).to.equal('committed')
      expect(await value(at(2))).to.equal(2)
    })
  }

  it('a commit that cannot be decided before the deadline is in doubt, and never aborted', async () => {
    const transaction = await written()
    await disturb({ kind: 'txn-commit', drop: true, after: true, times: 1000 })
    const outcome = await driver.commit(transaction, { deadline: 200 })
    expect(outcome.state).to.equal('inDoubt')
    expect(outcome.error?.name).to.equal('CommitInDoubtError')
    const seen = await embedded.commands.summary()
    expect(seen.log.slice(-20).some((one) => one.kind === 'txn-roll-back')).to.equal(false)
  })

  it('a commit whose decision was lost stays in doubt when the server has ended the transaction meanwhile', async () => {
    const transaction = await written()
    const fault = await embedded.faults.add({ kind: 'txn-commit', answer: 9, after: true, times: 1000 })
    const committing = driver.commit(transaction)
    while ((await fault.hits()) === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    await embedded.clock.advance(60)
    await embedded.faults.clear()
    expect((await committing).state).to.equal('inDoubt')
    expect(await value(at(2))).to.equal(2)
  })

  it('a commit whose clean-up is lost is committed', async () => {
    const transaction = await written()
    await disturb({ kind: 'txn-close', drop: true, times: 10 })
    expect((await driver.commit(transaction)).state).to.equal('committed')
  })

  it('an abort that the server does not answer does not throw', async () => {
    const transaction = await written()
    await disturb({ kind: 'txn-close', answer: 9, times: 10 })
    await driver.abort(transaction)
  })
})
