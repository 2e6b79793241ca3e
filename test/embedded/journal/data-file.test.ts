import { mkdtemp, readdir, readFile, rm, stat, symlink, writeFile, mkdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Aerospike, { type Client } from 'aerospike'
import { expect } from 'chai'
import { SkeinError } from 'skein'
import { startEmbedded, type EmbeddedOptions } from 'skein/embedded'
import { connectOfficialClient, refusal, releaseTransaction, type Connected } from '../official-client.js'

const { Key, GeoJSON, Double, maps, lists, hll, policy } = Aerospike
const NAMESPACES = ['test:sc', 'cache:ap']

describe('embedded server: a data file', () => {
  let folder: string
  let file: string
  const open: Connected[] = []

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'skein-data-'))
    file = join(folder, 'skein.data')
  })
  afterEach(async () => {
    for (const connected of open.splice(0)) await connected.close()
    await rm(folder, { recursive: true })
  })

  async function start(options: EmbeddedOptions = {}): Promise<Connected> {
    const connected = await connectOfficialClient({ namespaces: NAMESPACES, file, ...options })
    open.push(connected)
    return connected
  }
  async function restart(options?: EmbeddedOptions): Promise<Client> {
    await open.pop()!.close()
    return (await start(options)).client
  }
  async function failure(options: EmbeddedOptions = {}): Promise<SkeinError> {
    const error: unknown = await startEmbedded({ namespaces: NAMESPACES, file, ...options }).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).to.be.instanceOf(SkeinError)
    return error as SkeinError
  }
  const key = (id: number | string, set = 'demo', namespace = 'cache') => new Key(namespace, set, id)
  const values = async (client: Client, ids: readonly number[]): Promise<unknown[]> =>
    Promise.all(
      ids.map(async (id) => ((await client.exists(key(id))) ? (await client.get(key(id))).bins.v : undefined)),
    )

  it('brings back records with their values, keys, generations and times to live', async () => {
    let { client } = await start()
    const bins = {
      int: -5,
      big: 2n ** 62n,
      double: new Double(1.5),
      text: 'é\u0000x',
      bytes: Buffer.from([0, 255]),
      yes: true,
      list: [1, 'a', [null, { k: 1 }]],
      map: { b: 1, a: [2] },
      place: new GeoJSON({ type: 'Point', coordinates: [1, 2] }),
    }
    await client.put(key('all'), bins, { ttl: 1000 }, { key: policy.key.SEND } as never)
    await client.operate(key('all'), [
      maps.setPolicy('map', { order: maps.order.KEY_ORDERED }),
      lists.setOrder('list', 0),
    ])
    await client.operate(key('hll'), [hll.add('h', ['a', 'b'], 8)])
    const before = await client.get(key('all'))
    client = await restart()
    const after = await client.get(key('all'))
    expect(after.bins).to.deep.equal(before.bins)
    expect(after.gen).to.equal(2)
    expect(after.ttl).to.be.within(before.ttl - 60, before.ttl)
    const found = await client.query('cache', 'demo').results()
    expect(found.map((record) => record.key.key).toSorted()).to.deep.equal(['all', undefined])
    expect((await client.operate(key('hll'), [hll.getCount('h')])).bins).to.deep.equal({ h: 2 })
    await client.operate(key('all'), [lists.append('list', 9), maps.put('map', 'c', 3)])
    expect((await client.get(key('all'))).bins).to.deep.include({ map: { a: [2], b: 1, c: 3 } })
  })

  it('keeps deletes, truncates, dropped bins and expired records away', async () => {
    const { client, server } = await start()
    for (const id of [1, 2, 3, 4]) await client.put(key(id), { v: id, w: 1 })
    await client.put(key(1, 'gone'), { v: 1 })
    await client.remove(key(1))
    await client.put(key(2), { w: null })
    await client.put(key(5), { v: 5 }, { ttl: 100 })
    await server.clock.advance(1)
    await client.truncate('cache', 'gone', 0)
    await server.clock.advance(1000)
    await client.put(key(6), { v: 6 }, { ttl: 100 })
    const again = await restart()
    expect(await values(again, [1, 2, 3, 4, 5, 6])).to.deep.equal([undefined, 2, 3, 4, undefined, 6])
    expect((await again.get(key(2))).bins).to.deep.equal({ v: 2 })
    expect(await again.exists(key(1, 'gone'))).to.equal(false)
  })

  it('brings back secondary indexes, filled and under their last names', async () => {
    const { client } = await start()
    const index = (name: string, bin: string) =>
      client.createIndex({ ns: 'cache', set: 'demo', bin, index: name, datatype: Aerospike.indexDataType.NUMERIC })
    for (let id = 0; id < 20; id++) await client.put(key(id), { v: id })
    await (await index('by_v', 'v')).wait(1)
    await index('by_w', 'w')
    await client.indexRemove('cache', 'by_w')
    const again = await restart()
    const query = again.query('cache', 'demo')
    query.where(Aerospike.filter.range('v', 3, 6))
    expect((await query.results()).map((record) => record.bins.v).toSorted()).to.deep.equal([3, 4, 5, 6])
    const listed = await again.infoAny('sindex-list')
    expect(listed).to.contain('indexname=by_v:').and.not.to.contain('by_w')
  })

  it('brings back what transactions committed, also where no record was rolled forward yet', async () => {
    const { client, server } = await start()
    const write = async (ids: readonly number[], end: 'commit' | 'leave'): Promise<void> => {
      const txn = new Aerospike.Transaction()
      for (const id of ids) await client.put(key(id, 'demo', 'test'), { v: id }, null, { txn } as never)
      if (end === 'commit') await client.commit(txn).catch(() => undefined)
      releaseTransaction(txn)
    }
    await client.put(key(1, 'demo', 'test'), { v: 'before' })
    await write([1, 2], 'commit')
    await server.faults.add({ kind: ['txn-roll-forward', 'batch'], drop: true, times: Infinity })
    await write([3, 4], 'commit')
    await server.faults.clear()
    await write([5, 6], 'leave')
    await client.put(key(7, 'demo', 'test'), { v: 7 })
    const again = await restart()
    const found = await Promise.all(
      [1, 2, 3, 4, 5, 6, 7].map((id) =>
        again.get(key(id, 'demo', 'test')).then(
          ({ bins }) => bins.v,
          () => undefined,
        ),
      ),
    )
    expect(found).to.deep.equal([1, 2, 3, 4, undefined, undefined, 7])
  })

  it('is written anew when most of it is about the past', async () => {
    const { client } = await start()
    await client.put(key('small'), { v: 1 })
    const large = Buffer.alloc(900_000, 7)
    for (let round = 0; round < 50; round++) await client.put(key(round % 2), { v: round, large })
    expect((await stat(file)).size).to.be.below(30_000_000)
    const again = await restart()
    expect(await values(again, [0, 1])).to.deep.equal([48, 49])
    expect((await again.get(key('small'))).bins).to.deep.equal({ v: 1 })
    expect((await again.get(key(1))).gen).to.equal(25)
  })

  it('loses nothing but the write that was cut off, wherever it was', async () => {
    const { client } = await start()
    for (const id of [1, 2]) await client.put(key(id), { v: id })
    const { size } = await stat(file)
    await client.put(key(3), { v: 3 })
    await open.pop()!.close()
    const whole = await readFile(file)
    for (let end = size; end < whole.length; end += 29) {
      await writeFile(file, whole.subarray(0, end))
      const { client: again } = await start()
      expect(await values(again, [1, 2, 3]), `cut at ${end}`).to.deep.equal([1, 2, undefined])
      await again.put(key(4), { v: 4 })
      expect(await values(await restart(), [1, 2, 3, 4])).to.deep.equal([1, 2, undefined, 4])
      await open.pop()!.close()
    }
  })

  it('is refused where it is damaged in the middle, another file, or a directory', async () => {
    const { client } = await start()
    for (const id of [1, 2, 3]) await client.put(key(id), { v: id })
    await open.pop()!.close()
    const bytes = await readFile(file)
    bytes[60] ^= 1
    await writeFile(file, bytes)
    expect((await failure()).code).to.equal('SKEIN_4109')
    expect((await failure()).message).to.match(/is damaged at byte \d+\. Restore it/)
    expect(await readFile(file), 'it is left alone').to.deep.equal(bytes)
    await writeFile(file, 'CREATE TABLE agents (id int);\n')
    expect((await failure()).message).to.contain('is not a data file of Skein')
    const directory = join(folder, 'directory')
    await mkdir(directory)
    expect((await failure({ file: directory })).code).to.equal('SKEIN_4109')
  })

  it('is refused where it has a namespace that the server does not have', async () => {
    const { client } = await start()
    await client.put(key(1), { v: 1 })
    await open.pop()!.close()
    const error = await failure({ namespaces: ['test:sc'] })
    expect(error.code).to.equal('SKEIN_4109')
    expect(error.message).to.contain('"cache"').and.to.contain('Name it among the namespaces')
  })

  it('belongs to one server at a time, also when a process was killed that used it', async () => {
    const { client } = await start()
    await client.put(key(1), { v: 1 })
    const error = await failure()
    expect(error.code).to.equal('SKEIN_4109')
    expect(error.message).to.contain(`is in use by process ${process.pid}`)
    await open.pop()!.close()
    await writeFile(`${file}.lock`, `${process.ppid}\n`)
    expect((await failure()).message).to.contain(`is in use by process ${process.ppid}`)
    for (const left of ['4194304999\n', '', 'nonsense']) {
      await writeFile(`${file}.lock`, left)
      expect(await values((await start()).client, [1])).to.deep.equal([1])
      await open.pop()!.close()
    }
  })

  it('is in use under every path that leads to it', async () => {
    const link = join(folder, 'link.data')
    const linkedFolder = join(folder, 'linked')
    await symlink(file, link)
    await symlink(folder, linkedFolder)
    const { client } = await start({ file: link })
    await client.put(key(1), { v: 1 })
    for (const path of [file, link, join(linkedFolder, 'skein.data'), join(linkedFolder, 'link.data')]) {
      expect((await failure({ file: path })).message, path).to.contain('is in use by process')
    }
    expect(await values(await restart({ file }), [1])).to.deep.equal([1])
  })

  it('leaves no file of its lock behind', async () => {
    await writeFile(`${file}.lock`, '4194304999\n')
    await start()
    expect((await readdir(folder)).filter((name) => name.includes('lock'))).to.deep.equal(['skein.data.lock'])
    await open.pop()!.close()
    expect((await readdir(folder)).filter((name) => name.includes('lock'))).to.deep.equal([])
  })

  it('must be a path', async () => {
    for (const wrong of ['', 5, null]) expect((await failure({ file: wrong as never })).code).to.equal('SKEIN_2320')
  })

  it('is not there unless it is asked for', async () => {
    const { client } = await start({ file: undefined })
    await client.put(key(1), { v: 1 })
    expect(await refusal((await restart({ file: undefined })).get(key(1)))).to.equal(2)
    expect(await refusal(stat(file))).to.not.equal(undefined)
  })
})
