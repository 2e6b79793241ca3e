import { expect } from 'chai'
import {
  Bin,
  collection,
  fromPlain,
  Index,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  ref,
  SkeinError,
  toPlain,
  Version,
  type Database,
} from 'skein'
import { MODES } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

@Record({ set: 'byk_owner' })
class Owner {
  @Key({ type: 'bytes' }) id!: Buffer
  @OneToMany(() => Vault, 'owner', { strategy: 'keyList' }) vaults = collection<Vault>()
}

@Record({ set: 'byk_vault' })
class Vault {
  @Key() id!: number
  @Bin({ type: 'bytes' }) seal?: Buffer
  @Bin({ type: { list: 'bytes' } }) notes: Buffer[] = []
  @Bin({ type: 'json' }) info?: object
  @Bin({ type: { map: 'double' } }) rates = new Map<string, number>()
  @Index({ on: 'mapKeys' }) @Bin({ type: { map: 'int', key: 'bytes' } }) counts = new Map<Uint8Array, number>()
  @Bin({ type: { map: { list: 'string' }, key: 'bytes', order: 'keyValue', persistIndex: true } })
  logs = new Map<Uint8Array, string[]>()
  @ManyToOne(() => Owner, 'vaults') owner = ref<Owner>()
  @Version() version?: number
}

const key = (...bytes: number[]): Buffer => Buffer.from(bytes)
// As text, both would be the replacement character.
const [A, B, C] = [key(0xff), key(0xfe), key(0x31)]

const entries = (map: ReadonlyMap<Uint8Array, unknown>): unknown[] =>
  [...map].map(([bytes, value]) => [Buffer.from(bytes).toString('hex'), value])

