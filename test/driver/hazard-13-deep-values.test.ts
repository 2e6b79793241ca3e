import { expect } from 'chai'
import { write } from '#src/plan/command.js'
import * as op from '#src/plan/operations.js'
import type { Operation } from '#src/plan/operation.js'
import type { SkeinError } from '#src/errors/index.js'
import type { Value } from '#src/plan/value.js'
import type { Driver } from '#src/driver/driver.js'
import { connectTo, freshSet } from './set-up.js'
import { sharedServer } from '../shared-server.js'
import type { TestServer } from '../server.js'

const circular: Value[] = []
circular.push(circular)
let deep: Value = 1
for (let i = 0; i < 100; i++) deep = { deeper: deep }
let deepList: Value = 1
for (let i = 0; i < 100; i++) deepList = [deepList]
class Money {
  cents = 5
}

describe('hazard 13: values that crash the client or are stored as garbage', () => {
  let server: TestServer
  let driver: Driver

  before(async () => {
    server = await sharedServer()
    driver = await connectTo(server)
  })
  after(() => driver?.close())

  const refused: Record<string, unknown> = {
    'a list that contains itself': circular,
    'an object nested 100 levels deep': deep,
    'a list nested 100 levels deep': deepList,
    'a map that contains a circular list': new Map([['a', circular]]),
    'a Date': new Date(),
    'a Set in a list': [new Set([1])],
    'an instance of a class': { price: new Money() },
    'a function': () => 1,
    'undefined in a list': [undefined],
    'a string with NUL': 'a\0b',
    'an object key with NUL': { 'a\0b': 1 },
    'a map with a boolean key': new Map([[true, 1]]),
    'a map with a fractional key': new Map([[1.5, 1]]),
    'an integer of 65 bits': [2n ** 64n],
  }
  for (const [name, value] of Object.entries(refused)) {
    it(`refuses ${name} before anything is sent`, async () => {
      const at = freshSet(server.namespaces[0])
      const places: Operation[] = [
        op.writeBin('x', value as Value),
        op.listAppendUnique('x', [value as Value]),
        op.mapPut('x', 'k', value as Value),
        op.mapPut('x', 'k', 1, [{ in: 'listValue', value: value as Value }]),
      ]
      for (const operation of places) {
        const error = (await driver.run([write('Thing', at(1), [operation], { exists: 'upsert' })]).then(
          () => undefined,
          (thrown: unknown) => thrown,
        )) as SkeinError
        expect(error).to.deep.include({ code: 'SKEIN_2290' })
        expect(error.message).to.contain(`'x'`)
      }
    })
  }

  it('takes what is deep but not absurd', async () => {
    let value: Value = 1
    for (let i = 0; i < 50; i++) value = i % 2 === 0 ? [value] : { deeper: value }
    const at = freshSet(server.namespaces[0])
    const [outcome] = await driver.run([write('Thing', at(1), [op.writeBin('x', value)], { exists: 'upsert' })])
    expect(outcome.state).to.equal('written')
  })
})
