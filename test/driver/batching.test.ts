import { expect } from 'chai'
import type { EmbeddedServer } from 'skein/embedded'
import { read, write, type WriteCommand } from '#src/plan/command.js'
import * as op from '#src/plan/operations.js'
import type { RecordKey } from '#src/plan/record-key.js'
import type { Driver } from '#src/driver/driver.js'
import type { Outcome } from '#src/driver/outcome.js'
import { connectTo, freshSet } from './set-up.js'
import { sharedServer } from '../shared-server.js'
import { need } from '../server.js'

describe('natural batching', () => {
  let embedded: EmbeddedServer
  let driver: Driver
  let narrow: Driver
  let at: (key: number) => RecordKey
  const numbers = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

  before(async function () {
    const server = await sharedServer()
    embedded = need(this, server.embedded, 'counting commands needs the embedded server')
    driver = await connectTo(server)
    narrow = await connectTo(server, { limits: { batchRows: 10, batchBytes: 4000 } })
    at = freshSet('test')
    await driver.run(numbers(200).map((i) => put(i, i)))
  })
  after(async () => {
    await driver?.close()
    await narrow?.close()
  })

  const put = (key: number, x: number | string): WriteCommand =>
    write('Thing', at(key), [op.writeBin('x', x)], { exists: 'upsert' })
  const load = (key: number): Promise<unknown> => driver.readOne(read('Thing', at(key))).then((found) => found?.bins.x)
  const save = (command: WriteCommand): Promise<Outcome> => driver.run([command]).then(([outcome]) => outcome)

  it('sends a lone read or write as a plain command', async () => {
    const seen = await embedded.commands.during(async () => {
      await load(1)
      await save(put(1, 1))
    })
    expect(seen.log.map((one) => one.kind)).to.deep.equal(['read', 'write'])
  })

  it('sends what is asked for together as one batch', async () => {
    const reads = await embedded.commands.during(() => driver.read(numbers(100).map((i) => read('Thing', at(i)))))
    expect(reads).to.deep.include({ commands: 1, rows: 100 })
    const writes = await embedded.commands.during(() => driver.run(numbers(100).map((i) => put(i, i))))
    expect(writes).to.deep.include({ commands: 1, rows: 100 })
  })

  it('lets callers who know nothing of each other share round trips, and gives each its own answer', async () => {
    let answers: unknown[] = []
    const seen = await embedded.commands.during(async () => {
      answers = await Promise.all(numbers(64).map((i) => load(i)))
    })
    expect(answers).to.deep.equal(numbers(64))
    expect(seen.rows).to.equal(64)
    expect(seen.commands).to.be.at.most(10)
    const saved = await embedded.commands.during(() => Promise.all(numbers(64).map((i) => save(put(i, i)))))
    expect(saved.rows).to.equal(64)
    expect(saved.commands).to.be.at.most(10)
  })

  it('gives an error only to the caller whose record failed', async () => {
    const outcomes = await Promise.all(
      numbers(40).map((i) =>
        save(i === 20 ? write('Thing', at(9999), [op.writeBin('x', 1)], { exists: 'mustExist' }) : put(i, i)),
      ),
    )
    expect(outcomes.filter((one) => one.state === 'written')).to.have.length(39)
    expect(outcomes[20].reason).to.equal('missing')
  })

  it('refuses a value that cannot be sent without disturbing others', async () => {
    const bad = write('Thing', at(1), [op.writeBin('x', 'a\0b')], { exists: 'upsert' })
    const results = await Promise.allSettled([...numbers(30).map((i) => save(put(i, i))), save(bad)])
    expect(results.map((one) => one.status)).to.deep.equal([...Array<string>(30).fill('fulfilled'), 'rejected'])
  })

  it('never puts two commands for one record into one batch', async () => {
    const order = numbers(12).map((i) => save(put(500, i)))
    await Promise.all([...order, ...numbers(30).map((i) => save(put(i, i)))])
    const seen = await embedded.commands.during(() => Promise.all(numbers(12).map((i) => save(put(500, i)))))
    expect(seen).to.deep.include({ commands: 12, rows: 12 })
  })

  it('cuts a batch at the row limit', async () => {
    const seen = await embedded.commands.during(() => narrow.read(numbers(35).map((i) => read('Thing', at(i)))))
    expect(seen.log.map((one) => one.rows).sort()).to.deep.equal([10, 10, 10, 5])
  })

  it('cuts a batch at the byte limit', async () => {
    const large = numbers(6).map((i) => put(600 + i, 'x'.repeat(1500)))
    const seen = await embedded.commands.during(() => narrow.run(large))
    expect(seen.log.map((one) => one.rows)).to.deep.equal([2, 2, 2])
  })

  it('sends increments alone', async () => {
    const add = write('Thing', at(700), [op.addToBin('n', 1)], { exists: 'upsert' })
    const seen = await embedded.commands.during(() => Promise.all(numbers(20).map(() => save(add))))
    expect(new Set(seen.log.map((one) => one.kind))).to.deep.equal(new Set(['write']))
    expect((await driver.readOne(read('Thing', at(700))))?.bins).to.deep.equal({ n: 20 })
  })

  it('hazard 7: bounds the work in flight, so that 10,000 calls at once all succeed', async () => {
    const found = await Promise.all(numbers(10_000).map((i) => load(i % 200)))
    expect(found).to.deep.equal(numbers(10_000).map((i) => i % 200))
    const saved = await Promise.all(numbers(10_000).map((i) => save(put(1000 + i, i))))
    expect(saved.every((one) => one.state === 'written')).to.equal(true)
    const add = write('Thing', at(701), [op.addToBin('n', 1)], { exists: 'upsert' })
    await Promise.all(numbers(2_000).map(() => save(add)))
    expect((await driver.readOne(read('Thing', at(701))))?.bins).to.deep.equal({ n: 2_000 })
  })
})
