import { expect } from 'chai'
import type { EmbeddedServer, Fault, FaultOptions } from 'skein/embedded'
import { binEquals, read, remove, versionIs, write, type WriteCommand, type WriteOptions } from '#src/plan/command.js'
import * as e from '#src/plan/expression.js'
import type { Operation } from '#src/plan/operation.js'
import * as op from '#src/plan/operations.js'
import type { RecordKey } from '#src/plan/record-key.js'
import type { Driver } from '#src/driver/driver.js'
import type { Outcome } from '#src/driver/outcome.js'
import { Tries } from '#src/driver/retry.js'
import { connectTo, freshSet } from './set-up.js'
import { sharedServer } from '../shared-server.js'
import { need } from '../server.js'

describe('when the server falters', () => {
  let embedded: EmbeddedServer
  let driver: Driver
  let at: (key: string | number) => RecordKey
  const faults: Fault[] = []
  const disturb = async (options: FaultOptions): Promise<Fault> => {
    const fault = await embedded.faults.add(options)
    faults.push(fault)
    return fault
  }

  before(async function () {
    const server = await sharedServer()
    embedded = need(this, server.embedded, 'faults need the embedded server')
  })
  // A driver that has just seen a node fail sends differently.
  beforeEach(async () => {
    driver = await connectTo(await sharedServer(), { retry: { backoff: 1 } })
    at = freshSet('test')
  })
  afterEach(async () => {
    // A fault that nothing met would make its test pass for the wrong reason.
    const hits = await Promise.all(faults.splice(0).map((fault) => fault.hits()))
    await embedded.faults.clear()
    await driver.close()
    expect(hits).to.not.include(0)
  })

  const thing = (key: RecordKey, operations: Operation[], options: Partial<WriteOptions> = {}): WriteCommand =>
    write('Thing', key, operations, { exists: 'upsert', ...options })
  const save = async (...args: Parameters<typeof thing>): Promise<Outcome> => (await driver.run([thing(...args)]))[0]
  const bins = async (key: RecordKey): Promise<unknown> => (await driver.readOne(read('Thing', key)))?.bins

  for (const code of [9, 14, 18, 120]) {
    it(`reads again after code ${code}`, async () => {
      await save(at(1), [op.writeBin('x', 1)])
      const fault = await disturb({ kind: 'read', set: at(1).set, answer: code, times: 3 })
      expect(await bins(at(1))).to.deep.equal({ x: 1 })
      expect(await fault.hits()).to.equal(3)
    })

    it(`writes again after code ${code}`, async () => {
      const fault = await disturb({ kind: 'write', set: at(1).set, answer: code, times: 3 })
      expect((await save(at(1), [op.writeBin('x', 1)])).state).to.equal('written')
      expect(await fault.hits()).to.equal(3)
    })
  }

  it('reads and writes again when the connection is lost', async () => {
    await disturb({ kind: 'write', set: at(1).set, drop: true, times: 2 })
    expect((await save(at(1), [op.writeBin('x', 1)])).state).to.equal('written')
    await disturb({ kind: 'read', set: at(1).set, drop: true, times: 2 })
    expect(await bins(at(1))).to.deep.equal({ x: 1 })
  })

  it('tries again only the rows of a batch that failed', async () => {
    const keys = [1, 2, 3, 4, 5].map(at)
    const fault = await disturb({ kind: 'write', set: at(3).set, key: 3, answer: 14, times: 2 })
    const options = { exists: 'mustNotExist', watchGeneration: true } as const
    const outcomes = await driver.run(keys.map((key) => thing(key, [op.writeBin('x', 1)], options)))
    expect(outcomes.map((one) => one.state)).to.deep.equal(Array(5).fill('written'))
    expect(outcomes.map((one) => one.generation)).to.deep.equal(Array(5).fill(1))
    expect(await fault.hits()).to.equal(2)
  })

  it('asks once what is stored instead of an expected version: the conflict is known without it', async () => {
    await save(at(1), [op.writeBin('v', 1)])
    const fault = await disturb({ kind: 'read', set: at(1).set, answer: 18, times: 100 })
    const outcome = await save(at(1), [op.writeBin('x', 1)], { exists: 'mustExist', guards: [versionIs('v', 7)] })
    expect(outcome).to.include({ state: 'notWritten', reason: 'guard' })
    expect(await fault.hits()).to.equal(1)
  })

  it('reads a lost write back until the deadline of the write, not longer', () => {
    const options = { attempts: Infinity, deadline: 10_000, backoff: 1, longestWait: 1 }
    expect(new Tries(performance.now() - 20_000).next(options)).to.equal(undefined)
    expect(new Tries(performance.now() - 5_000).next(options)).to.be.a('number')
  })

  it('gives up after the allowed tries, and says it was not written', async () => {
    const fault = await disturb({ kind: 'write', set: at(1).set, answer: 18, times: 100 })
    const outcome = await save(at(1), [op.writeBin('x', 1)])
    expect(outcome).to.deep.include({ state: 'notWritten', reason: 'unavailable' })
    expect(outcome.error?.code).to.equal('SKEIN_4202')
    expect(await fault.hits()).to.equal(5)
  })

  it('gives up on a read, and says why', async () => {
    await disturb({ kind: 'read', set: at(1).set, answer: 18, times: 100 })
    const error: unknown = await bins(at(1)).catch((thrown: unknown) => thrown)
    expect(error).to.deep.include({ name: 'SkeinError', code: 'SKEIN_4202' })
  })

  it('does not try again what the server refuses for good', async () => {
    const fault = await disturb({ kind: 'write', set: at(1).set, answer: 4, times: 100 })
    expect((await save(at(1), [op.writeBin('x', 1)])).error?.code).to.equal('SKEIN_4204')
    expect(await fault.hits()).to.equal(1)
  })

  // Every way to lose an answer, alone and in a batch, of which one row or the whole may be lost.
  const record = (): FaultOptions => ({ kind: ['write', 'delete'], set: at(1).set, key: 1 })
  const losses: [string, boolean, () => FaultOptions][] = [
    ['by a lost connection', true, () => ({ ...record(), drop: true })],
    ['by a time-out on the server', true, () => ({ ...record(), answer: 9 })],
    ['by a lost connection, in a batch', false, () => ({ ...record(), drop: true })],
    ['by a time-out of one row of a batch', false, () => ({ ...record(), answer: 9 })],
    ['by a time-out of a batch', false, () => ({ kind: 'batch', answer: 9 })],
  ]
  for (const [how, alone, loss] of losses) {
    describe(`and an answer is lost ${how}`, () => {
      const loseAnswer = (when: 'before' | 'after'): Promise<unknown> => disturb({ ...loss(), after: when === 'after' })
      const run = async (command: Parameters<Driver['run']>[0][number]): Promise<Outcome> => {
        const other = thing(at('other'), [op.writeBin('x', 1)])
        return (await driver.run(alone ? [command] : [command, other]))[0]
      }

      it('repeats an idempotent write', async () => {
        await loseAnswer('after')
        expect((await run(thing(at(1), [op.listAppendUnique('l', ['a'])]))).state).to.equal('written')
        expect(await bins(at(1))).to.deep.equal({ l: ['a'] })
      })

      it('repeats a delete', async () => {
        await save(at(1), [op.writeBin('x', 1)])
        await loseAnswer('after')
        expect((await run(remove('Thing', at(1)))).state).to.equal('written')
        expect(await bins(at(1))).to.equal(undefined)
      })

      for (const when of ['before', 'after'] as const) {
        it(`finds out about a create that was lost ${when} it took effect`, async () => {
          await loseAnswer(when)
          const create = thing(at(1), [op.writeBin('x', 1), op.listAppendUnique('l', ['a'])], {
            exists: 'mustNotExist',
          })
          // Somebody else may have created the very same: that it is there does not show whose it is.
          expect((await run(create)).state).to.equal(when === 'after' ? 'inDoubt' : 'written')
          expect(await driver.readOne(read('Thing', at(1)))).to.deep.include({
            generation: 1,
            bins: { x: 1, l: ['a'] },
          })
        })

        it(`finds out about a create under a key made for it that was lost ${when} it took effect`, async () => {
          await loseAnswer(when)
          const key = { ...at(1), isMade: true as const }
          const create = thing(key, [op.writeBin('x', 1)], { exists: 'mustNotExist' })
          expect((await run(create)).state).to.equal('written')
          expect(await bins(at(1))).to.deep.equal({ x: 1 })
        })

        it(`finds out about a versioned write that was lost ${when} it took effect`, async () => {
          await save(at(1), [op.writeBin('v', 1)])
          await loseAnswer(when)
          const change = thing(at(1), [op.writeBin('x', 'mine'), op.addToBin('v', 1)], {
            exists: 'mustExist',
            guards: [versionIs('v', 1)],
          })
          expect((await run(change)).state).to.equal(when === 'after' ? 'inDoubt' : 'written')
          expect(await bins(at(1))).to.deep.equal({ x: 'mine', v: 2 })
        })

        it(`finds out about a compare-and-set that was lost ${when} it took effect`, async () => {
          await save(at(1), [op.writeBin('owner', 'ann')])
          await loseAnswer(when)
          const move = thing(at(1), [op.writeBin('owner', 'bob')], {
            exists: 'mustExist',
            guards: [binEquals('owner', 'ann')],
          })
          expect((await run(move)).state).to.equal('written')
          expect(await bins(at(1))).to.deep.equal({ owner: 'bob' })
        })
      }
    })
  }

  for (const code of [8, 22])
    for (const alone of [true, false])
      describe(`a write whose answer was lost, and that is refused with ${code} when it is repeated, ${alone ? 'alone' : 'in a batch'}`, () => {
        const change = async (after: boolean, guards: WriteOptions['guards'] = []): Promise<Outcome> => {
          await driver.run([1, 2].map((key) => thing(at(key), [op.writeBin('l', ['a'])])))
          await disturb({ kind: 'write', set: at(1).set, key: 1, answer: 9, after, times: 1 })
          await disturb({ kind: 'write', set: at(1).set, key: 1, answer: code, times: 1 })
          const keys = alone ? [1] : [1, 2]
          const [outcome] = await driver.run(
            keys.map((key) => thing(at(key), [op.writeBin('l', ['b'])], { exists: 'mustExist', guards })),
          )
          return outcome
        }

        it('is written where the record shows it', async () => {
          expect((await change(true)).state).to.equal('written')
          expect(await bins(at(1))).to.deep.equal({ l: ['b'] })
        })

        it('is in doubt where the record does not: somebody may have changed that since', async () => {
          const { state, error } = await change(false)
          expect([state, error?.code]).to.deep.equal(['inDoubt', 'SKEIN_4206'])
          expect(error?.message).to.include(`code ${code}`)
          expect(await bins(at(1))).to.deep.equal({ l: ['a'] })
        })

        it('is not written where its condition still holds', async () => {
          const { state, error } = await change(false, [binEquals('none', null)])
          expect([state, error?.code]).to.deep.equal(['notWritten', 'SKEIN_4204'])
        })
      })

  it('never repeats an increment, but reports it as in doubt', async () => {
    const fault = await disturb({ kind: 'write', set: at(1).set, drop: true, after: true })
    const outcome = await save(at(1), [op.addToBin('n', 1)])
    expect(outcome).to.deep.include({ state: 'inDoubt' })
    expect(outcome.error?.code).to.equal('SKEIN_4206')
    expect(await fault.hits()).to.equal(1)
    expect(await bins(at(1))).to.deep.equal({ n: 1 })
  })

  it('repeats an increment that was certainly not applied', async () => {
    await disturb({ kind: 'write', set: at(1).set, answer: 14 })
    expect((await save(at(1), [op.addToBin('n', 1)])).state).to.equal('written')
    expect(await bins(at(1))).to.deep.equal({ n: 1 })
  })

  it('never repeats a write that returns the value it replaces', async () => {
    await save(at(1), [op.writeBin('x', 'old')])
    await disturb({ kind: 'write', set: at(1).set, drop: true, after: true })
    const swap = await save(at(1), [op.readExpression('old', e.bin('str', 'x')), op.writeBin('x', 'new')], {
      exists: 'mustExist',
    })
    expect(swap.state).to.equal('inDoubt')
  })

  it('sees that another writer won while the answer was lost', async () => {
    await save(at(1), [op.writeBin('v', 1)])
    await disturb({ kind: 'write', set: at(1).set, drop: true, skip: 1 })
    await save(at(1), [op.writeBin('x', 'theirs'), op.writeBin('v', 2)])
    const mine = await save(at(1), [op.writeBin('x', 'mine'), op.addToBin('v', 1)], {
      exists: 'mustExist',
      guards: [versionIs('v', 1)],
    })
    expect(mine).to.deep.include({ state: 'notWritten', reason: 'guard' })
    expect(mine.error).to.deep.include({ name: 'VersionConflictError', expected: 1, stored: 2 })
    expect(await bins(at(1))).to.deep.equal({ x: 'theirs', v: 2 })
  })

  it('leaves a create in doubt when another record is there afterwards', async () => {
    await save(at(1), [op.writeBin('x', 'theirs')])
    await disturb({ kind: 'write', set: at(1).set, drop: true })
    const mine = await save(at(1), [op.writeBin('x', 'mine')], { exists: 'mustNotExist' })
    expect(mine.state).to.equal('inDoubt')
    expect(await bins(at(1))).to.deep.equal({ x: 'theirs' })
  })

  it('says in doubt when neither the write nor the read back is answered', async () => {
    await disturb({ set: at(1).set, drop: true, times: 100 })
    const outcome = await save(at(1), [op.writeBin('x', 1)], { exists: 'mustNotExist' })
    expect(outcome).to.deep.include({ state: 'inDoubt' })
    expect(outcome.error?.code).to.equal('SKEIN_4206')
  })
})
