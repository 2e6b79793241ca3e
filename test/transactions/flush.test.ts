import { expect } from 'chai'
import {
  Bin,
  CommitInDoubtError,
  EntityGoneError,
  Key,
  ManyToOne,
  PartialFailureError,
  Record,
  RetriesExhaustedError,
  SkeinError,
  ref,
  type Database,
} from 'skein'
import { Agent, Listing, User, agent, listing, user } from '../relations/models.js'
import { Person } from '../session/models.js'
import { Bed, rejection } from './bed.js'

@Record({ set: 'visit', namespace: 'cache' })
class Visit {
  @Key() id!: string
  @Bin() at?: number
  @ManyToOne(() => Agent) agent = ref<Agent>()
}

@Record({ set: 'note', namespace: 'more' })
class Note {
  @Key() id!: string
  @Bin() text?: string
  @ManyToOne(() => Agent) agent = ref<Agent>()
}

describe('a flush in transactions', () => {
  let bed: Bed
  let db: Database
  before(async function () {
    bed = await Bed.start(this)
    db = await bed.open()
  })
  after(() => bed?.stop())
  afterEach(async () => expect(await bed.calm()).to.not.include(0))

  const children = (count: number): Listing[] => Array.from({ length: count }, () => listing(`l${bed.fresh()}`))
  const plain = (kinds: string[]): boolean => !kinds.some((kind) => kind.startsWith('txn'))
  const commits = (kinds: string[]): number => kinds.filter((kind) => kind === 'txn-commit').length

  it('sends one record plainly', async () => {
    expect(await bed.commandsOf(() => db.session().save(agent(bed.fresh())))).to.deep.equal(['write'])
  })

  it('sends unrelated records in plain batches, however many', async () => {
    const session = db.session()
    for (let i = 0; i < 5000; i++) session.persist(agent(bed.fresh()))
    const kinds = await bed.commandsOf(() => session.flush())
    expect(kinds.length).to.be.lessThan(60)
    expect(plain(kinds)).to.equal(true)
    expect(session.isDirty()).to.equal(false)
  })

  it('writes records that are tied together in one transaction, each once', async () => {
    const alma = agent(bed.fresh())
    alma.listings.add(...children(2))
    const kinds = await bed.commandsOf(() => db.session().save(alma))
    expect(commits(kinds)).to.equal(1)
    expect(kinds.filter((kind) => kind === 'write')).to.have.length(3)
  })

  it('uses one transaction for each group, and none for what belongs to no group', async () => {
    const session = db.session()
    for (let i = 0; i < 3; i++) session.persist(agent(bed.fresh())).listings.add(...children(2))
    for (let i = 0; i < 4; i++) session.persist(agent(bed.fresh()))
    session.persist(Object.assign(new Person(), { id: `p${bed.fresh()}`, name: 'Ada' }))
    const kinds = await bed.commandsOf(() => session.flush())
    expect(commits(kinds)).to.equal(3)
    expect(kinds).to.include('batch×5')
  })

  it('shows the transaction in explain', async () => {
    const session = db.session()
    const alma = session.persist(agent(bed.fresh()))
    alma.listings.add(...children(1))
    session.persist(agent(bed.fresh()))
    const kinds = await bed.commandsOf(async () => {
      const explained = await session.explain()
      expect(explained.plans.map((plan) => [plan.transaction, plan.stages.length])).to.deep.equal([
        [false, 1],
        [true, 1],
      ])
      expect(String(explained)).to.contain('in one transaction')
      const staged = await session.explain(undefined, { transactions: 'off' })
      expect(String(staged)).to.not.contain('in one transaction')
      expect(staged.plans[0].stages.map(({ title }) => title)).to.deep.equal(['write', 'add references'])
    })
    expect(kinds).to.deep.equal([])
  })

  it("works in stages with transactions: 'off', for one flush or for all", async () => {
    const off = await bed.open({ transactions: 'off' })
    for (const save of [
      (entity: Agent) => db.session().save(entity, { transactions: 'off' }),
      (entity: Agent) => off.session().save(entity),
    ]) {
      const alma = agent(bed.fresh())
      alma.listings.add(...children(2))
      expect(plain(await bed.commandsOf(() => save(alma)))).to.equal(true)
    }
  })

  it("uses one with transactions: 'required'", async () => {
    const strict = await bed.open({ transactions: 'required' })
    const alma = agent(bed.fresh())
    alma.listings.add(...children(2))
    expect(commits(await bed.commandsOf(() => strict.session().save(alma)))).to.equal(1)
  })

  for (const [kind, code] of [
    [Visit, 'SKEIN_4301'],
    [Note, 'SKEIN_4303'],
  ] as const) {
    it(`works in stages across namespaces (${kind.name}), or refuses that before anything is sent`, async function () {
      bed.embedded(this, 'has more than one namespace')
      const both = await bed.open({ entities: [Agent, Listing, kind] })
      const make = (): Visit | Note => {
        const one = Object.assign(new kind(), { id: `v${bed.fresh()}` })
        one.agent.set(agent(bed.fresh()))
        return one
      }
      const kinds = await bed.commandsOf(async () => {
        const thrown = await rejection<SkeinError>(both.session().save(make(), { transactions: 'required' }))
        expect(thrown.code).to.equal(code)
      })
      expect(kinds).to.deep.equal([])
      const one = make()
      expect(plain(await bed.commandsOf(() => both.session().save(one)))).to.equal(true)
      expect((await both.session().load<Visit | Note>(kind, one.id)).agent.key).to.equal(one.agent.key)
    })
  }

  it('works in stages when a group is too large, or refuses that before anything is sent', async () => {
    const alma = agent(bed.fresh())
    alma.listings.add(...children(4096))
    const session = db.session()
    const kinds = await bed.commandsOf(async () => {
      const thrown = await rejection<SkeinError>(session.save(alma, { transactions: 'required' }))
      expect(thrown.code).to.equal('SKEIN_4302')
    })
    expect(kinds).to.deep.equal([])
    expect(plain(await bed.commandsOf(() => session.save(alma)))).to.equal(true)
    expect(await alma.listings.count()).to.equal(4096)
  })

  it('writes nothing when one record cannot be written, and completes when that is mended', async () => {
    const [a, b] = [agent(bed.fresh()), agent(bed.fresh())]
    const [child] = children(1)
    a.listings.add(child)
    const session = db.session()
    session.persist(a)
    session.persist(b)
    await session.flush()
    await db.session().delete(Agent, b.id)
    child.agent.set(b)
    child.city = 'Basel'
    const thrown = await rejection<PartialFailureError>(session.flush())
    expect(thrown).to.be.instanceOf(PartialFailureError)
    expect(thrown.cause).to.be.instanceOf(EntityGoneError)
    expect(new Set(thrown.records.map(({ outcome }) => outcome))).to.deep.equal(new Set(['notWritten']))
    const check = await db.session().load(Listing, child.id)
    expect([check.agent.key, check.city]).to.deep.equal([a.id, 'Bern'])
    expect(await (await db.session().load(Agent, a.id)).listings.keys()).to.deep.equal([child.id])
    child.agent.set(a)
    await session.flush()
    expect((await db.session().load(Listing, child.id)).city).to.equal('Basel')
  })

  it('tries again on a conflict, and then both sides are right', async function () {
    await bed.disturb(this, { kind: 'write', set: 'listing', answer: 120, times: 2 })
    const alma = agent(bed.fresh())
    alma.listings.add(...children(2))
    const session = db.session()
    await session.save(alma)
    expect(session.isDirty()).to.equal(false)
    expect(await (await db.session().load(Agent, alma.id)).listings.count()).to.equal(2)
  })

  it('gives up after a bounded number of attempts, and the session is as dirty as before', async function () {
    await bed.disturb(this, { kind: 'write', set: 'listing', answer: 120, times: 1000 })
    const alma = agent(bed.fresh())
    alma.listings.add(...children(2))
    const session = db.session()
    const thrown = await rejection<RetriesExhaustedError>(session.save(alma))
    expect(thrown).to.be.instanceOf(RetriesExhaustedError)
    await bed.calm()
    expect(await db.read(Agent, [alma.id])).to.deep.equal([null])
    await session.flush()
    expect(await (await db.session().load(Agent, alma.id)).listings.count()).to.equal(2)
  })

  it('says when a commit is in doubt; the next flush finds out what happened', async function () {
    await bed.disturb(this, { kind: 'txn-commit', drop: true, after: true, times: 1000 })
    const alma = agent(bed.fresh())
    alma.listings.add(...children(2))
    const impatient = await bed.open({ retry: { deadline: 300 } })
    const session = impatient.session()
    const thrown = await rejection(session.save(alma))
    expect(thrown).to.be.instanceOf(CommitInDoubtError)
    await bed.calm()
    await bed.embedded(this, 'lets time pass').clock.advance(20)
    await session.flush()
    const found = await db.session().load(Agent, alma.id, { with: ['listings'] })
    expect(found.listings.items).to.have.length(2)
    expect(session.isDirty()).to.equal(false)
  })

  it('moves a child that somebody else has moved since it was loaded', async () => {
    const [a, b, c] = [agent(bed.fresh()), agent(bed.fresh()), agent(bed.fresh())]
    const [child] = children(1)
    a.listings.add(child)
    const session = db.session()
    for (const one of [a, b, c]) session.persist(one)
    await session.flush()
    const other = db.session()
    ;(await other.load(Listing, child.id)).agent.set(b.id)
    await other.flush()
    child.agent.set(c)
    await session.flush()
    const found = await db.session().loadMany(Agent, [a.id, b.id, c.id], { with: ['listings'] })
    expect(found.map((one) => one.listings.items.map(({ id }) => id))).to.deep.equal([[], [], [child.id]])
  })

  it('deletes children that were added since the parent was loaded', async () => {
    const alma = agent(bed.fresh())
    const [first, late] = children(2)
    alma.listings.add(first)
    await db.session().save(alma)
    const session = db.session()
    const mine = await session.load(Agent, alma.id)
    const other = db.session()
    late.agent.set(alma.id)
    await other.save(late)
    await session.delete(mine)
    expect(await db.read(Listing, [first.id, late.id])).to.deep.equal([null, null])
  })

  it('follows, unfollows and deletes a user with both sides in one commit', async () => {
    const [a, b, c] = [user(bed.fresh()), user(bed.fresh()), user(bed.fresh())]
    a.follows.add(b, c)
    const session = db.session()
    expect(commits(await bed.commandsOf(() => session.save(a)))).to.equal(1)
    a.follows.remove(b)
    expect(commits(await bed.commandsOf(() => session.flush()))).to.equal(1)
    expect(await (await db.session().load(User, b.id)).followers.keys()).to.deep.equal([])
    expect(commits(await bed.commandsOf(() => session.delete(a)))).to.equal(1)
    expect(await (await db.session().load(User, c.id)).followers.keys()).to.deep.equal([])
  })
})
