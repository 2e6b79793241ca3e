import { deepStrictEqual } from 'node:assert'
import { expect } from 'chai'
import fc from 'fast-check'
import { read, write, type WriteOptions } from '#src/plan/command.js'
import type { Operation } from '#src/plan/operation.js'
import type { RecordKey } from '#src/plan/record-key.js'
import type { Driver } from '#src/driver/driver.js'
import { connectTo, freshSet } from '../driver/set-up.js'
import type { TestServer } from '../server.js'
import { sharedServer } from '../shared-server.js'
import { randomModel } from './random-model.js'

/** Names that a server takes as bins. */
const binName = fc.stringMatching(/^[a-z]{2,10}$/)

describe('codecs on a server, through the official client', () => {
  let server: TestServer
  let driver: Driver
  let at: (key: number) => RecordKey
  let next = 0

  before(async () => {
    server = await sharedServer()
    at = freshSet(server.namespaces[0])
    driver = await connectTo(server)
  })
  after(() => driver?.close())

  const send = async (
    key: RecordKey,
    operations: readonly Operation[],
    exists: WriteOptions['exists'],
  ): Promise<void> => {
    const [{ state, error }] = await driver.run([write('Entity', key, operations, { exists })])
    expect(state, error?.message).to.equal('written')
  }

  it('store every entity, bring it back, and turn it into any other by its changes alone (property)', async () => {
    const example = randomModel(binName).chain((model) =>
      fc.record({ model: fc.constant(model), before: model.entity, after: model.entity }),
    )
    await fc.assert(
      fc.asyncProperty(example, async ({ model: { generated: codec }, before, after }) => {
        const key = at(next++)
        await send(key, codec.create(before), 'mustNotExist')
        const loaded = codec.hydrate((await driver.readOne(read('Entity', key)))!.bins)
        deepStrictEqual(loaded, before)
        const changes = codec.diff(after, codec.snapshot(loaded))
        if (changes.length > 0) await send(key, changes, 'mustExist')
        deepStrictEqual(codec.hydrate((await driver.readOne(read('Entity', key)))!.bins), after)
      }),
      { numRuns: 150 },
    )
  })
})
