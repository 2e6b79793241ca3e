import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { Worker } from 'node:worker_threads'
import { inspect } from 'node:util'
import Aerospike from 'aerospike'
import { expect } from 'chai'
import { SkeinError } from '#src/errors/index.js'
import { parseNamespace } from '#src/driver/capabilities.js'
import { connect } from '#src/driver/connect.js'
import type { DriverOptions } from '#src/driver/options.js'
import { sharedServer } from '../shared-server.js'
import type { TestServer } from '../server.js'

async function failure(options: Partial<DriverOptions>): Promise<SkeinError> {
  const error: unknown = await connect({ namespaces: ['test'], ...options }).then(
    (driver) => driver.close(),
    (thrown: unknown) => thrown,
  )
  expect(error).to.be.instanceOf(SkeinError)
  return error as SkeinError
}

describe('connecting', () => {
  let server: TestServer
  before(async () => (server = await sharedServer()))

  it('reads what the server can do', async () => {
    const driver = await connect({ hosts: server.hosts, namespaces: server.namespaces })
    expect(driver.capabilities.build).to.match(/^\d+\.\d+/)
    expect(Object.keys(driver.capabilities.namespaces)).to.deep.equal(server.namespaces)
    for (const mode of ['sc', 'ap'] as const) {
      const name = server[mode]
      if (name !== undefined) {
        expect(driver.capabilities.namespaces[name].strongConsistency).to.equal(mode === 'sc')
        expect(driver.capabilities.namespaces[name].maxRecordSize).to.be.at.least(1024 * 1024)
      }
    }
    await driver.close()
  })

  it('says so when nobody listens', async () => {
    const error = await failure({ hosts: '127.0.0.1:1' })
    expect(error.code).to.equal('SKEIN_4101')
    expect(error.message).to.contain('127.0.0.1:1')
  })

  it('says why it failed, also when the client then refuses to be closed', async () => {
    const close = Object.getOwnPropertyDescriptor(Aerospike.Client.prototype, 'close')!
    Aerospike.Client.prototype.close = () => {
      throw new Error('Event loop is not initialized right now.')
    }
    try {
      expect((await failure({ hosts: '127.0.0.1:1' })).code).to.equal('SKEIN_4101')
    } finally {
      Object.defineProperty(Aerospike.Client.prototype, 'close', close)
    }
  })

  it('says so when the name is unknown or the hosts make no sense', async () => {
    expect((await failure({ hosts: 'no-such-host.invalid:3000' })).code).to.equal('SKEIN_4101')
    expect((await failure({ hosts: [] })).code).to.equal('SKEIN_4101')
    expect((await failure({ hosts: 'nonsense::' })).code).to.equal('SKEIN_4101')
  })

  it('gives up on a server that accepts and never answers', async () => {
    // The kernel accepts for the listener while connect() blocks this thread.
    const silent = createServer().listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const hosts = `127.0.0.1:${(silent.address() as AddressInfo).port}`
    expect((await failure({ hosts, connectTimeout: 300 })).code).to.equal('SKEIN_4101')
    silent.close()
  })

  it('names the namespaces there are when one is missing', async () => {
    const error = await failure({ hosts: server.hosts, namespaces: [server.namespaces[0], 'nope'] })
    expect(error.code).to.equal('SKEIN_4103')
    expect(error.message).to.contain(`'nope'`).and.contain(server.namespaces[0])
    expect(error.details.namespace).to.equal('nope')
  })

  it('says so when the login is refused, without showing the password', async () => {
    const worker = new Worker(new URL('./programs/refuse-login.js', import.meta.url))
    const [port] = (await once(worker, 'message')) as [number]
    const error = await failure({ hosts: `127.0.0.1:${port}`, user: 'ann', password: 'hunter2' })
    await worker.terminate()
    expect(error.code).to.equal('SKEIN_4102')
    expect(error.message).to.contain(`'ann'`)
    expect(inspect(error, { depth: 20, showHidden: true })).to.not.contain('hunter2')
  })

  const unusable: { [what: string]: object } = {
    'a policy that does not exist': { policies: { nonsense: {} } },
    'a value that a policy cannot have': { policies: { read: { totalTimeout: 'x' } } },
    'a file that is not there': { tls: { enable: true, cafile: '/nonexistent' } },
    'bounds that contradict each other': { minConnsPerNode: 9, maxConnsPerNode: 5 },
  }
  for (const [what, options] of Object.entries(unusable)) {
    it(`gives the client's own reason, and does not blame the connection, for ${what}`, async () => {
      const error = await failure({ hosts: server.hosts, namespaces: server.namespaces, ...options })
      expect(error.code).to.equal('SKEIN_2320')
      expect(error.message).to.contain((error.cause as Error).message)
    })
  }

  it('leaves nothing behind: a process that failed to connect ends by itself', async function () {
    const child = fork(new URL('./programs/failing-connects.js', import.meta.url), [server.hosts], { stdio: 'pipe' })
    let output = ''
    child.stdout?.on('data', (data) => (output += String(data)))
    child.stderr?.on('data', (data) => (output += String(data)))
    const [code] = (await once(child, 'exit')) as [number | null]
    expect(output.trim()).to.equal('SKEIN_4101 SKEIN_4103')
    expect(code).to.equal(0)
  })

  it('refuses to work in a worker thread, where the client would end the process', async () => {
    const worker = new Worker(new URL('./programs/connect-in-worker.js', import.meta.url))
    const [message] = (await once(worker, 'message')) as [string]
    expect(message).to.equal('SKEIN_4106')
  })
})

describe('capabilities', () => {
  const parse = (text: string, edition = 'Aerospike Enterprise Edition', build = '8.1.0.1') =>
    parseNamespace('test', text, edition, build)

  it('finds transactions only on an enterprise server of version 8 in a strongly consistent namespace', () => {
    const strong = 'ns_cluster_size=1;strong-consistency=true;nsup-period=0'
    expect(parse(strong).transactions).to.equal(true)
    expect(parse('strong-consistency=false').transactions).to.equal(false)
    expect(parse(strong, 'Aerospike Community Edition').transactions).to.equal(false)
    expect(parse(strong, 'Aerospike Ce Edition').transactions).to.equal(false)
    expect(parse(strong, undefined, '7.2.0.4').transactions).to.equal(false)
  })

  it('finds out whether records may expire', () => {
    expect(parse('nsup-period=0;allow-ttl-without-nsup=false').ttl).to.equal(false)
    expect(parse('nsup-period=0;allow-ttl-without-nsup=true').ttl).to.equal(true)
    expect(parse('nsup-period=120;default-ttl=60')).to.deep.include({ ttl: true, defaultTtl: 60 })
  })

  it('finds the largest record', () => {
    expect(parse('max-record-size=4194304').maxRecordSize).to.equal(4194304)
    expect(parse('max-record-size=0;storage-engine.write-block-size=8388608').maxRecordSize).to.equal(8388608)
    expect(parse('').maxRecordSize).to.equal(1024 * 1024)
  })
})
