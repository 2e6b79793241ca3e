import { expect } from 'chai'
import type { SkeinError } from '#src/errors/index.js'
import { read, write } from '#src/plan/command.js'
import * as op from '#src/plan/operations.js'
import { limitsOf } from '#src/driver/options.js'
import { connectTo, freshSet } from './set-up.js'
import { sharedServer } from '../shared-server.js'
import { need, needMode } from '../server.js'

const thrown = async (work: Promise<unknown>): Promise<SkeinError> =>
  (await work.then(
    () => undefined,
    (error: unknown) => error,
  )) as SkeinError

describe('closing', () => {
  it('lets what was asked for before finish, retries included, and refuses what comes later', async function () {
    const server = await sharedServer()
    const embedded = need(this, server.embedded, 'needs a server that falters')
    const driver = await connectTo(server)
    const at = freshSet(server.namespaces[0])
    const fault = await embedded.faults.add({ kind: 'write', set: at(1).set, answer: 14, times: 2 })
    const saving = driver.runOne(write('Thing', at(1), [op.writeBin('x', 1)], { exists: 'upsert' }))
    const closing = driver.close()
    expect((await thrown(driver.readOne(read('Thing', at(1))))).code).to.equal('SKEIN_4104')
    expect((await thrown(driver.read([read('Thing', at(1))]))).code).to.equal('SKEIN_4104')
    expect((await thrown(driver.run([]))).code).to.equal('SKEIN_4104')
    expect((await thrown(driver.begin())).code).to.equal('SKEIN_4104')
    expect((await saving).state).to.equal('written')
    expect(await fault.hits()).to.equal(2)
    await closing
    await driver.close()
  })

  it('turns away callers that wait for a transaction', async function () {
    const server = await sharedServer()
    needMode(this, server, 'sc')
    const driver = await connectTo(server, { limits: { transactions: 1 } })
    await driver.begin()
    const waiting = thrown(driver.begin())
    await driver.close()
    expect((await waiting).code).to.equal('SKEIN_4104')
  })

  it('waits for a commit that is being repeated', async function () {
    const server = await sharedServer()
    const embedded = need(this, server.embedded, 'needs a server that falters')
    const driver = await connectTo(server)
    const at = freshSet(server.sc!)
    const transaction = await driver.begin()
    await driver.run([write('Thing', at(1), [op.writeBin('x', 1)], { exists: 'upsert' })], { transaction })
    const fault = await embedded.faults.add({ kind: 'txn-commit', drop: true, times: 2 })
    const committing = driver.commit(transaction)
    await driver.close()
    expect((await committing).state).to.equal('committed')
    expect(await fault.hits()).to.equal(2)
  })
})

describe('limits', () => {
  it('shrink with the connections the client may open', () => {
    expect(limitsOf({})).to.deep.include({ roundTrips: 4, alone: 40, spanning: 40 })
    expect(limitsOf({ maxConnsPerNode: 20 })).to.deep.include({ roundTrips: 4, alone: 11, spanning: 1 })
    expect(limitsOf({ maxConnsPerNode: 5 })).to.deep.include({ roundTrips: 1, alone: 2, spanning: 1 })
    expect(limitsOf({ maxConnsPerNode: 4 })).to.deep.include({ roundTrips: 1, alone: 1, spanning: 1 })
    expect(limitsOf({ maxConnsPerNode: 3 })).to.deep.include({ roundTrips: 1, alone: 1, spanning: 0 })
  })

  it('that are given are kept as far as there are connections for them', () => {
    expect(limitsOf({ limits: { alone: 30 } })).to.deep.include({ roundTrips: 4, alone: 30 })
    expect(limitsOf({ limits: { alone: 200 } })).to.deep.include({ roundTrips: 4, alone: 91 })
    expect(limitsOf({ limits: { roundTrips: 60 } })).to.deep.include({ roundTrips: 49, alone: 1 })
    expect(limitsOf({ limits: { roundTrips: Infinity, alone: 1 } })).to.deep.include({ roundTrips: 49, alone: 1 })
    expect(limitsOf({ limits: { alone: 200 }, maxConnsPerNode: 300 })).to.deep.include({ roundTrips: 4, alone: 200 })
    expect(limitsOf({ maxConnsPerNode: 4, limits: { alone: 30 } })).to.deep.include({ roundTrips: 1, alone: 1 })
  })

  it('keep a client with few connections from running out of them', async () => {
    const server = await sharedServer()
    const driver = await connectTo(server, { maxConnsPerNode: 5, retry: { attempts: 1 } })
    const at = freshSet(server.namespaces[0])
    const numbers = Array.from({ length: 200 }, (_, i) => i)
    const saved = await Promise.all(
      numbers.map((i) => driver.runOne(write('Thing', at(i), [op.addToBin('n', 1)], { exists: 'upsert' }))),
    )
    const found = await Promise.all(numbers.map((i) => driver.readOne(read('Thing', at(i)))))
    await driver.close()
    expect(saved.every((one) => one.state === 'written')).to.equal(true)
    expect(found.every((one) => one?.bins.n === 1)).to.equal(true)
  })
})
