import 'reflect-metadata'
import { expect } from 'chai'
import { Bin, InDoubtError, Index, Key, Record, inc, open, type Database, type SkeinError } from 'skein'
import { startEmbedded, type EmbeddedServer } from 'skein/embedded'
import { isNamedServer, MODES, PATIENT } from '../server.js'

abstract class Numbered {
  @Key() id!: number
  @Index() @Bin({ type: 'int' }) n!: number
}

@Record({ set: 'bd_item' })
class Item extends Numbered {}

@Record({ set: 'bd_one' })
class One extends Numbered {}

@Record({ set: 'bd_two' })
class Two extends Numbered {}

@Record({ set: 'bd_never' })
class Never extends Numbered {}

const classes = [One, Two]
const COUNT = 60

for (const nodes of [1, 3]) {
  for (const mode of MODES) {
    const title = `background operations whose start is not confirmed (${mode}, ${nodes} nodes)`
    describe(isNamedServer ? `${title} (skipped: only the embedded server has faults)` : title, () => {
      let server: EmbeddedServer
      let db: Database
      before(async function () {
        if (isNamedServer) this.skip()
        server = await startEmbedded({ nodes, namespaces: [`test:${mode}`] })
        const policies = { ...PATIENT.policies, write: { totalTimeout: 500 } }
        db = await open({
          hosts: server.hosts,
          namespace: 'test',
          entities: [Item, One, Two, Never],
          ...PATIENT,
          policies,
        })
        await db.indexes.sync()
      })
      after(async () => {
        await db?.close()
        await server?.stop()
      })
      beforeEach(async () => {
        await db.truncate(Item)
        await db.withSession((session) => {
          for (let id = 0; id < COUNT; id++) session.create(Item, { id, n: 0 })
        })
      })
      afterEach(() => server.faults.clear())

      const fail = async (fault: object, skip = 0, times = 1): Promise<void> =>
        void (await server.faults.add({ kind: 'query', set: 'bd_item', times, skip, ...fault }))
      const values = async (): Promise<Map<number | null, number>> => {
        await server.faults.clear()
        return db.scan(Item).groupBy('n').count()
      }
      /** Scans of `inc` count before what would overflow, with one query for each node. */
      const increment = (): Promise<unknown> =>
        db
          .scan(Item)
          .update({ n: inc(1) })
          .catch((error: unknown) => error)

      for (const [what, fault] of Object.entries({
        'is lost': { drop: true, after: true },
        'never comes': { hang: true, after: true },
      })) {
        it(`are waited for where the answer ${what} and every node knows of them, increments exactly once`, async () => {
          await fail(fault, nodes)
          const result = await increment()
          const found = await values()
          // The client may leave out nodes when one has failed: then not all have begun.
          if (nodes > 1 && found.get(1) !== COUNT) expect(result).to.have.property('code', 'SKEIN_4206')
          else expect(result).to.deep.equal({ written: COUNT, failed: 0, by: 'server' })
          if (nodes === 1) expect(found).to.deep.equal(new Map([[1, COUNT]]))
          expect(found.size - Number(found.has(0)) - Number(found.has(1))).to.equal(0)
        })
      }

      it('are in doubt where an increment may not have begun, and it is not sent again', async () => {
        await fail({ drop: true }, nodes)
        const error = (await increment()) as SkeinError
        expect(error).to.have.property('code', 'SKEIN_4206')
        expect(error.message).to.include('Item').and.to.match(/inc/)
        expect(error).to.be.instanceOf(InDoubtError).and.to.have.property('inDoubt', true)
        const found = await values()
        expect(found.get(0)).to.be.above(0)
        expect(found.size - Number(found.has(0)) - Number(found.has(1))).to.equal(0)
      })

      it('say what one node refuses: nothing is done on a single one, otherwise an increment is in doubt', async () => {
        await fail({ answer: 14 }, nodes)
        const error = (await increment()) as SkeinError
        const found = await values()
        const isUntouched = found.get(0) === COUNT
        expect(error).to.have.property('code', isUntouched ? 'SKEIN_4202' : 'SKEIN_4206')
        if (nodes === 1) expect(isUntouched).to.equal(true)
        else if (!isUntouched) expect(error.message).to.match(/of 3 nodes/)
      })

      for (const fault of [{ drop: true }, { drop: true, after: true }, { answer: 14 }]) {
        it(`are started again after ${JSON.stringify(fault)} where they write values or delete`, async () => {
          await fail(fault)
          expect(await db.scan(Item).update({ n: 5 })).to.deep.equal({ written: COUNT, failed: 0, by: 'server' })
          expect(await values()).to.deep.equal(new Map([[5, COUNT]]))
          await fail(fault)
          expect(await db.scan(Item).delete()).to.deep.equal({ written: COUNT, failed: 0, by: 'server' })
          expect(await db.scan(Item).count()).to.equal(0)
        })
      }

      for (const answer of [1, 8, 22]) {
        it(`are started again where one node answers ${answer} and others have begun; one that refuses it alone is an error at once`, async () => {
          await fail({ answer })
          const result: unknown = await db
            .scan(Item)
            .update({ n: 5 })
            .catch((error: unknown) => error)
          const isUntouched = (await values()).get(0) === COUNT
          if (isUntouched) expect(result).to.have.property('code', 'SKEIN_4204')
          else expect(result).to.deep.equal({ written: COUNT, failed: 0, by: 'server' })
          if (nodes === 1) expect(isUntouched).to.equal(true)
          else if (!isUntouched) expect(await values()).to.deep.equal(new Map([[5, COUNT]]))
        })
      }

      it('count each record once after a second start, also where the update ends its own condition', async () => {
        const zero = db.scan(Item).where({ n: 0 })
        for (const fault of [{ drop: true }, { answer: 14 }]) {
          for (const skip of Array.from({ length: nodes }, (_, i) => i)) {
            await fail(fault, skip)
            expect(await zero.update({ n: 7 }), `${JSON.stringify(fault)} ${skip}`).to.include({ written: COUNT })
            expect(await values()).to.deep.equal(new Map([[7, COUNT]]))
            await db.scan(Item).update({ n: 0 })
          }
        }
      })

      it('count all records where some nodes have none of the set', async () => {
        for (const count of [1, 2]) {
          await db.withSession((session) => {
            for (let id = 0; id < count; id++) session.create(classes[count - 1], { id, n: 0 })
          })
          const few = db.scan(classes[count - 1])
          expect(await few.update({ n: 4 })).to.deep.equal({ written: count, failed: 0, by: 'server' })
          expect(await few.update({ n: inc(1) })).to.deep.equal({ written: count, failed: 0, by: 'server' })
          expect(await few.groupBy('n').count()).to.deep.equal(new Map([[5, count]]))
          expect(await few.delete()).to.deep.equal({ written: count, failed: 0, by: 'server' })
        }
        expect(await db.scan(Never).update({ n: 4 })).to.deep.equal({ written: 0, failed: 0, by: 'server' })
      })

      it('are in doubt where the server stays away, and values may be written again', async () => {
        await fail({ drop: true }, 0, 1000)
        const error = (await db
          .scan(Item)
          .update({ n: 5 })
          .catch((e: unknown) => e)) as SkeinError
        expect(error).to.have.property('code', 'SKEIN_4206')
        expect(error.message).to.include('Call it again')
        await server.faults.clear()
        expect(await db.scan(Item).update({ n: 5 })).to.include({ written: COUNT })
      })
    })
  }
}
