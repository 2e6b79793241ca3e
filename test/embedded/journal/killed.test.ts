import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Aerospike from 'aerospike'
import { expect } from 'chai'
import { SkeinProcess } from '../../cli/skein-process.js'

const ROUNDS = 5
const WRITERS = 8

describe('embedded server: a data file of a process that is killed', () => {
  let folder: string
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skein-killed-'))
  })
  after(() => rm(folder, { recursive: true }))

  const serve = () => new SkeinProcess(['serve', '--port', '0', '-n', 'cache:ap', '--data', join(folder, 'data')])
  const connect = async (server: SkeinProcess) =>
    Aerospike.connect({
      hosts: `127.0.0.1:${await server.port()}`,
      log: { level: Aerospike.log.OFF },
      maxConnsPerNode: 20,
    })
  const key = (id: number) => new Aerospike.Key('cache', 'demo', id)

  it('has everything that was acknowledged', async function () {
    /** The last value of each record that was acknowledged, and the last that was sent. */
    const acknowledged = new Array<number>(WRITERS).fill(0)
    const sent = new Array<number>(WRITERS).fill(0)
    for (let round = 0; round < ROUNDS; round++) {
      const server = serve()
      const client = await connect(server)
      const after = 50 + Math.floor(Math.random() * 400)
      let writes = 0
      let isKilled = false
      const write = async (id: number): Promise<void> => {
        while (!isKilled) {
          const value = ++sent[id]
          const bins = { v: value, filler: 'x'.repeat(Math.floor(Math.random() * 5000)) }
          const isDone = await client.put(key(id), bins).then(
            () => true,
            () => false,
          )
          if (isDone) acknowledged[id] = value
          if (++writes === after) {
            isKilled = true
            server.signal('SIGKILL')
          }
        }
      }
      await Promise.all(acknowledged.map((_, id) => write(id)))
      expect((await server.ended).signal).to.equal('SIGKILL')
      client.close()
    }
    const server = serve()
    const client = await connect(server)
    for (let id = 0; id < WRITERS; id++) {
      const { v } = (await client.get(key(id))).bins as { v: number }
      expect(v, `record ${id}`).to.be.within(acknowledged[id], sent[id])
    }
    client.close()
    server.signal('SIGTERM')
    expect((await server.ended).code).to.equal(0)
  })
})
