import { expect } from 'chai'
import type { EmbeddedServer } from 'skein/embedded'
import { remove, write } from '#src/plan/command.js'
import * as op from '#src/plan/operations.js'
import { connectTo, freshSet } from './set-up.js'
import { sharedServer } from '../shared-server.js'
import { need } from '../server.js'

describe('hazard 6: a batch write cannot check generations and repeats itself unasked', () => {
  let embedded: EmbeddedServer

  before(async function () {
    embedded = need(this, (await sharedServer()).embedded, 'counting commands needs the embedded server')
  })
  afterEach(() => embedded.faults.clear())

  it('sends a generation check as a command of its own', async () => {
    const driver = await connectTo(await sharedServer())
    const at = freshSet('test')
    const put = (key: number, generation?: number) =>
      write('Thing', at(key), [op.writeBin('x', key)], { exists: 'upsert', generation })
    await driver.run([1, 2, 3, 4].map((key) => put(key)))
    const seen = await embedded.commands.during(async () => {
      const outcomes = await driver.run([
        put(1, 1),
        put(2, 7),
        put(3),
        put(4),
        remove('Thing', at(5), { generation: 1 }),
      ])
      expect(outcomes.map((one) => one.reason ?? one.state)).to.deep.equal([
        'written',
        'generation',
        'written',
        'written',
        'missing',
      ])
    })
    expect(new Set(seen.log.map((one) => one.kind))).to.deep.equal(new Set(['write', 'batch', 'delete']))
    expect(seen.byKind.write?.commands).to.equal(2)
    await driver.close()
  })

  it('does not let the client repeat a batch: only the driver knows which rows may be', async () => {
    const driver = await connectTo(await sharedServer(), { retry: { attempts: 1 } })
    const at = freshSet('test')
    const fault = await embedded.faults.add({ kind: 'batch', drop: true, times: 100 })
    const outcomes = await driver.run(
      [1, 2].map((key) => write('Thing', at(key), [op.writeBin('x', key)], { exists: 'upsert' })),
    )
    expect(outcomes.map((one) => one.state)).to.deep.equal(['inDoubt', 'inDoubt'])
    expect(await fault.hits()).to.equal(1)
    await embedded.faults.clear()
    await driver.close()
  })
})
