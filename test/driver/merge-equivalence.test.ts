import { expect } from 'chai'
import fc from 'fast-check'
import { read, write, type WriteCommand } from '#src/plan/command.js'
import { mergeCommands } from '#src/plan/merge-commands.js'
import type { Operation } from '#src/plan/operation.js'
import * as op from '#src/plan/operations.js'
import type { RecordKey } from '#src/plan/record-key.js'
import type { Driver } from '#src/driver/driver.js'
import { connectTo, freshSet } from './set-up.js'
import { sharedServer } from '../shared-server.js'

const small = fc.integer({ min: 0, max: 4 })
const values = fc.array(small, { minLength: 1, maxLength: 3 })
const mapKey = fc.constantFrom('a', 'b', 'c')
const operation: fc.Arbitrary<Operation> = fc.oneof(
  fc.tuple(fc.constantFrom('x', 'y'), small).map(([bin, value]) => op.writeBin(bin, value)),
  fc.constantFrom('x', 'y').map((bin) => op.removeBin(bin)),
  small.map((delta) => op.addToBin('n', delta)),
  values.map((list) => op.listAppendUnique('l', list)),
  values.map((list) => op.listRemoveValues('l', list)),
  values.map((list) => op.listAppend('raw', list, 'unordered')),
  fc.tuple(mapKey, small).map(([key, value]) => op.mapPut('m', key, value)),
  fc.array(mapKey, { minLength: 1, maxLength: 2 }).map((keys) => op.mapRemoveKeys('m', keys)),
  fc.tuple(mapKey, small).map(([key, value]) => op.mapPut('nested', key, value, [op.atKey('in')])),
)

describe('merged commands', () => {
  let driver: Driver
  let at: (key: string) => RecordKey

  before(async () => {
    const server = await sharedServer()
    driver = await connectTo(server)
    at = freshSet(server.namespaces[0])
  })
  after(() => driver?.close())

  it('leave the same record behind as the commands one after the other', async () => {
    const start = [op.writeBin('id', 1), op.writeBin('nested', { in: { a: 0 } })]
    let run = 0
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(operation, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 6 }),
        async (changes) => {
          run++
          const [apart, together] = [at(`a${run}`), at(`t${run}`)]
          await driver.run([apart, together].map((key) => write('Thing', key, start, { exists: 'mustNotExist' })))
          const commands = (key: RecordKey): WriteCommand[] =>
            changes.map((operations) => write('Thing', key, operations, { exists: 'mustExist' }))
          for (const command of commands(apart)) expect((await driver.runOne(command)).state).to.equal('written')
          const merged = mergeCommands(commands(together)) as WriteCommand[]
          expect(merged).to.have.length(1)
          expect((await driver.runOne(merged[0])).state).to.equal('written')
          const [one, other] = await driver.read([read('Thing', apart), read('Thing', together)])
          expect(other?.bins).to.deep.equal(one?.bins)
        },
      ),
      { numRuns: 150 },
    )
  })
})
