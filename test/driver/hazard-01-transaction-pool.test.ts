import { expect } from 'chai'
import { need } from '../server.js'
import { runProgram } from './run-program.js'
import { sharedServer } from './set-up.js'

describe('hazard 1: the client frees transactions that are still in use', () => {
  it('500 at once, thousands in all, some aborted and some in conflict: no crash, nothing left, nothing lost', async function () {
    const server = await sharedServer()
    const namespace = need(this, server.sc, 'the server has no strongly consistent namespace')
    const seen = JSON.parse(await runProgram('many-transactions', [server.hosts, namespace, '6', '500'])) as Record<
      string,
      number
    >
    expect(seen).to.deep.include({ pooled: 0, reserved: 0 })
    expect(seen.committed).to.be.above(100)
    expect(seen.counted).to.equal(seen.committed)
  })
})
