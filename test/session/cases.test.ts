import { expect } from 'chai'
import { readFileSync } from 'node:fs'
import {
  AlreadyExistsError,
  EntityGoneError,
  NotFoundError,
  SkeinError,
  VersionConflictError,
  type Session,
} from 'skein'
import { need } from '../server.js'
import { rejection } from './rejection.js'
import { Account, Animal, Cat, Dog, Note, Order, Person, Ticket } from './models.js'
import { inEachMode, type Bed } from './modes.js'

type Case = (this: Mocha.Context, bed: Bed) => Promise<void>

const text = readFileSync('docs/reference/session.md', 'utf8')
const table = text.slice(text.indexOf('## Case by case'), text.indexOf('## When something fails'))
const documented = [...table.matchAll(/^\| (.+?) +\|/gm)]
  .map(([, name]) => name)
  .filter((name) => !/^(case|-+)$/.test(name))

async function stored(bed: Bed, values: Partial<Person> = {}): Promise<string> {
  const id = bed.fresh()
  await bed.db.session().save(Object.assign(new Person(), { id, name: 'Ada', age: 36, ...values }))
  return id
}

async function storedAccount(bed: Bed): Promise<number> {
  const id = bed.freshNumber()
  await bed.db.session().save(Object.assign(new Account(), { id, owner: 'Ada' }))
  return id
}

const codeOf = async (work: () => unknown): Promise<string> => {
  const error = await rejection(work)
  return error instanceof SkeinError ? error.code : String(error)
}

/** Reads the stored record as another session sees it. */
const now = async (bed: Bed, id: string): Promise<Person | null> => bed.db.session().find(Person, id)

/** Does something to the record behind the session's back. */
async function elsewhere(bed: Bed, id: string, change: (person: Person, session: Session) => unknown): Promise<void> {
  const other = bed.db.session()
  await change(await other.load(Person, id), other)
  await other.flush()
}

async function changeAccountElsewhere(bed: Bed, id: number): Promise<void> {
  const other = bed.db.session()
  const account = await other.load(Account, id)
  account.balance += 1
  await other.flush()
}

async function expire(context: Mocha.Context, bed: Bed): Promise<string> {
  const server = need(context, bed.server.embedded, 'only the embedded server has a clock to move')
  const { id } = await bed.db.session().save(Object.assign(new Ticket(), { title: 'soon gone' }))
  await server.clock.advance(0)
  return id
}

