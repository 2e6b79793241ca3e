import { expect } from 'chai'
import { holds, read, versionIs, write } from '#src/plan/command.js'
import * as e from '#src/plan/expression.js'
import * as op from '#src/plan/operations.js'
import type { RecordKey } from '#src/plan/record-key.js'
import { clientOperation } from '#src/driver/client-operations.js'
import type { Driver } from '#src/driver/driver.js'
import { PendingWrite } from '#src/driver/pending-write.js'
import { connectTo, freshSet } from './set-up.js'
import { sharedServer } from '../shared-server.js'

describe('hazards 12 and 14: the client compiles expressions slowly, and some of them wrongly', () => {
  let driver: Driver
  let at: (key: string) => RecordKey

  before(async () => {
    const server = await sharedServer()
    driver = await connectTo(server)
    at = freshSet(server.namespaces[0])
  })
  after(() => driver?.close())

  it('gives the client ready-made expressions only', () => {
    const guarded = write('Thing', at('a'), [op.writeBin('x', 1)], {
      exists: 'mustExist',
      guards: [versionIs('v', 1), holds(e.binExists('y'))],
    })
    expect(new PendingWrite(guarded, false).filter).to.be.a('string')
    expect(clientOperation(op.readExpression('n', e.recordSize())))
      .to.have.property('exp')
      .that.is.a('string')
  })

  it('nests calls of any kind', async () => {
    await driver.run([
      write('Thing', at('a'), [op.writeBin('n', 5), op.writeBin('l', ['a', 'b']), op.writeBin('m', { k: 7 })], {
        exists: 'upsert',
      }),
    ])
    const list = e.bin('list', 'l')
    const map = e.bin('map', 'm')
    const results = await driver.readOne(
      read('Thing', at('a'), 'all', [
        op.readExpression(
          'sum',
          e.add(e.bin('int', 'n'), e.add(e.value(1), e.listSize(list)), e.mapGet(map, 'k', 'int')),
        ),
        op.readExpression(
          'has',
          e.and(e.eq(e.listCount(list, 'b'), e.value(1)), e.eq(e.mapCount(map, 'zz'), e.value(0))),
        ),
        op.readExpression('pick', e.cond(e.binExists('gone'), e.value('yes'), e.value('no'))),
        op.readExpression('none', e.bin('int', 'gone')),
      ]),
    )
    expect(results?.bins).to.deep.include({ sum: 15, has: true, pick: 'no' })
    expect(results?.bins.none ?? null).to.equal(null)
  })
})
