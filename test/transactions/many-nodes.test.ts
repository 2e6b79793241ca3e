import { expect } from 'chai'
import { Bin, Key, Record, RetriesExhaustedError, open, type Database } from 'skein'
import { startEmbedded, type EmbeddedServer } from 'skein/embedded'
import { PATIENT } from '../server.js'

@Record({ set: 'mn_item' })
class Item {
  @Key() id!: number
  @Bin() name!: string
}

describe('transactions on three nodes', function () {
  this.timeout(60_000)
  let server: EmbeddedServer
  let db: Database
  before(async () => {
    server = await startEmbedded({ nodes: 3, namespaces: ['test:sc'] })
    db = await open({ hosts: server.hosts, namespace: 'test', entities: [Item], ...PATIENT, retry: {} })
  })
  after(async () => {
    await db?.close()
    await server.stop()
  })

  // Every write of a transaction first goes to the node of its monitor record, whichever node has the record.
  it('write more records at once than the client has connections to one node', async () => {
    await db.transaction(
      async (session) => {
        for (let id = 0; id < 1500; id++) session.create(Item, { id, name: `item ${id}` })
        await session.flush()
      },
      { attempts: 1 },
    )
    expect(await db.scan(Item).count()).to.equal(1500)
  })

  it('are tried until their time is up while partitions are unavailable, and not ten times', async () => {
    const arrived = await server.movePartitions()
    let attempts = 0
    await db.transaction(async (session) => {
      if (++attempts === 12) await arrived()
      session.create(Item, { id: 2000, name: 'late' })
      session.create(Item, { id: 2001, name: 'late, too' })
      await session.flush()
    })
    expect(attempts).to.equal(12)
    expect((await db.session().load(Item, 2001)).name).to.equal('late, too')
  })

  it('are tried as often as asked while partitions are unavailable', async () => {
    const arrived = await server.movePartitions()
    const saved = db.transaction((session) => session.save(session.create(Item, { id: 3000, name: 'never' })), {
      attempts: 2,
    })
    const error = (await saved.catch((reason: unknown) => reason)) as RetriesExhaustedError
    await arrived()
    expect(error).to.be.instanceOf(RetriesExhaustedError)
    expect(error).to.include({ attempts: 2 })
    expect(error.message).to.include('when the server answers')
  })
})
