import Aerospike from 'aerospike'
import { expect } from 'chai'
import type { Database, VerifyProgress } from 'skein'
import type { EmbeddedServer } from 'skein/embedded'
import { expectRoundTrips } from '../../expect-round-trips.js'
import { emptySets } from '../../empty-sets.js'
import { need, NODES } from '../../server.js'
import { sharedServer } from '../../shared-server.js'
import { Agent, Listing, User, agent, listing } from '../models.js'

const CHILDREN = 1200

describe('the cost of verify', () => {
  let server: EmbeddedServer
  let namespace: string
  let db: Database
  before(async function () {
    const shared = await sharedServer()
    server = need(this, shared.embedded, 'only the embedded server counts commands by kind and lets time pass')
    namespace = shared.ap!
    db = await shared.open({ namespace, entities: [Agent, Listing, User] })
    await emptySets(db, [Agent, Listing, User])
    await db.withSession(async (session) => {
      const alma = session.persist(agent(1))
      for (let i = 0; i < CHILDREN; i++) alma.listings.add(listing(`l${i}`))
      session.persist(agent(2)).listings.add(listing('x'), listing('y'))
    })
    await server.clock.advance(10)
  })
  after(() => db?.close())

  it('reads a record with short lists, then all of its others in one batch, and its lists as bytes', async () => {
    const session = db.session()
    const bert = await session.load(Agent, 2)
    const { commands, rows } = await server.commands.during(() => session.verify(bert))
    expectRoundTrips(commands, 3)
    expect(rows).to.equal(4)
  })

  it('reads a long list in pages, and its children in batches of a bounded size', async () => {
    const session = db.session()
    const alma = await session.load(Agent, 1)
    const { log, rows } = await server.commands.during(() => session.verify(alma))
    // Pages of 500 that begin with the last key of the one before; each page's children are two batches of at most 256 rows.
    const pages = Math.ceil(CHILDREN / 499)
    expect(log.filter(({ kind }) => kind === 'read')).to.have.length(pages + 1)
    expect(log.filter(({ kind }) => kind === 'batch').every((batch) => batch.rows <= 256)).to.equal(true)
    // Another read gets the lists as bytes, which say their order.
    expect(rows).to.equal(CHILDREN + pages + 1)
    expect(log.length).to.be.at.most(1 + pages * (1 + 2 * NODES))
  })

  it('checks children of one parent by reading that parent once for a group of them', async () => {
    const progress: VerifyProgress[] = []
    const { byKind } = await server.commands.during(async () => {
      for await (const finding of db.verify(Listing, { onProgress: (now) => progress.push(now) }))
        expect.fail(finding.message)
    })
    expect(progress.at(-1)).to.deep.equal({ records: CHILDREN + 2, findings: 0, repaired: 0, unsettled: 0 })
    const groups = progress.length
    // Each child once, and with each group of 100 its two parents at most.
    const rows = (byKind.read?.rows ?? 0) + (byKind.batch?.rows ?? 0)
    expect(rows).to.be.within(CHILDREN + 2 + groups, CHILDREN + 2 + 2 * groups)
  })

  it('repairs a thousand links of one record, in pages that its own writes do not disturb', async () => {
    const gone: string[] = []
    for (let i = 0; i < CHILDREN; i += 2) gone.push(`l${i}`)
    await db.client.batchRemove(gone.map((id) => new Aerospike.Key(namespace, 'listing', id)))
    const states: string[] = []
    const { byKind } = await server.commands.during(async () => {
      for await (const { kind, state } of db.verify(Agent, { repair: true })) states.push(`${kind} ${state}`)
    })
    expect(states).to.deep.equal(gone.map(() => 'danglingKey repaired'))
    expect(byKind.write?.commands).to.equal(Math.ceil(CHILDREN / 499))
    const { bins } = await db.client.get(new Aerospike.Key(namespace, 'agent', 1))
    expect(bins.listings).to.have.length(CHILDREN / 2)
    await server.clock.advance(10)
    for await (const finding of db.verify([Agent, Listing])) expect.fail(finding.message)
  })

  it('stops when it is told to', async () => {
    const controller = new AbortController()
    const run = async () => {
      const onProgress = () => controller.abort(new Error('enough'))
      for await (const finding of db.verify(Listing, { onProgress, signal: controller.signal }))
        expect.fail(finding.kind)
    }
    expect(await run().catch((error: unknown) => error)).to.have.property('message', 'enough')
  })
})
