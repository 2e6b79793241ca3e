import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect } from 'chai'
import { read, remove, versionIs, write } from '#src/plan/command.js'
import type { Operation } from '#src/plan/operation.js'
import * as op from '#src/plan/operations.js'
import { recordKey, type RecordKey } from '#src/plan/record-key.js'
import type { SkeinError } from '#src/errors/index.js'
import type { Driver } from '#src/driver/driver.js'
import type { TransactionEvent } from '#src/driver/events.js'
import type { Outcome, TransactionHandle } from '#src/driver/outcome.js'
import { connectTo, type OpenedDriver, put, useDriver, valueOf } from './set-up.js'
import { needMode, type TestServer } from '../server.js'
import { rejection } from '../session/rejection.js'

describe('transactions', () => {
  let server: TestServer
  let driver: Driver
  let at: OpenedDriver['at']
  useDriver('sc', (opened) => ({ driver, server, at } = opened))

  const value = (key: RecordKey, transaction?: TransactionHandle): Promise<unknown> => valueOf(driver, key, transaction)
  const thrown = (work: Promise<unknown>): Promise<SkeinError> => rejection(() => work) as Promise<SkeinError>

  it('commit everything at once', async () => {
    const transaction = await driver.begin()
    await driver.run([put(at(1), 1), put(at(2), 2), put(at(3), 3)], { transaction })
    expect(await value(at(1))).to.equal(undefined)
    expect(await value(at(1), transaction)).to.equal(1)
    expect(transaction).to.deep.include({ namespace: server.sc, writes: 3, isOpen: true })
    expect(await driver.commit(transaction)).to.deep.equal({ state: 'committed' })
    expect(await Promise.all([1, 2, 3].map((key) => value(at(key))))).to.deep.equal([1, 2, 3])
    expect(transaction.isOpen).to.equal(false)
  })

  it('undo everything on abort', async () => {
    await driver.run([put(at(1), 1)])
    const transaction = await driver.begin()
    await driver.run([put(at(1), 100), put(at(2), 2)], { transaction })
    await driver.run([remove('Thing', at(1))], { transaction })
    await driver.abort(transaction)
    expect(await value(at(1))).to.equal(1)
    expect(await value(at(2))).to.equal(undefined)
  })

  it('read many records in one call, and see their own writes', async () => {
    await driver.run([put(at(1), 1), put(at(2), 2)])
    const transaction = await driver.begin()
    await driver.run([put(at(2), 20)], { transaction })
    const found = await driver.read(
      [1, 2, 3].map((key) => read('Thing', at(key))),
      { transaction },
    )
    expect(found.map((one) => one?.bins.x)).to.deep.equal([1, 20, undefined])
    await driver.abort(transaction)
  })

  it('report a conflict with another transaction at once, without retries of their own', async () => {
    const [first, second] = [await driver.begin(), await driver.begin()]
    await driver.run([put(at(1), 1)], { transaction: first })
    const [outcome] = await driver.run([put(at(1), 2)], { transaction: second })
    expect(outcome).to.deep.include({ state: 'notWritten', reason: 'conflict' })
    expect(outcome.error?.code).to.equal('SKEIN_4305')
    await driver.abort(second)
    expect((await driver.commit(first)).state).to.equal('committed')
  })

  it('report a read that another transaction blocks', async () => {
    await driver.run([put(at(1), 1), put(at(2), 2)])
    const [first, second] = [await driver.begin(), await driver.begin()]
    await driver.run([put(at(1), 10)], { transaction: first })
    const error = await thrown(driver.read([read('Thing', at(2)), read('Thing', at(1))], { transaction: second }))
    expect(error.code).to.equal('SKEIN_4305')
    await Promise.all([driver.abort(first), driver.abort(second)])
  })

  it('do not begin work that was aborted before', async () => {
    const transaction = await driver.begin()
    const signal = AbortSignal.abort(new Error('early'))
    expect((await thrown(driver.run([put(at(1), 1)], { transaction, signal }))).message).to.equal('early')
    expect((await thrown(driver.read([read('Thing', at(1))], { transaction, signal }))).message).to.equal('early')
    await driver.abort(transaction)
  })

  it('are not committed when a record they read has changed', async () => {
    await driver.run([put(at(1), 1)])
    const transaction = await driver.begin()
    await value(at(1), transaction)
    await driver.run([put(at(2), 2)], { transaction })
    await driver.run([put(at(1), 9)])
    const outcome = await driver.commit(transaction)
    expect(outcome.state).to.equal('aborted')
    expect(outcome.error?.code).to.equal('SKEIN_4305')
    expect(await value(at(2))).to.equal(undefined)
  })

  it('keep guards and outcomes', async () => {
    await driver.run([write('Thing', at(1), [op.writeBin('v', 1)], { exists: 'mustNotExist' })])
    const transaction = await driver.begin()
    const outcomes = await driver.run(
      [
        write('Thing', at(1), [op.addToBin('v', 1)], { exists: 'mustExist', guards: [versionIs('v', 1)] }),
        put(at(2), 2, { exists: 'mustExist' }),
        remove('Thing', at(3)),
        write('Thing', at(4), [op.writeBin('x', 4)], { exists: 'mustNotExist', watchSize: true }),
      ],
      { transaction },
    )
    expect(outcomes.map((one) => one.reason ?? one.state)).to.deep.equal(['written', 'missing', 'missing', 'written'])
    const [stale] = await driver.run([put(at(1), 0, { exists: 'mustExist', guards: [versionIs('v', 7)] })], {
      transaction,
    })
    expect(stale.reason).to.equal('guard')
    expect((await driver.commit(transaction)).state).to.equal('committed')
  })

  it('wait for their commands before they end', async () => {
    const transaction = await driver.begin()
    const running = driver.run([put(at(1), 1), put(at(2), 2)], { transaction })
    const committed = driver.commit(transaction)
    expect((await running).map((one) => one.state)).to.deep.equal(['written', 'written'])
    expect((await committed).state).to.equal('committed')
    expect(await value(at(2))).to.equal(2)
  })

  it('cannot be used once they are over', async () => {
    const transaction = await driver.begin()
    await driver.commit(transaction)
    expect((await thrown(driver.run([put(at(1), 1)], { transaction }))).code).to.equal('SKEIN_4304')
    expect((await thrown(driver.read([read('Thing', at(1))], { transaction }))).code).to.equal('SKEIN_4304')
    expect((await thrown(driver.commit(transaction))).code).to.equal('SKEIN_4304')
    expect((await thrown(driver.abort(transaction))).code).to.equal('SKEIN_4304')
  })

  it('tell when they have ended', async () => {
    const events: TransactionEvent[] = []
    const listen = (event: unknown): void => void events.push(event as TransactionEvent)
    subscribe('skein:transaction', listen)
    const transaction = await driver.begin()
    await driver.run([put(at(1), 1), put(at(2), 1)], { transaction })
    await driver.commit(transaction)
    await driver.abort(await driver.begin())
    unsubscribe('skein:transaction', listen)
    expect(events.map((one) => [one.state, one.writes])).to.deep.equal([
      ['committed', 2],
      ['aborted', 0],
    ])
  })

  it('are refused in a namespace that has none', async function () {
    const other = recordKey(needMode(this, server, 'ap'), 'thing', 1)
    const transaction = await driver.begin()
    expect((await thrown(driver.run([put(other, 1)], { transaction }))).code).to.equal('SKEIN_4301')
    await driver.abort(transaction)
  })

  it('are bounded: one more than allowed waits for another to end', async () => {
    const narrow = await connectTo(server, { limits: { transactions: 2 } })
    const [first] = [await narrow.begin(), await narrow.begin()]
    let third: TransactionHandle | undefined
    const waiting = narrow.begin().then((begun) => (third = begun))
    await new Promise((resolve) => setImmediate(resolve))
    expect(third).to.equal(undefined)
    await narrow.abort(first)
    expect((await waiting).isOpen).to.equal(true)
    await narrow.close()
  })

  it('that are still open when the database closes are aborted', async () => {
    const other = await connectTo(server)
    const transaction = await other.begin()
    const outcomes: Outcome[] = await other.run([put(at(1), 1)], { transaction })
    expect(outcomes[0].state).to.equal('written')
    await other.close()
    const after: Operation[] = [op.writeBin('x', 5)]
    expect((await driver.run([write('Thing', at(1), after, { exists: 'mustNotExist' })]))[0].state).to.equal('written')
  })
})
