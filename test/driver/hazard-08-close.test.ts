import { expect } from 'chai'
import { runProgram } from './run-program.js'
import { sharedServer } from '../shared-server.js'

describe('hazard 8: closing a client with commands in flight ends the process', () => {
  it('waits for waiting, flying and raw commands, refuses later ones, and then closes', async () => {
    const server = await sharedServer()
    const seen = JSON.parse(await runProgram('close-while-busy', [server.hosts, server.namespaces[0]])) as unknown
    expect(seen).to.deep.equal({ done: 6020, late: 'SKEIN_4104' })
  })
})
