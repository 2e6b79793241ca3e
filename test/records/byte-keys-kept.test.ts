import Aerospike from 'aerospike'
import { expect } from 'chai'
import { Bin, History, Key, Record, Version, type Database } from 'skein'
import { isNamedServer, MODES, need, type TestServer } from '../server.js'
import { storedFlags } from '../stored-flags.js'
import { useDatabase } from '../use-database.js'

@Record({ set: 'byk_plain' })
class Plain {
  @Key() id!: number
  @Bin() text?: string
  @Bin({ type: { map: 'int', key: 'int' } }) numbers = new Map<number, number>()
}

@Record({ set: 'byk_kept' })
@History({ keep: 5 })
class Kept {
  @Key() id!: number
  @Bin({ type: { map: 'int', key: 'bytes' } }) counts = new Map<Uint8Array, number>()
  @Bin({ type: 'bytes' }) seal?: Buffer
  @Version() version?: number
}

@Record({ set: 'byk_sorted' })
class Sorted {
  @Key() id!: number
  @Bin({ type: { map: 'int', key: 'bytes', order: 'keyValue' } }) scores = new Map<Uint8Array, number>()
}

function movedTo(archive: string) {
  @Record({ set: 'byk_moved', archive })
  class Moved {
    @Key() id!: number
    @Bin({ type: { map: 'int', key: 'bytes' } }) counts = new Map<Uint8Array, number>()
    @Bin({ type: 'bytes' }) seal?: Buffer
    @Version() version?: number
  }
  return Moved
}

const bytes = (...values: number[]): Buffer => Buffer.from(values)
const hex = (map: ReadonlyMap<Uint8Array, unknown>): unknown[] =>
  [...map].map(([key, value]) => [Buffer.from(key).toString('hex'), value])
const BOTH: [Uint8Array, number][] = [
  [bytes(0xfe), 2],
  [bytes(0xff), 1],
]
const SHOWN = [
  ['fe', 2],
  ['ff', 1],
]

for (const mode of MODES) {
  describe(`a map with bytes as keys is kept whole (${mode})`, () => {
    const cold = mode === 'ap' ? 'test' : 'more'
    const Moved = movedTo(isNamedServer ? 'test' : cold)
    let db: Database
    let server: TestServer
    let namespace: string
    const classes = isNamedServer ? [Plain, Kept, Sorted] : [Plain, Kept, Sorted, Moved]
    useDatabase(mode, classes, (opened) => ({ db, server, namespace } = opened))
    afterEach(() => server.embedded?.faults.clear())

    it('in the history of its record', async () => {
      const session = db.session()
      const kept = Object.assign(new Kept(), { id: 1, counts: new Map(BOTH), seal: bytes(0x93) })
      await session.save(kept)
      kept.counts = new Map([[bytes(1), 1]])
      await session.save(kept)
      const [{ entity }] = await db.session().history(Kept, 1).entries()
      expect([hex(entity!.counts), entity!.seal]).to.deep.equal([SHOWN, bytes(0x93)])
    })

    it('when its record is archived and brought back', async function () {
      if (isNamedServer) return this.skip()
      await db.client.truncate(cold, 'byk_moved', 0)
      const session = db.session()
      await session.save(Object.assign(new Moved(), { id: 1, counts: new Map(BOTH), seal: bytes(0x80) }))
      await session.archive(Moved, 1)
      const archived = await db.session().load(Moved, 1, { from: 'archive' })
      expect([hex(archived.counts), archived.seal]).to.deep.equal([SHOWN, bytes(0x80)])
      await db.session().unarchive(Moved, 1)
      const back = await db.session().load(Moved, 1)
      expect([hex(back.counts), back.seal]).to.deep.equal([SHOWN, bytes(0x80)])
    })

    it('when its order is converted', async () => {
      const key = new Aerospike.Key(namespace, 'byk_sorted', 1)
      await db.client.put(key, { id: 1, scores: new Map(BOTH) })
      expect(await db.layout.diff()).to.have.lengthOf(1)
      await db.layout.sync()
      expect((await storedFlags(db, namespace, 'byk_sorted', 1)).scores & 3).to.equal(3)
      expect(hex((await db.session().load(Sorted, 1)).scores)).to.deep.equal(SHOWN)
    })

    it('in a transaction that reads records of other classes along', async function () {
      if (mode === 'ap') return this.skip()
      await db.withSession((session) => {
        session.persist(Object.assign(new Kept(), { id: 1, counts: new Map(BOTH) }))
        session.persist(Object.assign(new Plain(), { id: 1, text: 'a', numbers: new Map([[1, 2]]) }))
      })
      await db.transaction(async (session) => {
        const [kept, plain, other] = await Promise.all([
          session.load(Kept, 1),
          session.load(Plain, 1),
          session.find(Kept, 2),
        ])
        expect([hex(kept.counts), plain.numbers, other]).to.deep.equal([SHOWN, new Map([[1, 2]]), null])
        session.at(Kept, 1).map('counts').increment(bytes(0xff), 4)
      })
      expect(hex((await db.session().load(Kept, 1)).counts)).to.deep.equal([
        ['fe', 2],
        ['ff', 5],
      ])
    })

    it('when the answer of a write is lost, which is judged by what is stored', async function () {
      const { faults } = need(this, server.embedded, 'only the embedded server makes faults')
      const session = db.session()
      const kept = Object.assign(new Kept(), { id: 1, counts: new Map([BOTH[0]]) })
      await session.save(kept)
      kept.counts.set(...BOTH[1])
      await faults.add({ kind: 'write', set: 'byk_kept', drop: true, times: 1 })
      await session.flush()
      const { counts, version } = await db.session().load(Kept, 1)
      expect([hex(counts), version]).to.deep.equal([SHOWN, 2])
    })
  })
}