const cases: { readonly [name: string]: Case } = {
  async 'a session is used after `close`'(bed) {
    const session = bed.db.session()
    const person = await session.load(Person, await stored(bed))
    await session.close()
    for (const call of [
      () => session.load(Person, 'x'),
      () => session.find(Person, 'x'),
      () => session.loadMany(Person, []),
      () => session.findMany(Person, []),
      () => session.create(Person),
      () => session.persist(person),
      () => session.remove(person),
      () => session.save(person),
      () => session.upsert(person),
      () => session.delete(person),
      () => session.delete(Person, 'x'),
      () => session.flush(),
      () => session.refresh(person),
      () => session.isDirty(),
      () => session.changes(person),
      () => session.explain(),
    ]) {
      expect(await codeOf(call), String(call)).to.equal('SKEIN_2301')
    }
    await session.close()
    await bed.db.session().upsert(person)
  },

  async 'a session is closed while it loads'(bed) {
    const session = bed.db.session()
    const id = await stored(bed)
    const load = codeOf(() => session.load(Person, id))
    await session.close()
    expect(await load).to.equal('SKEIN_2301')
  },

  async 'a session is closed with unsaved changes'(bed) {
    const session = bed.db.session()
    const id = await stored(bed)
    const person = await session.load(Person, id)
    person.name = 'changed'
    await session.close()
    expect((await now(bed, id))!.name).to.equal('Ada')
  },

  async 'an entity of another session is saved, removed or refreshed'(bed) {
    const owner = bed.db.session()
    const person = await owner.load(Person, await stored(bed))
    const session = bed.db.session()
    for (const call of [
      () => session.save(person),
      () => session.persist(person),
      () => session.upsert(person),
      () => session.remove(person),
      () => session.delete(person),
      () => session.refresh(person),
      () => session.isDirty(person),
    ]) {
      expect(await codeOf(call), String(call)).to.equal('SKEIN_2303')
    }
    owner.detach(person)
    expect(await session.delete(person)).to.equal(true)
  },

  async 'an entity that no session has is saved'(bed) {
    const id = await stored(bed)
    const first = bed.db.session()
    const person = await first.load(Person, id)
    first.detach(person)
    person.name = 'detached'
    const session = bed.db.session()
    expect(await rejection(() => session.save(person))).to.be.instanceOf(AlreadyExistsError)
    await session.upsert(person)
    expect((await now(bed, id))!.name).to.equal('detached')
  },

  async 'an entity that no session has is deleted'(bed) {
    const id = await stored(bed)
    expect(await bed.db.session().delete(Object.assign(new Person(), { id }))).to.equal(true)
    expect(await bed.db.session().delete(Object.assign(new Person(), { id }))).to.equal(false)
    expect(await now(bed, id)).to.equal(null)
  },

  async 'a new entity has a key that is taken'(bed) {
    const id = await stored(bed)
    const again = Object.assign(new Person(), { id, name: 'Eve' })
    expect(await rejection(() => bed.db.session().save(again))).to.be.instanceOf(AlreadyExistsError)
    expect((await now(bed, id))!.name).to.equal('Ada')
  },

  async 'a new entity is removed before it was flushed'(bed) {
    const session = bed.db.session()
    const person = session.create(Person, { id: bed.fresh(), name: 'Ada' })
    session.remove(person)
    expect(session.isDirty()).to.equal(false)
    expect((await session.explain()).commands).to.have.length(0)
    await session.flush()
    expect(await now(bed, person.id)).to.equal(null)
  },

  async 'a deleted entity is saved again'(bed) {
    const session = bed.db.session()
    const account = await session.load(Account, await storedAccount(bed))
    account.balance = 1
    await session.save(account)
    await session.delete(account)
    await session.save(account)
    expect(account.version).to.equal(1)
    expect((await bed.db.session().load(Account, account.id)).balance).to.equal(1)
  },

  async 'an entity is persisted or saved after `remove`'(bed) {
    const session = bed.db.session()
    const person = await session.load(Person, await stored(bed))
    session.remove(person)
    session.persist(person)
    await session.flush()
    expect(await now(bed, person.id)).to.not.equal(null)
    session.remove(person)
    person.name = 'kept'
    await session.save(person)
    expect((await now(bed, person.id))!.name).to.equal('kept')
  },

  async 'an entity is loaded after `remove`'(bed) {
    const session = bed.db.session()
    const person = await session.load(Person, await stored(bed))
    session.remove(person)
    expect(await session.find(Person, person.id)).to.equal(null)
    expect(await rejection(() => session.load(Person, person.id))).to.be.instanceOf(NotFoundError)
    expect(await now(bed, person.id)).to.not.equal(null)
  },

  async 'an entity is loaded after `persist`'(bed) {
    const session = bed.db.session()
    const person = session.create(Person, { id: bed.fresh(), name: 'Ada' })
    expect(await session.load(Person, person.id)).to.equal(person)
  },

  async 'an entity is loaded a second time'(bed) {
    const session = bed.db.session()
    const person = await session.load(Person, await stored(bed))
    person.name = 'changed'
    expect(await session.load(Person, person.id)).to.equal(person)
    expect(person.name).to.equal('changed')
  },

  async 'the key of a loaded entity is changed'(bed) {
    const session = bed.db.session()
    const id = await stored(bed)
    const person = await session.load(Person, id)
    person.id = bed.fresh()
    person.name = 'changed'
    expect(await codeOf(() => session.save(person))).to.equal('SKEIN_2203')
    expect(await codeOf(() => session.upsert(person))).to.equal('SKEIN_2203')
    expect(await now(bed, person.id)).to.equal(null)
    expect((await now(bed, id))!.name).to.equal('Ada')
  },

  async 'the key of a new entity is changed after `persist`'(bed) {
    const session = bed.db.session()
    const before = bed.fresh()
    const person = session.create(Person, { id: before, name: 'Ada' })
    person.id = bed.fresh()
    expect(await codeOf(() => session.flush())).to.equal('SKEIN_2203')
    expect(await bed.db.session().findMany(Person, [before, person.id])).to.deep.equal([null, null])
  },

  async 'two instances have one key'(bed) {
    const session = bed.db.session()
    const id = await stored(bed)
    await session.load(Person, id)
    expect(await codeOf(() => session.persist(Object.assign(new Person(), { id })))).to.equal('SKEIN_2304')
    const fresh = bed.fresh()
    session.create(Person, { id: fresh, name: 'one' })
    expect(await codeOf(() => session.create(Person, { id: fresh, name: 'two' }))).to.equal('SKEIN_2304')
  },

  async 'a partial entity is changed'(bed) {
    const session = bed.db.session()
    const id = await stored(bed, { tags: ['a'] })
    const person = await session.load(Person, id, { only: ['name'] })
    expect(person.age).to.equal(undefined)
    expect(person.tags).to.equal(undefined)
    expect(session.isDirty(person)).to.equal(false)
    person.name = 'changed'
    expect(session.changes(person).operations).to.deep.equal([{ kind: 'writeBin', bin: 'name', value: 'changed' }])
    await session.save(person)
    const { name, age, tags } = (await now(bed, id))!
    expect({ name, age, tags }).to.deep.equal({ name: 'changed', age: 36, tags: ['a'] })
  },

  async 'a partial entity is given a property that was not loaded'(bed) {
    const session = bed.db.session()
    const person = await session.load(Person, await stored(bed), { only: ['name'] })
    person.age = 1
    expect(await codeOf(() => session.save(person))).to.equal('SKEIN_2202')
    expect((await now(bed, person.id))!.age).to.equal(36)
  },

  async 'a partial entity is loaded in full'(bed) {
    const session = bed.db.session()
    const person = await session.load(Person, await stored(bed), { only: ['name'] })
    person.name = 'changed'
    expect(await session.load(Person, person.id)).to.equal(person)
    expect(person.age).to.equal(36)
    expect(session.changes(person).properties).to.deep.equal(['name'])
    person.age = 37
    await session.save(person)
    const { name, age } = (await now(bed, person.id))!
    expect({ name, age }).to.deep.equal({ name: 'changed', age: 37 })
  },

  async 'a partial entity is upserted'(bed) {
    const session = bed.db.session()
    const person = await session.load(Person, await stored(bed), { only: ['name'] })
    expect(await codeOf(() => session.upsert(person))).to.equal('SKEIN_2306')
    await session.refresh(person)
    await session.upsert(person)
  },

  async 'a partial entity is validated'(bed) {
    // The rules and the classes that have them are in validation.test.ts; here: loading a part does not make the rest invalid.
    const session = bed.db.session()
    const person = await session.load(Person, await stored(bed), { only: ['age'] })
    person.age = 40
    await session.save(person)
    expect((await now(bed, person.id))!.name).to.equal('Ada')
  },

  async 'the record is deleted elsewhere, then saved here'(bed) {
    const session = bed.db.session()
    const person = await session.load(Person, await stored(bed))
    await elsewhere(bed, person.id, (other, its) => its.remove(other))
    person.name = 'changed'
    expect(await rejection(() => session.save(person))).to.be.instanceOf(EntityGoneError)
    expect(await now(bed, person.id)).to.equal(null)
    expect(session.isDirty(person)).to.equal(true)
  },

  async 'the record is deleted elsewhere, then deleted here'(bed) {
    const session = bed.db.session()
    const person = await session.load(Person, await stored(bed))
    await elsewhere(bed, person.id, (other, its) => its.remove(other))
    expect(await session.delete(person)).to.equal(false)
  },

  async 'the record is deleted elsewhere, then refreshed here'(bed) {
    const session = bed.db.session()
    const person = await session.load(Person, await stored(bed))
    await elsewhere(bed, person.id, (other, its) => its.remove(other))
    expect(await rejection(() => session.refresh(person))).to.be.instanceOf(EntityGoneError)
  },

  async 'the record is deleted elsewhere, then upserted here'(bed) {
    const session = bed.db.session()
    const person = await session.load(Person, await stored(bed))
    await elsewhere(bed, person.id, (other, its) => its.remove(other))
    person.name = 'back'
    await session.upsert(person)
    expect((await now(bed, person.id))!.name).to.equal('back')
    person.name = 'and saved'
    await session.save(person)
    expect((await now(bed, person.id))!.name).to.equal('and saved')
  },

  async 'other properties are changed elsewhere'(bed) {
    const session = bed.db.session()
    const person = await session.load(Person, await stored(bed))
    await elsewhere(bed, person.id, (other) => (other.age = 99))
    person.name = 'changed'
    await session.save(person)
    const { name, age } = (await now(bed, person.id))!
    expect({ name, age }).to.deep.equal({ name: 'changed', age: 99 })
  },

  async 'the same property is changed elsewhere'(bed) {
    const session = bed.db.session()
    const person = await session.load(Person, await stored(bed))
    await elsewhere(bed, person.id, (other) => (other.name = 'theirs'))
    person.name = 'ours'
    await session.save(person)
    expect((await now(bed, person.id))!.name).to.equal('ours')
  },

  async 'a versioned record is changed elsewhere, then saved here'(bed) {
    const session = bed.db.session()
    const account = await session.load(Account, await storedAccount(bed))
    await changeAccountElsewhere(bed, account.id)
    account.owner = 'Eve'
    const error = await rejection(() => session.save(account))
    expect(error).to.be.instanceOf(VersionConflictError)
    expect(error).to.include({ expected: 1, stored: 2 })
    expect(account.version).to.equal(1)
    await session.refresh(account)
    account.owner = 'Eve'
    await session.save(account)
    expect(account.version).to.equal(3)
    const { owner, balance } = await bed.db.session().load(Account, account.id)
    expect({ owner, balance }).to.deep.equal({ owner: 'Eve', balance: 1 })
  },

  async 'a versioned record is changed elsewhere, then deleted here'(bed) {
    const session = bed.db.session()
    const account = await session.load(Account, await storedAccount(bed))
    await changeAccountElsewhere(bed, account.id)
    expect(await rejection(() => session.delete(account))).to.be.instanceOf(VersionConflictError)
    expect(await bed.db.session().find(Account, account.id)).to.not.equal(null)
    expect(await session.delete(Account, account.id)).to.equal(true)
    expect(await bed.db.session().find(Account, account.id)).to.equal(null)
  },

  async 'a versioned record is changed elsewhere, then upserted here'(bed) {
    const session = bed.db.session()
    const account = await session.load(Account, await storedAccount(bed))
    await changeAccountElsewhere(bed, account.id)
    const watcher = bed.db.session()
    const watched = await watcher.load(Account, account.id)
    await session.upsert(account)
    expect(account.version).to.equal(3)
    watched.owner = 'Eve'
    expect(await rejection(() => watcher.save(watched))).to.be.instanceOf(VersionConflictError)
    expect((await bed.db.session().load(Account, account.id)).balance).to.equal(0)
  },

  async 'the record has expired, then it is loaded'(bed) {
    const id = await expire(this, bed)
    await bed.server.embedded!.clock.advance(101)
    expect(await rejection(() => bed.db.session().load(Ticket, id))).to.be.instanceOf(NotFoundError)
  },

  async 'the record has expired, then it is saved'(bed) {
    const id = await expire(this, bed)
    const session = bed.db.session()
    const ticket = await session.load(Ticket, id)
    await bed.server.embedded!.clock.advance(101)
    ticket.title = 'changed'
    expect(await rejection(() => session.save(ticket))).to.be.instanceOf(EntityGoneError)
  },

  async 'the record has expired, then a new entity takes its key'(bed) {
    const id = await expire(this, bed)
    await bed.server.embedded!.clock.advance(101)
    await bed.db.session().save(Object.assign(new Ticket(), { id, title: 'next' }))
    expect((await bed.db.session().load(Ticket, id)).title).to.equal('next')
  },

  async 'an entity is changed while its flush is under way'(bed) {
    const session = bed.db.session()
    const person = await session.load(Person, await stored(bed, { tags: ['a'] }))
    person.name = 'first'
    person.tags = ['a', 'b']
    const flush = session.flush()
    person.name = 'second'
    person.tags.push('c')
    await flush
    expect(session.changes(person).properties).to.have.members(['name', 'tags'])
    const between = (await now(bed, person.id))!
    expect([between.name, between.tags]).to.deep.equal(['first', ['a', 'b']])
    await session.flush()
    const after = (await now(bed, person.id))!
    expect([after.name, after.tags]).to.deep.equal(['second', ['a', 'b', 'c']])
  },

  async 'an entity is saved while its save is under way'(bed) {
    const session = bed.db.session()
    const account = await session.load(Account, await storedAccount(bed))
    account.balance = 1
    const first = session.save(account)
    account.balance = 2
    await Promise.all([first, session.save(account), session.save(account)])
    expect([account.version, (await bed.db.session().load(Account, account.id)).balance]).to.deep.equal([3, 2])
  },

  async 'a flush is called while a flush is under way'(bed) {
    const session = bed.db.session()
    const account = await session.load(Account, await storedAccount(bed))
    account.balance = 1
    const first = session.flush()
    account.balance = 2
    const created = session.create(Person, { id: bed.fresh(), name: 'between' })
    await Promise.all([first, session.flush()])
    expect([account.version, (await bed.db.session().load(Account, account.id)).balance]).to.deep.equal([3, 2])
    expect(await now(bed, created.id)).to.not.equal(null)
  },

  async 'an entity is removed while its save is under way'(bed) {
    const session = bed.db.session()
    const person = session.create(Person, { id: bed.fresh(), name: 'Ada' })
    const save = session.save(person)
    session.remove(person)
    await save
    expect(await now(bed, person.id)).to.not.equal(null)
    await session.flush()
    expect(await now(bed, person.id)).to.equal(null)
    session.persist(person)
    const flush = session.flush()
    session.remove(person)
    await flush
    expect(await now(bed, person.id)).to.not.equal(null)
    await session.flush()
    expect(await now(bed, person.id)).to.equal(null)
  },

  async 'a new entity is removed while its save fails'(bed) {
    const session = bed.db.session()
    for (const send of [(each: Person) => session.save(each), () => session.flush()]) {
      const person = session.create(Person, { id: await stored(bed), name: 'Eve' })
      const saving = rejection(() => send(person))
      session.remove(person)
      expect(await saving).to.be.instanceOf(AlreadyExistsError)
      await session.flush()
      expect((await now(bed, person.id))!.name).to.equal('Ada')
    }
  },

  async 'an entity is saved while its delete is under way'(bed) {
    const session = bed.db.session()
    const account = await session.load(Account, await storedAccount(bed))
    const deleting = session.delete(account)
    account.balance = 5
    const saving = session.save(account)
    expect(await deleting).to.equal(true)
    await saving
    const found = await bed.db.session().load(Account, account.id)
    expect([found.balance, found.version, account.version]).to.deep.equal([5, 1, 1])
    const again = session.delete(account)
    const upserting = session.upsert(account)
    expect(await again).to.equal(true)
    await upserting
    expect((await bed.db.session().load(Account, account.id)).balance).to.equal(5)
    session.remove(account)
    const flush = session.flush()
    session.persist(account)
    await flush
    expect(await bed.db.session().find(Account, account.id)).to.equal(null)
    expect(session.isDirty(account)).to.equal(true)
    await session.flush()
    expect((await bed.db.session().load(Account, account.id)).version).to.equal(1)
  },

  async 'a value cannot be stored'(bed) {
    const session = bed.db.session()
    const person = await session.load(Person, await stored(bed))
    const other = session.create(Person, { id: bed.fresh(), name: 'other' })
    person.name = 17 as unknown as string
    const error = (await rejection(() => session.flush())) as SkeinError
    expect([error.code, error.details.className, error.details.property]).to.deep.equal([
      'SKEIN_2201',
      'Person',
      'name',
    ])
    expect(await now(bed, other.id)).to.equal(null)
    person.name = 'mended'
    await session.flush()
    expect((await now(bed, other.id))!.name).to.equal('other')
  },

  async 'a class is not part of the model'(bed) {
    class Stranger {}
    expect(await codeOf(() => bed.db.session().load(Stranger, 1))).to.equal('SKEIN_2001')
    expect(await codeOf(() => bed.db.session().save(new Stranger()))).to.equal('SKEIN_2001')
  },

  async 'a record is loaded as another class of its set'(bed) {
    const session = bed.db.session()
    const dog = session.create(Dog, { id: bed.fresh(), name: 'Rex', tricks: 3 })
    await session.flush()
    expect(await codeOf(() => session.load(Cat, dog.id))).to.equal('SKEIN_3102')
    expect(await codeOf(() => bed.db.session().load(Cat, dog.id))).to.equal('SKEIN_3102')
    expect(await bed.db.session().load(Animal, dog.id)).to.deep.equal(dog)
  },

  async 'a record becomes another class of its set, then is refreshed'(bed) {
    const session = bed.db.session()
    const dog = session.create(Dog, { id: bed.fresh(), name: 'Rex', tricks: 3 })
    await session.flush()
    await bed.db.session().upsert(Object.assign(new Cat(), { id: dog.id, name: 'Tom' }))
    expect(await codeOf(() => session.refresh(dog))).to.equal('SKEIN_3102')
    expect(dog).to.deep.include({ name: 'Rex', tricks: 3 })
    expect(session.isDirty(dog)).to.equal(false)
  },

  async 'a record that cannot be read is refreshed'(bed) {
    const session = bed.db.session()
    const person = await session.load(Person, await stored(bed))
    await bed.db.client.put({ ns: bed.namespace, set: 'person', key: person.id }, { name: 'Bo', age: 'many' })
    expect(await codeOf(() => session.refresh(person))).to.equal('SKEIN_3101')
    expect(person).to.deep.include({ name: 'Ada', age: 36 })
    expect(session.isDirty(person)).to.equal(false)
  },

  async 'a record is deleted by key as another class of its set'(bed) {
    const session = bed.db.session()
    const dog = session.create(Dog, { id: bed.fresh(), name: 'Rex', tricks: 3 })
    await session.flush()
    expect(await codeOf(() => session.delete(Cat, dog.id))).to.equal('SKEIN_3102')
    expect(await codeOf(() => bed.db.session().delete(Cat, dog.id))).to.equal('SKEIN_3102')
    expect(await bed.db.session().find(Dog, dog.id)).to.deep.equal(dog)
    expect(await bed.db.session().delete(Cat, bed.fresh())).to.equal(false)
    expect(await bed.db.session().delete(Dog, dog.id)).to.equal(true)
    const cat = await bed.db.session().save(Object.assign(new Cat(), { id: bed.fresh(), name: 'Tom' }))
    expect(await bed.db.session().delete(Animal, cat.id)).to.equal(true)
  },

  async 'an instance of an abstract class with a discriminator is saved'(bed) {
    const animal = Object.assign(Object.create(Animal.prototype) as Animal, { id: bed.fresh(), name: 'any' })
    expect(await codeOf(() => bed.db.session().save(animal))).to.equal('SKEIN_2307')
  },

  async 'a key of another tenant is used'(bed) {
    const session = bed.db.session({ tenant: 'acme' })
    const order = session.create(Order, { orderId: bed.freshNumber(), total: 5 })
    await session.flush()
    expect(order.tenant).to.equal('acme')
    const other = bed.db.session({ tenant: 'evil' })
    const key = `acme:${order.orderId}`
    for (const call of [
      () => other.load(Order, key),
      () => other.find(Order, { tenant: 'acme', orderId: order.orderId }),
      () => other.delete(Order, key),
      () => other.save(Object.assign(new Order(), { tenant: 'acme', orderId: 1, total: 1 })),
    ]) {
      expect(await codeOf(call), String(call)).to.equal('SKEIN_2104')
    }
    expect((await session.load(Order, { orderId: order.orderId })).total).to.equal(5)
  },

  async 'a class that belongs to tenants is used without one'(bed) {
    expect(await codeOf(() => bed.db.session().load(Note, 1))).to.equal('SKEIN_2105')
  },
}

it('the documented cases of a session are the tested ones', () => {
  expect(documented).to.have.length.greaterThan(30)
  expect(Object.keys(cases)).to.have.members(documented)
})

inEachMode('what a session does when', (bed) => {
  for (const name of documented) {
    it(name, async function () {
      await cases[name].call(this, bed())
    })
  }
})
