import Aerospike from 'aerospike'
import { expect } from 'chai'
import { Bin, Counter, Key, Record, Ttl, type Database } from 'skein'
import { clockAhead } from '../clock-ahead.js'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

@Record({ set: 'rec_brief', ttl: { seconds: 500, onUpdate: 'keep' } })
class Brief {
  @Key() id!: number
  @Counter() hits = 0
}

@Record({ set: 'rec_fresh', ttl: { seconds: 500, onUpdate: 'refresh' } })
class Fresh {
  @Key() id!: number
  @Counter() hits = 0
}

@Record({ set: 'rec_own', ttl: 500 })
class Own {
  @Key() id!: number
  @Counter() hits = 0
  @Ttl() ttl?: number | null
}

@Record({ set: 'rec_given', ttl: 500 })
class Given {
  @Key() id!: number
  @Counter() hits = 0
  @Ttl() ttl: number | null = 300
}

@Record({ set: 'rec_rows' })
class Table {
  @Key() id!: number
  @Bin({ type: { set: { list: 'int' } } }) rows = new Set<number[]>()
}

for (const mode of MODES) {
  describe(`a record that a handle makes (${mode})`, () => {
    let db: Database
    let namespace: string
    useDatabase(mode, [Brief, Fresh, Own, Given, Table], (opened) => ({ db, namespace } = opened))

    const ttlOf = async (set: string): Promise<number> =>
      (await db.client.get(new Aerospike.Key(namespace, set, 1))).ttl - (await clockAhead(db, namespace, mode))

    it('lives as long as its class says: a change with create begins that anew, one without keeps it unless the class renews it', async () => {
      const shorten = async (set: string): Promise<void> => {
        await db.client.operate(new Aerospike.Key(namespace, set, 1), [Aerospike.operations.touch(100)])
      }
      for (const [kind, set] of [
        [Brief, 'rec_brief'],
        [Fresh, 'rec_fresh'],
      ] as const) {
        for (let i = 0; i < 2; i++) {
          const session = db.session()
          session.at(kind, 1, { create: true }).counter('hits').add(1)
          await session.flush()
          expect(await ttlOf(set), set).to.be.within(480, 500)
          await shorten(set)
        }
        const session = db.session()
        session.at(kind, 1).counter('hits').add(1)
        await session.flush()
      }
      expect(await ttlOf('rec_brief')).to.be.within(80, 100)
      expect(await ttlOf('rec_fresh')).to.be.within(480, 500)
    })

    it('lives as long as a new entity would, also where its class has a property for that', async () => {
      for (const [kind, set, seconds] of [
        [Own, 'rec_own', 500],
        [Given, 'rec_given', 300],
      ] as const) {
        const session = db.session()
        for (let i = 0; i < 2; i++) {
          session.at<Own | Given>(kind, 1, { create: true }).counter('hits').add(1)
          await session.flush()
          expect(await ttlOf(set), set).to.be.within(seconds - 20, seconds)
        }
        await db.session().delete<Own | Given>(kind, 1)
        await db.session().save(Object.assign(new kind(), { id: 1 }))
        expect(await ttlOf(set), set).to.be.within(seconds - 20, seconds)
      }
    })

    it('shows when it expires once it is loaded, and a later flush leaves that as it is', async () => {
      for (const [kind, set] of [
        [Own, 'rec_own'],
        [Given, 'rec_given'],
      ] as const) {
        await db.session().save(Object.assign(new kind(), { id: 1 }), { ttl: 100 })
        for (const create of [false, true]) {
          const session = db.session()
          session.at<Own | Given>(kind, 1, { create }).counter('hits').add(1)
          await session.flush()
          await db.client.operate(new Aerospike.Key(namespace, set, 1), [Aerospike.operations.touch(100)])
          const loaded = await session.load<Own | Given>(kind, 1)
          expect(loaded.ttl! - (await clockAhead(db, namespace, mode)), set).to.be.within(80, 100)
          expect((await session.explain()).commands, set).to.deep.equal([])
          loaded.hits++
          await session.flush()
          expect(await ttlOf(set), set).to.be.within(80, 100)
        }
      }
    })

    it('has a set of lists whose members are found by what is in them', async () => {
      const session = db.session()
      const rows = session.at(Table, 1, { create: true }).set('rows')
      rows.add([2, 1], [1, 2], [1])
      await session.flush()
      rows.add([1, 2])
      rows.remove([1])
      expect([await rows.has([1, 2]), await rows.has([1]), await rows.size()]).to.deep.equal([true, false, 2])
      await session.flush()
      const { rows: stored } = await db.session().load(Table, 1)
      expect([...stored]).to.deep.equal([
        [1, 2],
        [2, 1],
      ])
    })
  })
}
