import { expect } from 'chai'
import { SkeinError } from 'skein'
import { Account, Person } from '../models.js'
import { inEachMode } from '../modes.js'
import { rejection } from '../rejection.js'

inEachMode('a call that cannot work is refused in one clear error:', (bed) => {
  const codeOf = async (work: () => unknown): Promise<unknown> => {
    const error = await rejection(work)
    expect(error).to.be.instanceOf(SkeinError)
    expect((error as SkeinError).details.fix).to.be.a('string')
    return (error as SkeinError).code
  }

  for (const method of ['save', 'upsert', 'persist', 'remove', 'delete', 'detach', 'refresh', 'changes'] as const) {
    it(`${method} of what is not an entity`, async () => {
      const session = bed().db.session()
      for (const given of [null, undefined, 5, 'text'] as unknown as object[]) {
        expect(await codeOf(() => session[method](given))).to.equal('SKEIN_2321')
      }
    })
  }

  it('a key where a list of keys is needed', async () => {
    const session = bed().db.session()
    expect(await codeOf(() => session.findMany(Account, 5 as never))).to.equal('SKEIN_2321')
    expect(await codeOf(() => session.loadMany(Account, 5 as never))).to.equal('SKEIN_2321')
    expect(await codeOf(() => bed().db.read(Account, 5 as never))).to.equal('SKEIN_2321')
  })

  it('unknown options, before anything is sent', async () => {
    const session = bed().db.session()
    const person = session.create(Person, { id: bed().fresh(), name: 'Ada' })
    const bogus = { transactions: 'bogus' } as never
    const unknown = { signl: AbortSignal.abort() } as never
    for (const options of [bogus, unknown, null as never]) {
      expect(await codeOf(() => session.flush(options))).to.equal('SKEIN_2320')
      expect(await codeOf(() => session.save(person, options))).to.equal('SKEIN_2320')
      expect(await codeOf(() => session.delete(person, options))).to.equal('SKEIN_2320')
      expect(await codeOf(() => session.load(Person, person.id, options))).to.equal('SKEIN_2320')
      expect(await codeOf(() => session.findMany(Person, [person.id], options))).to.equal('SKEIN_2320')
    }
    expect(await bed().db.read(Person, [person.id])).to.deep.equal([null])
    await session.flush()
    expect(await bed().db.read(Person, [person.id])).to.not.include(null)
  })

  it('names of properties and relations that are not a list of texts, before anything is sent', async () => {
    const session = bed().db.session()
    const id = bed().fresh()
    for (const name of ['only', 'with']) {
      for (const given of ['name', null, {}, [null], ['name', 5], [,]]) {
        const options = { [name]: given } as never
        expect(await codeOf(() => session.load(Person, id, options))).to.equal('SKEIN_2320')
        expect(await codeOf(() => session.find(Person, id, options))).to.equal('SKEIN_2320')
        expect(await codeOf(() => session.loadMany(Person, [id], options))).to.equal('SKEIN_2320')
        expect(await codeOf(() => session.findMany(Person, [], options))).to.equal('SKEIN_2320')
        if (name === 'only') expect(await codeOf(() => bed().db.read(Person, [id], options))).to.equal('SKEIN_2320')
      }
    }
    const { message } = (await rejection(() => session.load(Person, id, { with: 'friends' } as never))) as SkeinError
    expect(message).to.equal("The option with takes a list of names, and 'friends' is not a list. Write ['friends'].")
  })

  it('indexes of a database that is closed', async () => {
    const db = await bed().open()
    await db.close()
    expect(await codeOf(() => db.indexes.sync())).to.equal('SKEIN_4104')
    expect(await codeOf(() => db.indexes.diff())).to.equal('SKEIN_4104')
  })

  it('truncate, when the server cannot do it', async () => {
    const db = await bed().open()
    db.client.truncate = () => Promise.reject(Object.assign(new Error('forbidden'), { code: 22 }))
    const error = (await rejection(() => db.truncate(Account))) as SkeinError
    expect(error).to.include({ code: 'SKEIN_4204' })
    expect(error.message).to.contain('Account').and.to.contain('forbidden')
  })
})
