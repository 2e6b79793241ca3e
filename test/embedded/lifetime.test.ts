import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import Aerospike from 'aerospike'
import { expect } from 'chai'
import { SkeinError } from 'skein'
import { startEmbedded } from 'skein/embedded'
import { connectOfficialClient } from './official-client.js'

const { Key } = Aerospike

describe('embedded server: start and stop', () => {
  it('runs two servers in one process that know nothing of each other', async () => {
    const [one, two] = [await connectOfficialClient(), await connectOfficialClient()]
    const key = new Key('test', 'demo', 1)
    expect(one.server.port).to.not.equal(two.server.port)
    await one.client.put(key, { a: 1 })
    expect(await two.client.exists(key)).to.equal(false)
    await two.server.clock.advance(10_000)
    await two.server.faults.add({ answer: 14, times: 100 })
    expect((await one.client.get(key)).bins).to.deep.equal({ a: 1 })
    await two.close()
    await one.client.put(key, { a: 2 })
    await one.close()
  })

  it('closes its connections when it stops, and stopping again does nothing', async () => {
    const server = await startEmbedded()
    const socket = connect(server.port, server.host)
    await once(socket, 'connect')
    // A reset is as good as an end here, and `once` would reject on it.
    const closed = new Promise((resolve) => socket.on('error', () => undefined).on('close', resolve))
    await server.stop()
    await closed
    await server.stop()
    expect(await rejection(server.commands.summary())).to.match(/^The embedded server has stopped\./)
    const late = connect(server.port, server.host)
    const [error] = (await once(late, 'error')) as [NodeJS.ErrnoException]
    expect(error.code).to.equal('ECONNREFUSED')
  })

  it('starts again on the port it had, without what it held', async () => {
    const first = await connectOfficialClient()
    const { port } = first.server
    const key = new Key('test', 'demo', 1)
    await first.client.put(key, { a: 1 })
    await first.close()
    const second = await connectOfficialClient({ port })
    expect(second.server.hosts).to.equal(`127.0.0.1:${port}`)
    expect(await second.client.exists(key)).to.equal(false)
    await second.close()
  })

  it('refuses a port that is taken', async () => {
    const server = await startEmbedded()
    const error = await startEmbedded({ port: server.port }).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(SkeinError).and.to.include({ code: 'SKEIN_4107' })
    expect((error as SkeinError).message)
      .to.contain(`${server.port} is in use`)
      .and.to.contain('port: 0')
    expect((error as SkeinError).cause).to.include({ code: 'EADDRINUSE' })
    await server.stop()
  })

  it('leaves nothing behind that keeps a process alive', async () => {
    const script = fileURLToPath(new URL('./stops-by-itself.js', import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, [script], { timeout: 100_000 })
    expect(stdout).to.equal('stopped\n')
  })
})

async function rejection(promise: Promise<unknown>): Promise<string | undefined> {
  try {
    await promise
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
