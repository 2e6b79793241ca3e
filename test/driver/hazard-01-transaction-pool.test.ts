import { expect } from 'chai'
import { needMode } from '../server.js'
import { runProgram } from './run-program.js'
import { freshSet } from './set-up.js'
import { sharedServer } from '../shared-server.js'

describe('hazard 1: the client frees transactions that are still in use', () => {
  it('500 at once, thousands in all, some aborted and some in conflict: no crash, nothing left, nothing lost', async function () {
    const server = await sharedServer()
    const namespace = needMode(this, server, 'sc')
    const { set } = freshSet(namespace)(1)
    const printed = await runProgram('many-transactions', [server.hosts, namespace, set, '6', '500'])
    const seen = JSON.parse(printed) as Record<string, number>
    expect(seen).to.deep.include({ pooled: 0, reserved: 0 })
    expect(seen.committed).to.be.above(100)
    expect(seen.counted).to.equal(seen.committed)
  })
})
