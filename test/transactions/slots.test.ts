import 'reflect-metadata'
import { expect } from 'chai'
import { Bin, Key, Record, SkeinError, type Database } from 'skein'
import { needMode } from '../server.js'
import { sharedServer } from '../shared-server.js'

@Record({ set: 'slot-thing' })
class Thing {
  @Key() id!: number
  @Bin() n?: number
}

describe('transactions that wait for a place', () => {
  let db: Database

  before(async function () {
    const server = await sharedServer()
    const namespace = needMode(this, server, 'sc')
    db = await server.open({ namespace, entities: [Thing], limits: { transactions: 2 } })
  })
  beforeEach(() => db.truncate(Thing))
  after(() => db?.close())

  it('give up at their deadline when those that hold the places wait for them', async () => {
    const errors: unknown[] = []
    const nested = async (id: number): Promise<void> =>
      db.transaction(async (session) => {
        session.create(Thing, { id, n: 1 })
        await session.flush()
        await db
          .transaction(async (inner) => void inner.create(Thing, { id: 100 + id }), { timeout: 1 })
          .catch((error: unknown) => {
            errors.push(error)
            throw error
          })
      })
    const settled = await Promise.allSettled([nested(1), nested(2)])
    const refused = settled.filter(({ status }) => status === 'rejected')
    expect(refused).to.not.have.length(0)
    for (const error of errors) expect(error).to.be.instanceOf(SkeinError).and.to.include({ code: 'SKEIN_4306' })
    // The places are free again, and what was refused has left nothing behind.
    await db.transaction(async (session) => {
      const found = await session.findMany(Thing, [1, 2, 101, 102])
      expect(found.filter((one) => one !== null)).to.have.length(2 * (2 - refused.length))
    })
  })

  it('begin as soon as another one has ended', async () => {
    const ids = Array.from({ length: 20 }, (_, id) => id)
    await Promise.all(ids.map((id) => db.transaction(async (session) => void session.create(Thing, { id }))))
    expect(await db.session().findMany(Thing, ids)).to.not.include(null)
  })
})
