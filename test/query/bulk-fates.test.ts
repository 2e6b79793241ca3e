import 'reflect-metadata'
import Aerospike from 'aerospike'
import { expect } from 'chai'
import {
  AfterDelete,
  AfterSave,
  BeforeDelete,
  BeforeSave,
  Bin,
  BulkStoppedError,
  EntityGoneError,
  Key,
  Record,
  Version,
  VersionConflictError,
  inc,
  type Database,
} from 'skein'
import type { EmbeddedServer } from 'skein/embedded'
import { MODES, need } from '../server.js'
import { useDatabase } from '../use-database.js'

const unique = `qf${process.pid}${Date.now() % 1e6}`
const BAD = 77
let db: Database
/** Strongly consistent namespaces take no other deletes. */
let isDurable = false

@Record({ set: `${unique}a` })
class After {
  @Key() id!: number
  @Bin({ type: 'int' }) n!: number
  @AfterSave() saved(): void {
    if (this.id === BAD && this.n > 0) throw new Error('after says no')
  }
  @AfterDelete() deleted(): void {
    if (this.id === BAD) throw new EntityGoneError('another one is gone')
  }
}

@Record({ set: `${unique}v` })
class Versioned {
  @Key() id!: number
  @Version() version?: number
  @Bin({ type: 'int' }) n!: number
}

@Record({ set: `${unique}g` })
class Guarded {
  @Key() id!: number
  @Bin({ type: 'int' }) n?: number
  @BeforeDelete() async check(): Promise<void> {
    if (this.id === 2) await gone(this.id + 1000)
    if (this.id === 3) await gone(this.id)
  }
}

@Record({ set: `${unique}w` })
class Watched {
  @Key() id!: number
  @Version() version?: number
  @Bin({ type: 'int' }) n!: number
  @BeforeSave() async check(): Promise<void> {
    if (this.id === 2 && this.n > 0) await conflicting(1000)
  }
}

/** Saves the record in two sessions that have loaded the same version. */
async function conflicting(id: number): Promise<void> {
  const sessions = [db.session(), db.session()]
  const [first, second] = await Promise.all(sessions.map((session) => session.load(Versioned, id)))
  first.n++
  second.n++
  await sessions[0].save(first)
  await sessions[1].save(second)
}

/** Deletes the record in one session while another changes it: that change is refused, because its entity is gone. */
async function gone(id: number): Promise<void> {
  const session = db.session()
  const entity = await session.load(Guarded, id)
  const { namespace, set } = db.model.entity(Guarded)
  const policy = new Aerospike.RemovePolicy({ durableDelete: isDurable })
  await db.client.remove(new Aerospike.Key(namespace, set, id), policy)
  entity.n = 7
  await session.save(entity)
}

for (const mode of MODES) {
  describe(`records of a bulk operation that stops (${mode})`, () => {
    let server: EmbeddedServer | undefined
    useDatabase(mode, [After, Versioned, Guarded, Watched], (opened) => {
      db = opened.db
      isDurable = mode === 'sc'
      server = opened.server.embedded
    })
    afterEach(() => server?.faults.clear())

    const stopped = async (work: Promise<unknown>): Promise<BulkStoppedError> => {
      const error = await work.then(
        () => expect.fail('nothing was thrown'),
        (e: unknown) => e,
      )
      expect(error).to.be.instanceOf(BulkStoppedError)
      return error as BulkStoppedError
    }

    for (const first of [0, BAD]) {
      const count = first === 0 ? 150 : 1

      it(`are written although a later hook throws, and the error names them as incomplete (${count} records)`, async () => {
        await db.withSession((session) => {
          for (let id = first; id < first + count; id++) session.create(After, { id, n: 0 })
        })
        const update = await stopped(db.scan(After).update({ n: inc(1) }))
        expect(update).to.deep.include({ failed: 0, keys: [], inDoubt: [], incomplete: [BAD] })
        expect(update.cause).to.have.property('message', 'after says no')
        expect(update.message).to.include('77').and.to.include('hook')
        expect(await db.scan(After).where({ n: 1 }).count()).to.equal(update.written)
        expect(await db.scan(After).where({ id: BAD, n: 1 }).count()).to.equal(1)
        if (update.cursor !== undefined) await db.scan(After).update({ n: inc(1) }, { after: update.cursor })
        expect(await db.scan(After).groupBy('n').count()).to.deep.equal(new Map([[1, count]]))

        const removal = await stopped(db.scan(After).delete())
        expect(removal).to.deep.include({ failed: 0, keys: [], inDoubt: [], incomplete: [BAD] })
        expect(await db.scan(After).count()).to.equal(count - removal.written)
        expect(await db.scan(After).where({ id: BAD }).count()).to.equal(0)
      })
    }

    it('are named as in doubt where the answer to their write is lost', async function () {
      need(this, server, 'faults need the embedded server')
      await db.withSession((session) => {
        for (let id = 0; id < 150; id++) session.create(Versioned, { id, n: 0 })
      })
      const { set } = db.model.entity(Versioned)
      await server!.faults.add({ kind: ['write', 'read'], set, skip: 40, times: 60, drop: true, after: true })
      const error = await stopped(db.scan(Versioned).update({ n: inc(1) }))
      await server!.faults.clear()
      expect(error.inDoubt).not.to.have.length(0)
      expect(error.message).to.include('may or may not')
      const written = new Set(await db.scan(Versioned).where({ n: 1 }).keys())
      for (const key of error.keys) expect(written.has(key), `${String(key)} is named as not written`).to.equal(false)
      expect(written.size).to.be.within(error.written, error.written + error.inDoubt.length)
    })

    it('stop an update whose hook meets a version conflict of another record', async () => {
      await db.withSession((session) => {
        for (const id of [0, 1, 2]) session.create(Watched, { id, n: 0 })
        session.create(Versioned, { id: 1000, n: 0 })
      })
      const error = await stopped(db.scan(Watched).update({ n: 1 }))
      expect(error).to.deep.include({ written: 2, failed: 1, keys: [2] })
      expect(error.cause).to.be.instanceOf(VersionConflictError)
      const [{ n }] = await db.scan(Versioned).where({ id: 1000 }).toArray()
      expect(n, 'the hook is called once').to.equal(1)
    })

    it('are left out where they are gone themselves, and stop a delete whose hook misses another one', async () => {
      await db.withSession((session) => {
        for (const id of [0, 1, 3]) session.create(Guarded, { id })
      })
      expect(await db.scan(Guarded).delete()).to.include({ written: 2, failed: 0 })
      await db.withSession((session) => {
        for (const id of [0, 1, 2, 1002]) session.create(Guarded, { id })
      })
      const error = await stopped(
        db
          .scan(Guarded)
          .where({ id: { lt: 100 } })
          .delete(),
      )
      expect(error).to.deep.include({ written: 2, failed: 1, keys: [2] })
      expect(error.cause).to.be.instanceOf(EntityGoneError)
      expect(await db.scan(Guarded).keys()).to.deep.equal([2])
    })
  })
}