for (const mode of MODES) {
  describe(`a map with bytes as keys (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Vault, Owner], (opened) => ({ db } = opened))

    const vault = (id = 1): Vault =>
      Object.assign(new Vault(), {
        id,
        seal: key(0x80),
        notes: [key(1), key(0xc0)],
        info: { a: [1, { b: 'x' }] },
        rates: new Map([['x', 2]]),
        counts: new Map([
          [A, 1],
          [B, 2],
        ]),
        logs: new Map([[C, ['in']]]),
      })
    const stored = (id = 1): Promise<Vault> => db.session().load(Vault, id)

    it('comes back with every key, beside bytes, lists, maps and references', async () => {
      const owner = Object.assign(new Owner(), { id: key(0x92, 1, 2) })
      const saved = vault()
      saved.owner.set(owner)
      await db.session().save(saved)
      const session = db.session()
      const loaded = await session.load(Vault, 1, { with: ['owner'] })
      expect(entries(loaded.counts)).to.deep.equal([
        ['fe', 2],
        ['ff', 1],
      ])
      expect(entries(loaded.logs)).to.deep.equal([['31', ['in']]])
      const { seal, notes, info, rates } = loaded
      expect({ seal, notes, info, rates }).to.deep.equal({
        seal: key(0x80),
        notes: [key(1), key(0xc0)],
        info: { a: [1, { b: 'x' }] },
        rates: new Map([['x', 2]]),
      })
      expect(loaded.owner.value?.id).to.deep.equal(owner.id)
      expect(session.isDirty()).to.equal(false)
    })

    it('is loaded in one batch with records of other classes, and many at once', async () => {
      const session = db.session()
      for (const id of [1, 2, 3]) session.persist(vault(id))
      session.persist(Object.assign(new Owner(), { id: key(9) }))
      await session.flush()
      const other = db.session()
      const [vaults, owner] = await Promise.all([other.loadMany(Vault, [1, 2, 3]), other.load(Owner, key(9))])
      expect(vaults.map(({ counts }) => entries(counts))).to.deep.equal(
        [1, 2, 3].map(() => [
          ['fe', 2],
          ['ff', 1],
        ]),
      )
      expect(owner.id).to.deep.equal(key(9))
    })

    it('sends only the entries that changed', async () => {
      await db.session().save(vault())
      const session = db.session()
      const loaded = await session.load(Vault, 1)
      const [b] = loaded.counts.keys()
      loaded.counts.set(b, 20).set(key(0, 1), 3)
      loaded.logs.get([...loaded.logs.keys()][0])!.push('out')
      expect(session.isDirty()).to.equal(true)
      expect(String(await session.explain()))
        .to.include('put into counts: <1 bytes>, <2 bytes>')
        .and.include('append to logs[<1 bytes>]: "out"')
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      loaded.counts.delete(b)
      expect(String(await session.explain())).to.include('counts')
      await session.flush()
      const { counts, logs } = await stored()
      expect(entries(counts)).to.deep.equal([
        ['0001', 3],
        ['ff', 1],
      ])
      expect(entries(logs)).to.deep.equal([['31', ['in', 'out']]])
    })

    it('rejects keys that are not bytes, and the same bytes twice', async () => {
      const wrong = vault()
      wrong.counts.set('x' as never, 1)
      const error = await db
        .session()
        .save(wrong)
        .catch((e: unknown) => e)
      expect(error).to.be.instanceOf(SkeinError)
      expect((error as Error).message).to.include('"x" is not a map key of type bytes')
      const twice = vault()
      twice.counts.set(key(0xff), 7)
      const second = await db
        .session()
        .save(twice)
        .catch((e: unknown) => e)
      expect((second as Error).message).to.include('two keys have the same bytes, 0xff')
      expect(await db.session().find(Vault, 1)).to.equal(null)
    })

    it('takes only base64 of plain data for bytes, and refuses to save other text', async () => {
      for (const text of ['!!', 'ÿ', ' ', '/w', '/x==', '_w==']) {
        for (const given of [{ seal: text }, { notes: [text] }, { counts: { '/w==': 1, [text]: 2 } }]) {
          const made = fromPlain(Vault, { id: 1, ...given })
          const error = (await rejection(() => db.session().save(made))) as SkeinError
          expect(error, text).to.be.instanceOf(SkeinError)
          expect(error.message).to.include(JSON.stringify(text))
        }
      }
      const { seal, notes, counts } = fromPlain(Vault, { id: 1, seal: '', notes: ['/w=='], counts: { '/g==': 2 } })
      expect([seal, notes, entries(counts)]).to.deep.equal([key(), [A], [['fe', 2]]])
    })

    it('is asked and changed through a handle', async () => {
      await db.session().save(vault())
      const session = db.session()
      const counts = session.at(Vault, 1).map('counts')
      expect(await counts.get(key(0xff))).to.equal(1)
      expect(await counts.has(key(0x00))).to.equal(false)
      counts.put(key(0xff), 5)
      counts.increment(key(0xfe), 8)
      counts.remove(key(0x77))
      counts.putMany([[C, 7]])
      expect(await counts.get(A)).to.equal(5)
      expect((await counts.keys()).map((each) => Buffer.from(each).toString('hex'))).to.deep.equal(['31', 'fe', 'ff'])
      expect(entries(new Map(await counts.top(2)))).to.deep.equal([
        ['fe', 10],
        ['31', 7],
      ])
      expect(entries(await counts.getMany([A, C]))).to.deep.equal([
        ['31', 7],
        ['ff', 5],
      ])
      expect([await counts.rankOf(A), await counts.indexOf(A), await counts.size()]).to.deep.equal([0, 2, 3])
      session.at(Vault, 1).map('logs').at(key(0x31)).append('out')
      session.at(Vault, 1).map('logs').at(key(0xfd)).append('new')
      await session.flush()
      const { counts: now, logs } = await stored()
      expect(entries(now)).to.deep.equal([
        ['31', 7],
        ['fe', 10],
        ['ff', 5],
      ])
      expect(entries(logs)).to.deep.equal([
        ['31', ['in', 'out']],
        ['fd', ['new']],
      ])
    })

    it('is one with the property of a loaded entity', async () => {
      await db.session().save(vault())
      const session = db.session()
      const loaded = await session.load(Vault, 1)
      const handle = session.at(loaded).map('counts')
      handle.put(key(0xff), 9)
      handle.increment(key(0xfe), 1)
      handle.remove(key(0x31))
      expect(entries(loaded.counts)).to.deep.equal([
        ['fe', 3],
        ['ff', 9],
      ])
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      expect(entries((await stored()).counts)).to.deep.equal([
        ['fe', 3],
        ['ff', 9],
      ])
    })

    it('is made by the first write of a record that is missing', async () => {
      const session = db.session()
      session.at(Vault, 7, { create: true }).map('counts').increment(key(0xff), 2)
      session.at(Vault, 7).map('logs').at(key(0xfe)).append('first')
      await session.flush()
      const { counts, logs } = await stored(7)
      expect([entries(counts), entries(logs)]).to.deep.equal([[['ff', 2]], [['fe', ['first']]]])
    })

    it('is read in part, and whole beside a part of another', async () => {
      await db.session().save(vault())
      const session = db.session()
      const part = await session.load(Vault, 1, { only: [{ counts: [key(0xff)] }, 'logs'] })
      expect(entries(part.counts)).to.deep.equal([['ff', 1]])
      expect(entries(part.logs)).to.deep.equal([['31', ['in']]])
      part.counts.set([...part.counts.keys()][0], 4)
      await session.flush()
      expect(entries((await stored()).counts)).to.deep.equal([
        ['fe', 2],
        ['ff', 4],
      ])
      session.at(part).map('counts').put(key(0xff), 5)
      session.at(part).map('counts').put(key(0xfe), 2)
      expect(entries(part.counts)).to.deep.equal([['ff', 5]])
      session.at(part).map('counts').put(key(0xff), 4)
      await session.flush()
      const whole = await session.load(Vault, 1)
      expect(whole).to.equal(part)
      expect(entries(part.counts)).to.deep.equal([
        ['fe', 2],
        ['ff', 4],
      ])
    })

    it('is found by a key, scanned, refreshed and paged', async () => {
      const session = db.session()
      for (const id of [1, 2]) session.persist(vault(id))
      const odd = vault(3)
      odd.counts = new Map([[C, 3]])
      session.persist(odd)
      await session.flush()
      const found = await db
        .query(Vault)
        .where({ counts: { hasKey: key(0xff) } })
        .toArray()
      expect(found.map(({ id }) => id).sort()).to.deep.equal([1, 2])
      expect(entries(found[0].counts)).to.deep.equal([
        ['fe', 2],
        ['ff', 1],
      ])
      const all: Vault[] = []
      for await (const one of db.scan(Vault)) all.push(one)
      expect(all.map(({ counts }) => counts.size).sort()).to.deep.equal([1, 2, 2])
      const page = await db
        .session()
        .query(Vault)
        .where({ counts: { hasKey: C } })
        .page({ count: 5 })
      expect(entries(page[0].counts)).to.deep.equal([['31', 3]])
      const other = db.session()
      other.at(Vault, 3).map('counts').put(B, 8)
      await other.flush()
      await session.refresh(odd)
      expect(entries(odd.counts)).to.deep.equal([
        ['31', 3],
        ['fe', 8],
      ])
    })

    it('has its keys in base64 as plain data, and comes back from it', () => {
      db.session()
      const plain = toPlain(vault(), { relations: 'none' })
      expect(plain.counts).to.deep.equal({ '/w==': 1, '/g==': 2 })
      const back = fromPlain(Vault, JSON.parse(JSON.stringify(plain)) as object)
      expect(entries(back.counts)).to.deep.equal([
        ['ff', 1],
        ['fe', 2],
      ])
    })
  })
}
