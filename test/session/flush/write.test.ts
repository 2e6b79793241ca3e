import { expect } from 'chai'
import type { Session } from 'skein'
import { Account, Address, Page, Person } from '../models.js'
import { inEachMode, type Bed } from '../modes.js'

async function loaded(bed: Bed, values: Partial<Person>): Promise<{ session: Session; person: Person }> {
  const id = bed.fresh()
  await bed.db.session().save(Object.assign(new Person(), { id, name: 'Ada', ...values }))
  const session = bed.db.session()
  return { session, person: await session.load(Person, id) }
}

inEachMode('what is written', (bed) => {
  const binsOf = async ({ id }: Person): Promise<unknown> =>
    (await bed().db.client.get({ ns: bed().namespace, set: 'person', key: id })).bins

  it('only the bins that changed', async () => {
    const { session, person } = await loaded(bed(), { age: 1, tags: ['a'] })
    person.age = 2
    const [command] = (await session.explain()).commands
    expect(command).to.deep.include({
      kind: 'write',
      exists: 'mustExist',
      ttl: 'keep',
      operations: [{ kind: 'writeBin', bin: 'age', value: 2 }],
    })
  })

  it('undefined and null both remove a bin', async () => {
    const { session, person } = await loaded(bed(), { age: 1, tags: ['a'] })
    person.age = undefined
    person.tags = null as unknown as undefined
    await session.save(person)
    expect(await binsOf(person)).to.deep.equal({ id: person.id, name: 'Ada' })
    expect(session.isDirty(person)).to.equal(false)
  })

  it('of a list that grew the new items, of a set the members that came and went, of a part the fields that changed', async () => {
    const home = Object.assign(new Address(), { city: 'Lund', street: 'Kyrkogatan' })
    const { session, person } = await loaded(bed(), { tags: ['a'], roles: new Set(['x', 'y']), home })
    person.tags!.push('b')
    person.roles!.delete('x')
    person.roles!.add('z')
    person.home!.city = 'Malmö'
    const kinds = session.changes(person).operations.map(({ kind }) => kind)
    expect(kinds).to.deep.equal(['listAppend', 'listRemoveValues', 'listAppendUnique', 'mapPut'])
    await session.save(person)
    const again = await bed().db.session().load(Person, person.id)
    expect(again).to.deep.equal(person)
  })

  it('sessions that change different bins of one record lose nothing', async () => {
    const { person } = await loaded(bed(), { age: 0, tags: ['start'], roles: new Set(), home: new Address() })
    const changes: ((one: Person) => void)[] = [
      (one) => (one.name = 'Eve'),
      (one) => (one.age = 5),
      (one) => (one.born = new Date(7)),
      (one) => one.tags!.push('one'),
      (one) => one.tags!.push('two'),
      (one) => one.roles!.add('x'),
      (one) => one.roles!.add('y'),
      (one) => (one.home!.city = 'Lund'),
      (one) => (one.home!.street = 'Kyrkogatan'),
    ]
    await Promise.all(
      changes.map(async (change) => {
        const session = bed().db.session()
        change(await session.load(Person, person.id))
        await session.flush()
      }),
    )
    const { name, age, born, tags, roles, home } = await bed().db.session().load(Person, person.id)
    expect({ name, age, born, roles, home: { ...home } }).to.deep.equal({
      name: 'Eve',
      age: 5,
      born: new Date(7),
      roles: new Set(['x', 'y']),
      home: { city: 'Lund', street: 'Kyrkogatan' },
    })
    expect(tags!.toSorted()).to.deep.equal(['one', 'start', 'two'])
  })

  it('a counter is added to, so that writers at the same time all count', async () => {
    const path = bed().fresh()
    await bed().db.session().save(Object.assign(new Page(), { path }))
    await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        const session = bed().db.session()
        const page = await session.load(Page, path)
        page.views += i
        await session.save(page)
      }),
    )
    expect((await bed().db.session().load(Page, path)).views).to.equal(190)
  })

  it('upsert leaves nothing of what was stored', async () => {
    const { person } = await loaded(bed(), { age: 1, tags: ['a'], roles: new Set(['x']) })
    const other = Object.assign(new Person(), { id: person.id, name: 'Eve', roles: new Set(['y']) })
    await bed().db.session().upsert(other)
    expect(await binsOf(person)).to.deep.equal({ id: person.id, name: 'Eve', roles: ['y'] })
    await bed()
      .db.session()
      .upsert(Object.assign(new Person(), { id: bed().fresh(), name: 'new' }))
  })

  it('a versioned entity may be upserted again and again', async () => {
    const id = bed().freshNumber()
    for (const version of [1, 2, 3]) {
      const account = Object.assign(new Account(), { id, owner: 'Ada', balance: version })
      await bed().db.session().upsert(account)
      expect(account.version).to.equal(version)
    }
  })

  it('thousands of entities go in as many batches as the limit asks for', async () => {
    const session = bed().db.session()
    const ids = Array.from({ length: 3000 }, () => bed().fresh())
    for (const id of ids) session.create(Person, { id, name: id })
    await session.flush()
    expect(session.isDirty()).to.equal(false)
    const found = await bed().db.session().loadMany(Person, ids)
    expect(found.map(({ name }) => name)).to.deep.equal(ids)
  })

  it('entities stay plain objects: nothing of the session shows on them', async () => {
    const { person } = await loaded(bed(), { age: 1 })
    expect(Reflect.ownKeys(person)).to.have.members(['id', 'name', 'age', 'born', 'tags', 'roles', 'home'])
    expect(JSON.parse(JSON.stringify(person))).to.deep.equal({ id: person.id, name: 'Ada', age: 1 })
    expect(structuredClone(person)).to.deep.equal({ ...person })
  })
})

inEachMode('explain', (bed) => {
  it('shows a person what a flush would send', async () => {
    const { session, person } = await loaded(bed(), { age: 1 })
    person.age = 2
    session.create(Account, { id: 5, owner: 'Ada' })
    const text = String(await session.explain())
    expect(text).to.match(/^2 commands, about \d+ bytes\nstage 1: write\n/)
    expect(text).to.contain(`write Person person/"${person.id}" · must exist`)
    expect(text).to.contain('write Account account/5 · must not exist')
    expect(text).to.contain('version')
    expect(String(await session.explain(person))).to.match(/^1 command, /)
  })

  it('gives a machine the same as JSON', async () => {
    const { session, person } = await loaded(bed(), { age: 1 })
    session.remove(person)
    const json = JSON.parse(JSON.stringify(await session.explain())) as { plans: { stages: unknown[] }[] }
    expect(json.plans[0].stages[0]).to.deep.include({ title: 'write' })
    expect(json).to.have.nested.property('plans[0].stages[0].commands[0].kind', 'delete')
  })

  it('changes nothing', async () => {
    const session = bed().db.session()
    const account = session.create(Account, { id: bed().freshNumber(), owner: 'Ada' })
    await session.explain()
    expect([account.version, account.createdAt]).to.deep.equal([undefined, undefined])
    expect(session.isDirty(account)).to.equal(true)
    expect(await bed().db.session().find(Account, account.id)).to.equal(null)
  })

  it('says so when there is nothing to do', async () => {
    expect(String(await bed().db.session().explain())).to.equal('Nothing to do: no command would be sent.')
  })
})
