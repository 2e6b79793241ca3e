import { expect } from 'chai'
import { Bin, Key, Record, open, type Database } from 'skein'
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
    db = await open({ hosts: server.hosts, namespace: 'test', entities: [Item], ...PATIENT })
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
})
