import { expect } from 'chai'
import type { EntityClass, Session } from 'skein'
import { commandWords } from '../../command-words.js'
import { Account, Animal, Cat, Dog, Lease, Page, Person } from '../models.js'
import { inEachMode } from '../modes.js'
import { rejection } from '../rejection.js'

inEachMode('how many commands each operation takes', (bed) => {
  /** Lists a word for each request of the work: its kind, and its rows where it is a batch. */
  async function commandsOf(work: () => Promise<unknown>): Promise<string> {
    return (await commandWords(bed().server, work)).join(' ')
  }

  async function people(count: number): Promise<string[]> {
    const session = bed().db.session()
    const ids = Array.from({ length: count }, () => bed().fresh())
    for (const id of ids) session.create(Person, { id, name: `name of ${id}`, age: 30 })
    await session.flush()
    return ids
  }

  const session = (): Session => bed().db.session()

  it('save of a new entity: one write', async () => {
    const person = Object.assign(new Person(), { id: bed().fresh(), name: 'Ada' })
    expect(await commandsOf(() => session().save(person))).to.equal('write')
  })

  it('flush of 20 new entities: one batch', async () => {
    expect(await commandsOf(() => people(20))).to.equal('batch×20')
  })

  it('load: one read, and none for what the session has', async () => {
    const [id] = await people(1)
    const one = session()
    expect(await commandsOf(() => one.load(Person, id))).to.equal('read')
    expect(await commandsOf(() => one.load(Person, id))).to.equal('')
  })

  it('loads of one tick: one batch read, each record once', async () => {
    const [a, b] = await people(2)
    const one = session()
    const work = async (): Promise<void> => {
      const [x, y, z] = await Promise.all([one.load(Person, a), one.find(Person, b), one.load(Person, a)])
      expect(x).to.equal(z)
      expect(y!.id).to.equal(b)
    }
    expect(await commandsOf(work)).to.equal('batch×2')
  })

  it('loads of parts of one record in one tick: one read of all of them', async () => {
    const [id] = await people(1)
    for (const first of [{ only: ['name'] }, {}] as const) {
      const one = session()
      const work = async (): Promise<void> => {
        const loads = [first, { only: ['age'] }, { only: ['name'] }] as const
        const [x, y, z] = await Promise.all(loads.map((options) => one.load(Person, id, options)))
        expect([y, z]).to.deep.equal([x, x])
        expect(x).to.deep.include({ name: `name of ${id}`, age: 30 })
      }
      expect(await commandsOf(work)).to.equal('read')
    }
    const whole = session()
    const both = (): Promise<unknown> =>
      Promise.all([whole.load(Person, id, { only: ['name'] }), whole.load(Person, id)])
    expect(await commandsOf(both)).to.equal('read')
    expect(await commandsOf(() => whole.load(Person, id))).to.equal('')
  })

  it('load of a part of a record while another part is read: the rest is read after it', async () => {
    const [id] = await people(1)
    const one = session()
    const work = async (): Promise<void> => {
      const first = one.load(Person, id, { only: ['name'] })
      await new Promise((resolve) => setImmediate(resolve))
      const [x, y] = await Promise.all([first, one.load(Person, id, { only: ['age'] })])
      expect(x)
        .to.equal(y)
        .and.to.deep.include({ name: `name of ${id}`, age: 30 })
    }
    expect(await commandsOf(work)).to.equal('read read')
  })

  it('loads of one record as its class and as its base class in one tick: one read', async () => {
    const id = bed().fresh()
    await session().save(Object.assign(new Dog(), { id, name: 'Rex' }))
    for (const classes of [
      [Animal, Dog],
      [Dog, Animal],
    ] as EntityClass<Animal>[][]) {
      const one = session()
      const work = async (): Promise<void> => {
        const [x, y] = await Promise.all(classes.map((each) => one.load(each, id)))
        expect(x).to.equal(y).and.to.be.instanceOf(Dog)
      }
      expect(await commandsOf(work)).to.equal('read')
    }
    const one = session()
    const [wrong, right] = await Promise.all([rejection(() => one.load(Cat, id)), one.load(Animal, id)])
    expect(wrong).to.have.property('code', 'SKEIN_3102')
    expect(right).to.be.instanceOf(Dog)
  })

  it('loads that promises of one tick lead to: still one batch read', async () => {
    const [a, b, c] = await people(3)
    const one = session()
    const work = (): Promise<unknown> =>
      Promise.all([
        one.load(Person, a),
        Promise.resolve().then(() => one.load(Person, b)),
        (async () => {
          await Promise.resolve()
          await Promise.resolve()
          return one.load(Person, c)
        })(),
      ])
    expect(await commandsOf(work)).to.equal('batch×3')
  })

  it('a load while the same record is being loaded: none', async () => {
    const [id] = await people(1)
    const one = session()
    const work = async (): Promise<void> => {
      const first = one.load(Person, id)
      await new Promise((resolve) => setImmediate(resolve))
      expect(await one.load(Person, id)).to.equal(await first)
    }
    expect(await commandsOf(work)).to.equal('read')
  })

  it('loadMany of 100: one batch read', async () => {
    const ids = await people(100)
    expect(await commandsOf(() => session().loadMany(Person, ids))).to.equal('batch×100')
  })

  it('db.read of 100: one batch read', async () => {
    const ids = await people(100)
    expect(await commandsOf(() => bed().db.read(Person, ids))).to.equal('batch×100')
  })

  it('save of a changed entity: one write; of an unchanged one: none', async () => {
    const [id] = await people(1)
    const one = session()
    const person = await one.load(Person, id)
    person.age = 31
    person.tags = ['a']
    expect(await commandsOf(() => one.save(person))).to.equal('write')
    expect(await commandsOf(() => one.save(person))).to.equal('')
    expect(await commandsOf(() => one.flush())).to.equal('')
  })

  it('flush of 3 changed entities among 50: one batch of 3', async () => {
    const one = session()
    const all = await one.loadMany(Person, await people(50))
    for (const person of all.slice(10, 13)) person.age!++
    expect(await commandsOf(() => one.flush())).to.equal('batch×3')
  })

  it('flush of new, changed and removed entities without relations: one batch', async () => {
    const one = session()
    const [changed, removed] = await one.loadMany(Person, await people(2))
    changed.name = 'changed'
    one.remove(removed)
    one.create(Person, { id: bed().fresh(), name: 'new' })
    expect(await commandsOf(() => one.flush())).to.equal('batch×3')
  })

  it('versioned save: one write', async () => {
    const one = session()
    const account = one.create(Account, { id: bed().freshNumber(), owner: 'Ada' })
    await one.flush()
    account.balance = 5
    expect(await commandsOf(() => one.save(account))).to.equal('write')
  })

  it('upsert: one write', async () => {
    const account = Object.assign(new Account(), { id: bed().freshNumber(), owner: 'Ada' })
    expect(await commandsOf(() => session().upsert(account))).to.equal('write')
  })

  it('a counter: one write', async () => {
    const one = session()
    const page = one.create(Page, { path: bed().fresh() })
    await one.flush()
    page.views += 3
    expect(await commandsOf(() => one.save(page))).to.equal('write')
  })

  it('delete of an entity, and by key: one command each', async () => {
    const [a, b] = await people(2)
    const one = session()
    const person = await one.load(Person, a)
    expect(await commandsOf(() => one.delete(person))).to.equal('delete')
    expect(await commandsOf(() => one.delete(Person, b))).to.equal('delete')
  })

  it('refresh: one read', async () => {
    const [id] = await people(1)
    const one = session()
    const person = await one.load(Person, id)
    expect(await commandsOf(() => one.refresh(person))).to.equal('read')
  })

  it('explain, changes and isDirty: none', async () => {
    const one = session()
    const lease = one.create(Lease, { holder: 'Ada' })
    const work = async (): Promise<void> => {
      expect((await one.explain()).commands).to.have.length(1)
      expect(one.changes(lease).kind).to.equal('create')
      expect(one.isDirty()).to.equal(true)
    }
    expect(await commandsOf(work)).to.equal('')
  })

  it('saves that run at the same time share round trips', async () => {
    const one = session()
    const all = await one.loadMany(Person, await people(64))
    for (const person of all) person.age!++
    const summary = await bed().server.commands.during(() => Promise.all(all.map((person) => one.save(person))))
    expect(summary.rows).to.equal(64)
    expect(summary.commands).to.be.lessThan(16)
  })
})
