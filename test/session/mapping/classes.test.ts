import { expect } from 'chai'
import { Animal, Cat, Dog, Note, Order } from '../models.js'
import { inEachMode } from '../modes.js'
import { rejection } from '../rejection.js'

inEachMode('classes of one set', (bed) => {
  it('are loaded as what they are, through any of their classes', async () => {
    const session = bed().db.session()
    const dog = session.create(Dog, { id: bed().fresh(), name: 'Rex', tricks: 3 })
    const cat = session.create(Cat, { id: bed().fresh(), name: 'Tom', lives: 9 })
    await session.flush()
    const [first, second] = await bed().db.session().loadMany(Animal, [dog.id, cat.id])
    expect(first).to.be.instanceOf(Dog).and.deep.equal(dog)
    expect(second).to.be.instanceOf(Cat).and.deep.equal(cat)
    expect(await bed().db.read(Animal, [dog.id])).to.deep.equal([dog])
    const part = await bed()
      .db.session()
      .load(Animal, dog.id, { only: ['name'] })
    expect(part).to.be.instanceOf(Dog).and.deep.include({ name: 'Rex', tricks: undefined })
  })

  it('share their keys: one record is one instance, whatever class it was asked for as', async () => {
    const id = bed().fresh()
    await bed()
      .db.session()
      .save(Object.assign(new Dog(), { id, name: 'Rex' }))
    const session = bed().db.session()
    const [animal, dog] = await Promise.all([session.load(Animal, id), session.load(Dog, id)])
    expect(animal).to.equal(dog)
    expect(await rejection(() => session.create(Cat, { id, name: 'Tom' }))).to.have.property('code', 'SKEIN_2304')
  })

  it('may replace one another by upsert, and nothing of the other class stays', async () => {
    const id = bed().fresh()
    await bed()
      .db.session()
      .save(Object.assign(new Dog(), { id, name: 'Rex', tricks: 3 }))
    await bed()
      .db.session()
      .upsert(Object.assign(new Cat(), { id, name: 'Tom', lives: 9 }))
    const { bins } = await bed().db.client.get({ ns: bed().namespace, set: 'animal', key: id })
    expect(bins).to.deep.equal({ id, kind: 'cat', name: 'Tom', lives: 9 })
  })

  it('cannot be truncated one by one', async () => {
    expect(await rejection(() => bed().db.truncate(Dog))).to.have.property('code', 'SKEIN_2311')
    await bed().db.truncate(Animal)
  })
})

inEachMode('tenants', (bed) => {
  it('enter every key, at their place in the template or in front of it', async () => {
    const id = bed().freshNumber()
    const acme = bed().db.session({ tenant: 'acme' })
    acme.create(Note, { id, text: 'of acme' })
    acme.create(Order, { orderId: id, total: 1 })
    const evil = bed().db.session({ tenant: 'evil' })
    evil.create(Note, { id, text: 'of evil' })
    await Promise.all([acme.flush(), evil.flush()])
    expect((await bed().db.session({ tenant: 'acme' }).load(Note, id)).text).to.equal('of acme')
    expect((await bed().db.session({ tenant: 'evil' }).load(Note, id)).text).to.equal('of evil')
    expect(await bed().db.session({ tenant: 'evil' }).find(Order, { orderId: id })).to.equal(null)
    expect(await bed().db.read(Note, [id], { tenant: 'acme' })).to.have.nested.property('[0].text', 'of acme')
    const stored = await bed().db.client.exists({ ns: bed().namespace, set: 'note', key: `acme:${id}` })
    expect(stored).to.equal(true)
    expect(await bed().db.session({ tenant: 'acme' }).delete(Note, id)).to.equal(true)
    expect(await bed().db.session({ tenant: 'evil' }).find(Note, id)).to.not.equal(null)
  })
})
