import { expect } from 'chai'
import type { Database } from 'skein'
import { Agent, Listing, User, agent, listing, user } from '../relations/models.js'
import { Bed } from './bed.js'

describe('a delete that was cut short (ap)', () => {
  let bed: Bed
  let db: Database
  before(async function () {
    bed = await Bed.start(this, 'ap')
    db = await bed.open()
  })
  after(() => bed?.stop())

  it('loads as gone, and is finished by deleting it again in another session', async function () {
    const alma = agent(bed.fresh())
    const children = [listing(`l${bed.fresh()}`), listing(`l${bed.fresh()}`)]
    alma.listings.add(...children)
    await db.session().save(alma)
    await bed.disturb(this, { kind: 'delete', answer: 4, times: 100 })
    await db
      .session()
      .delete(Agent, alma.id)
      .catch(() => undefined)
    expect((await bed.calm())[0]).to.be.greaterThan(0)
    expect(await db.session().find(Agent, alma.id)).to.equal(null)
    expect((await db.read(Listing, [children[0].id]))[0]).to.not.equal(null)
    expect(await db.session().delete(Agent, alma.id)).to.equal(true)
    expect(
      await db.read(
        Listing,
        children.map(({ id }) => id),
      ),
    ).to.deep.equal([null, null])
    expect(await db.session().delete(Agent, alma.id)).to.equal(false)
  })

  it('of a user removes that user from the lists of the others', async function () {
    const [a, b] = [user(bed.fresh()), user(bed.fresh())]
    a.follows.add(b)
    await db.session().save(a)
    await bed.disturb(this, { kind: 'delete', answer: 4, times: 100 })
    await db
      .session()
      .delete(User, a.id)
      .catch(() => undefined)
    await bed.calm()
    expect(await db.session().delete(User, a.id)).to.equal(true)
    expect(await (await db.session().load(User, b.id)).followers.keys()).to.deep.equal([])
  })
})
