import { expect } from 'chai'
import type { SkeinError } from 'skein'
import { Animal, Cat, Dog, Person } from '../models.js'
import { inEachMode } from '../modes.js'
import { rejection } from '../rejection.js'

inEachMode('a record that is read again', (bed) => {
  const put = (set: string, key: string, bins: object): Promise<unknown> =>
    bed().db.client.put({ ns: bed().namespace, set, key }, bins as never)

  /** Rex, whose record a cat takes after he was loaded. */
  async function replaced(load: (id: string) => Promise<Dog>): Promise<Dog> {
    const id = bed().fresh()
    await bed()
      .db.session()
      .save(Object.assign(new Dog(), { id, name: 'Rex', tricks: 3 }))
    const dog = await load(id)
    await bed()
      .db.session()
      .upsert(Object.assign(new Cat(), { id, name: 'Tom', lives: 9 }))
    return dog
  }

  it('as another class is refused by refresh, and the entity stays as it was', async () => {
    const session = bed().db.session()
    const dog = await replaced((id) => session.load(Dog, id))
    expect(((await rejection(() => session.refresh(dog))) as SkeinError).code).to.equal('SKEIN_3102')
    expect(dog).to.deep.include({ name: 'Rex', tricks: 3 })
    expect(session.isDirty(dog)).to.equal(false)
  })

  it('as another class does not complete an entity that was loaded in part', async () => {
    const session = bed().db.session()
    const dog = await replaced((id) => session.load(Dog, id, { only: ['name'] }))
    for (const load of [() => session.load(Dog, dog.id), () => session.load(Animal, dog.id)])
      expect(((await rejection(load)) as SkeinError).code).to.equal('SKEIN_3102')
    expect(dog).to.deep.include({ name: 'Rex', tricks: undefined })
    expect(session.isDirty(dog)).to.equal(false)
  })

  it('and cannot be, leaves the entity as it was: nothing looks like a change', async () => {
    const session = bed().db.session()
    const person = await session.save(Object.assign(new Person(), { id: bed().fresh(), name: 'Ada', age: 1 }))
    const part = bed().db.session()
    const half = await part.load(Person, person.id, { only: ['name'] })
    await put('person', person.id, { name: 'Bo', age: 2, home: 'not an address' })
    for (const read of [() => session.refresh(person), () => part.refresh(half), () => part.load(Person, person.id)])
      expect(((await rejection(read)) as SkeinError).code).to.equal('SKEIN_3101')
    expect(person).to.deep.include({ name: 'Ada', age: 1 })
    expect(half).to.deep.include({ name: 'Ada', age: undefined })
    expect([session.isDirty(), part.isDirty()]).to.deep.equal([false, false])
    await put('person', person.id, { home: null })
    half.name = 'Cy'
    await part.save(half)
    expect(await part.load(Person, person.id)).to.deep.include({ name: 'Cy', age: 2 })
  })
})

inEachMode('an entity that was loaded in part', (bed) => {
  const stored = async (): Promise<string> => {
    const id = bed().fresh()
    await bed()
      .db.session()
      .save(Object.assign(new Person(), { id, name: 'Ada', age: 1, tags: ['a'] }))
    return id
  }

  it('keeps what was set in it before it was loaded in full, as a change', async () => {
    const session = bed().db.session()
    const person = await session.load(Person, await stored(), { only: ['name'] })
    person.age = 7
    expect(((await rejection(() => session.save(person))) as SkeinError).code).to.equal('SKEIN_2202')
    await session.load(Person, person.id)
    expect(person).to.deep.include({ age: 7, tags: ['a'] })
    expect(session.changes(person).properties).to.deep.equal(['age'])
    await session.save(person)
    expect((await bed().db.session().load(Person, person.id)).age).to.equal(7)
  })

  it('is told what to do when its record is gone', async () => {
    const session = bed().db.session()
    const person = await session.load(Person, await stored(), { only: ['name'] })
    await bed().db.session().delete(Person, person.id)
    expect(((await rejection(() => session.refresh(person))) as SkeinError).message).not.to.contain('upsert')
    expect(((await rejection(() => session.upsert(person))) as SkeinError).code).to.equal('SKEIN_2306')
    session.detach(person)
    await session.upsert(person)
    expect((await bed().db.session().load(Person, person.id)).name).to.equal('Ada')
  })
})
