import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Aerospike from 'aerospike'
import { expect } from 'chai'
import { MAIN, SkeinProcess, skein, VERSION } from './skein-process.js'

describe('skein serve', () => {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    it(`says where it listens, and ends with exit code 0 on ${signal}`, async () => {
      const server = new SkeinProcess(['serve', '--port', '0'])
      const port = await server.port()
      server.signal(signal)
      expect(await server.ended).to.deep.equal({
        code: 0,
        signal: null,
        out: `listening on 127.0.0.1:${port}\nstopping on ${signal}\n`,
        err: '',
      })
    })
  }

  it('serves the namespaces it is given, and ends while a client is connected', async () => {
    const server = new SkeinProcess(['serve', '--port', '0', '--namespace', 'test:sc', '--namespace', 'cache:ap'])
    const hosts = `127.0.0.1:${await server.port()}`
    const client = await Aerospike.connect({ hosts, log: { level: Aerospike.log.OFF } })
    try {
      const strong = async (name: string) =>
        /strong-consistency=(\w+)/.exec(await client.infoAny(`namespace/${name}`))?.[1]
      expect([await strong('test'), await strong('cache')]).to.deep.equal(['true', 'false'])
      const key = new Aerospike.Key('cache', 'demo', 1)
      await client.put(key, { a: 1 })
      expect((await client.get(key)).bins).to.deep.equal({ a: 1 })
      server.signal('SIGTERM')
      expect((await server.ended).code).to.equal(0)
    } finally {
      client.close()
    }
  })

  it('runs through the link that an installation makes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'skein-bin-'))
    try {
      const link = join(folder, 'skein')
      await symlink(MAIN, link)
      const server = new SkeinProcess(['serve', '--port', '0'], { main: link })
      await server.port()
      server.signal('SIGTERM')
      expect((await server.ended).code).to.equal(0)
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('says why it ends when its memory is full, with exit code 1', async () => {
    const server = new SkeinProcess(['serve', '--port', '0', '-n', 'cache:ap'], { flags: ['--max-old-space-size=60'] })
    const hosts = `127.0.0.1:${await server.port()}`
    const client = await Aerospike.connect({ hosts, log: { level: Aerospike.log.OFF }, maxConnsPerNode: 4 })
    const large = Array.from({ length: 500_000 }, (_, i) => i % 100)
    let isEnded = false
    void server.ended.then(() => (isEnded = true))
    try {
      for (let id = 0; !isEnded; id++) {
        await client.put(new Aerospike.Key('cache', 'demo', id), { large }).catch(() => undefined)
      }
    } finally {
      client.close()
    }
    const { code, err } = await server.ended
    expect({ code, err }).to.deep.equal({
      code: 1,
      err: 'skein: The embedded server ran out of memory and ended. Store less in it, or give Node more with --max-old-space-size.\n',
    })
  })

  it('keeps what was acknowledged in the directory it is given', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'skein-serve-'))
    try {
      const args = ['serve', '--port', '0', '-n', 'cache:ap', '--data', join(folder, 'new')]
      const key = new Aerospike.Key('cache', 'demo', 1)
      for (const expected of [undefined, { a: 1 }]) {
        const server = new SkeinProcess(args)
        const client = await Aerospike.connect({
          hosts: `127.0.0.1:${await server.port()}`,
          log: { level: Aerospike.log.OFF },
        })
        const found = await client.get(key).catch(() => undefined)
        expect(found?.bins).to.deep.equal(expected)
        await client.put(key, { a: 1 })
        const second = await skein(...args)
        expect(second.code).to.equal(1)
        expect(second.err).to.match(/^skein: The data file ".+" is in use by process \d+\./)
        client.close()
        server.signal('SIGTERM')
        expect((await server.ended).code).to.equal(0)
      }
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('refuses a port in use with exit code 2, and says what to do', async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    await once(holder, 'listening')
    try {
      const { port } = holder.address() as AddressInfo
      const { code, out, err } = await skein('serve', '--port', String(port))
      expect({ code, out }).to.deep.equal({ code: 2, out: '' })
      expect(err).to.include(`Port ${port} is in use. Choose another with --port`)
    } finally {
      holder.close()
    }
  })
})

describe('skein', () => {
  it('prints its usage with --help', async () => {
    const { code, out } = await skein('--help')
    expect(code).to.equal(0)
    expect(out).to.include('skein serve --port 3100 --namespace test:sc --namespace cache:ap')
    expect((await skein('serve', '-h')).out).to.equal(out)
  })

  it('prints its version with --version', async () => {
    const { code, out } = await skein('--version')
    expect({ code, out }).to.deep.equal({ code: 0, out: `${VERSION}\n` })
  })

  const wrong: readonly (readonly [args: string[], says: string])[] = [
    [[], 'No command is given.'],
    [['dance'], 'There is no command "dance".'],
    [['serve', 'now'], 'serve takes only options, not "now".'],
    [['serve', '--dance'], "Unknown option '--dance'."],
    [['serve', '--port'], 'argument missing.'],
    [['serve', '--port', 'abc'], '"abc" is not a port.'],
    [['serve', '--port', '65536'], '"65536" is not a port.'],
    [['serve', '--data', ''], '--data needs a directory.'],
    [['serve', '--namespace', 'test:cp'], '"test:cp" is not a namespace. Write NAME:sc or NAME:ap'],
    [['serve', '--namespace', 'a/b:sc'], '"a/b" is not a namespace name.'],
    [['serve', '-n', 'a:sc', '-n', 'a:ap'], 'The namespace "a" is given twice.'],
  ]
  for (const [args, says] of wrong) {
    it(`refuses "${['skein', ...args].join(' ')}" with exit code 2`, async () => {
      const { code, out, err } = await skein(...args)
      expect({ code, out }).to.deep.equal({ code: 2, out: '' })
      expect(err).to.include(says).and.include('Try "skein --help".')
    })
  }
})
