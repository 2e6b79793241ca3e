import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect } from 'chai'
import { PartialFailureError, RetriesExhaustedError, type Database, type Session } from 'skein'
import { Agent, Listing } from '../relations/models.js'
import { rejection } from '../session/rejection.js'
import { Bed } from './bed.js'

describe('a transaction that could not be rolled back', () => {
  let bed: Bed
  let db: Database
  let id: number
  before(async function () {
    bed = await Bed.start(this)
    bed.embedded(this, 'loses the end of a transaction')
    db = await bed.open({ retry: { attempts: Infinity } })
  })
  beforeEach(() => (id = bed.fresh()))
  afterEach(async () => {
    await bed.calm()
    // Ends what is left of it, so that the next test does not meet it.
    await bed.server.embedded!.clock.advance(30)
  })
  after(() => bed.stop())

  /** A flush of two records that belong together: the second write is not answered, and neither is the rollback. */
  async function lose(context: Mocha.Context, session: Session): Promise<unknown> {
    const agent = session.create(Agent, { id, name: 'Alma' })
    agent.listings.add(session.create(Listing, { id: `l${id}`, city: 'Lund' }))
    await bed.disturb(context, { kind: 'write', set: 'listing', key: `l${id}`, answer: 9, times: 1000 })
    await bed.disturb(context, { kind: 'txn-roll-back', answer: 9, times: 1000 })
    const error = await rejection(() => session.flush())
    expect(await bed.calm()).to.not.include(0)
    return error
  }

  /** Flushes, and lets the server end the lost transaction after more attempts than a conflict with others is given. */
  async function flushLate(session: Session): Promise<void> {
    let attempts = 0
    let isLong: () => void = () => undefined
    const waited = new Promise<void>((resolve) => (isLong = resolve))
    const count = (): void => void (++attempts > 12 && isLong())
    subscribe('skein:transaction', count)
    const flushing = session.flush()
    await Promise.race([waited, flushing]).finally(() => unsubscribe('skein:transaction', count))
    await bed.server.embedded!.clock.advance(30)
    await flushing
  }

  it('is not called undone', async function () {
    const error = (await lose(this, db.session())) as PartialFailureError
    expect(error).to.be.instanceOf(PartialFailureError)
    expect(error.records.map(({ outcome }) => outcome)).to.deep.equal(['notWritten', 'notWritten'])
    expect(error.message).to.contain('rollback was not confirmed').and.to.not.contain('undone with')
  })

  it('holds up the next flush until the server has ended it, however many attempts that takes', async function () {
    const session = db.session()
    await lose(this, session)
    await flushLate(session)
    expect(session.isDirty()).to.equal(false)
    const listing = await db.session().load(Listing, `l${id}`, { with: ['agent'] })
    expect(listing.agent.value?.name).to.equal('Alma')
  })

  it('is named by a transaction that cannot wait so long', async function () {
    await lose(this, db.session())
    const save = (session: Session) => Promise.resolve(void session.create(Agent, { id, name: 'Bert' }))
    const error = await rejection(() => db.transaction(save, { timeout: 1 }))
    expect(error).to.be.instanceOf(RetriesExhaustedError)
    expect((error as Error).message)
      .to.contain('still holds its records')
      .and.to.match(/Try again in \d+ s/)
  })

  it('may also be one that was committed: the next flush waits until all its records know', async function () {
    const session = db.session()
    const agent = session.create(Agent, { id, name: 'Alma' })
    agent.listings.add(session.create(Listing, { id: `l${id}`, city: 'Lund' }))
    await bed.disturb(this, { kind: 'txn-roll-forward', set: 'agent', key: id, answer: 9, times: 1000 })
    await session.flush()
    expect(await bed.calm()).to.not.include(0)
    agent.listings.add(session.create(Listing, { id: `m${id}`, city: 'Bern' }))
    await flushLate(session)
    const stored = await db.session().load(Agent, id, { with: ['listings'] })
    expect(stored.listings.items.map(({ city }) => city).sort()).to.deep.equal(['Bern', 'Lund'])
  })
})
