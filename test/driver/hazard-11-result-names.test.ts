import { expect } from 'chai'
import type { SkeinError } from '#src/errors/index.js'
import { read, write } from '#src/plan/command.js'
import * as e from '#src/plan/expression.js'
import * as op from '#src/plan/operations.js'
import type { RecordKey } from '#src/plan/record-key.js'
import type { Driver } from '#src/driver/driver.js'
import { connectTo, freshSet } from './set-up.js'
import { sharedServer } from '../shared-server.js'

describe('hazard 11: of several operations on one bin only the last result comes back', () => {
  let driver: Driver
  let key: RecordKey

  before(async () => {
    const server = await sharedServer()
    driver = await connectTo(server)
    key = freshSet(server.namespaces[0])(1)
    await driver.run([
      write('Thing', key, [op.writeBin('l', [3, 1, 2]), op.writeBin('x', 'old')], { exists: 'upsert' }),
    ])
  })
  after(() => driver?.close())

  const failure = async (work: Promise<unknown>): Promise<SkeinError> =>
    (await work.then(
      () => undefined,
      (error: unknown) => error,
    )) as SkeinError

  it('refuses commands whose results would hide one another', async () => {
    const twice = read('Thing', key, 'all', [op.listSize('l'), op.listGetIndexRange('l', 0, 1)])
    expect((await failure(driver.readOne(twice))).code).to.equal('SKEIN_5001')
    expect((await failure(driver.read([twice, read('Thing', key)]))).code).to.equal('SKEIN_5001')
    const readAndWrite = write('Thing', key, [op.readBin('x'), op.writeBin('x', 'new')], { exists: 'mustExist' })
    expect((await failure(driver.run([readAndWrite]))).code).to.equal('SKEIN_5001')
    expect((await driver.readOne(read('Thing', key)))?.bins.x).to.equal('old')
  })

  it('gives both results under names of their own', async () => {
    const both = read('Thing', key, 'all', [
      op.readExpression('size', e.listSize(e.bin('list', 'l'))),
      op.listGetIndexRange('l', 0, 1),
    ])
    expect((await driver.readOne(both))?.bins).to.deep.equal({ size: 3, l: [3] })
  })
})
