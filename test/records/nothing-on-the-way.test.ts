import { expect } from 'chai'
import { Bin, Counter, Embeddable, Embedded, EntityGoneError, Key, Record, type Database, type SkeinError } from 'skein'
import { MODES } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Place {
  @Bin() city?: string
  @Counter() visits = 0
}

@Record({ set: 'rec_way' })
class Doc {
  @Key() id!: string
  @Bin({ type: { map: { list: 'int' } } }) lists = new Map<string, number[]>()
  @Bin({ type: { map: { set: 'string' } } }) sets = new Map<string, Set<string>>()
  @Bin({ type: { map: { map: 'int' } } }) maps = new Map<string, Map<string, number>>()
  @Bin({ type: 'json' }) json?: unknown
  @Embedded(() => Place, { as: 'map' }) places?: Map<string, Place>
}

const codeOf = async (call: () => unknown): Promise<string> =>
  ((await rejection(async () => call())) as SkeinError).code

for (const mode of MODES) {
  describe(`a handle below something that is not there (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Doc], (opened) => ({ db } = opened))
    const save = (values: Partial<Doc>): Promise<Doc> =>
      db.session().save(Object.assign(new Doc(), { id: 'a', ...values }))

    it('removes nothing and shows nothing, before and after the flush, loaded or new', async () => {
      for (const isNew of [false, true]) {
        if (!isNew) await save({})
        const session = db.session()
        const doc = isNew ? session.create(Doc, { id: 'new' }) : await session.load(Doc, 'a')
        const handle = session.at(doc)
        handle.map('lists').at('x').removeAt(0)
        handle.map('lists').at('x').remove(1)
        handle.map('lists').at('x').removeBetween(1, 2)
        handle.map('lists').at('x').clear()
        handle.map('sets').at('x').remove('a')
        handle.map('sets').at('x').clear()
        handle.map('maps').at('x').remove('a')
        handle.map('maps').at('x').clear()
        handle.map('json').at('x').clear()
        const expectNothing = (one: Doc): void => {
          expect([one.lists.size, one.sets.size, one.maps.size]).to.deep.equal([0, 0, 0])
          expect(one.json).to.equal(undefined)
        }
        expectNothing(doc)
        await session.flush()
        expectNothing(doc)
        expectNothing(await db.session().load(Doc, doc.id))
      }
    })

    it('rejects a change inside null at the call where the value is loaded, and by the flush with its place where it is not', async () => {
      for (const change of [
        (session: ReturnType<Database['session']>) => session.at(Doc, 'a').map('json').at('b').put('x', 1),
        (session: ReturnType<Database['session']>) => session.at(Doc, 'a').map('json').at('b').at('c').increment('x'),
      ]) {
        await save({ json: { b: null } })
        const loaded = db.session()
        const doc = await loaded.load(Doc, 'a')
        expect(await codeOf(() => change(loaded))).to.equal('SKEIN_2331')
        expect(doc.json).to.deep.equal({ b: null })
        expect(loaded.isDirty()).to.equal(false)
        const session = db.session()
        change(session)
        const error = (await rejection(() => session.flush())) as SkeinError
        expect(error.code).to.equal('SKEIN_4210')
        expect(error.message).to.include('json["b"]')
        expect((await db.session().load(Doc, 'a')).json).to.deep.equal({ b: null })
        await db.session().delete(Doc, 'a')
      }
    })

    it('answers questions below null and other values of a new entity as the server does', async () => {
      for (const a of [null, 5, 'x', [1]]) {
        const session = db.session()
        const doc = session.create(Doc, { id: 'a', json: { a } })
        const asked = async (): Promise<unknown[]> => {
          const one = session.at(doc).map('json').at('a')
          const answers: unknown[] = []
          for (const map of [one, one.at('0')] as (typeof one)[])
            answers.push(
              [...(await map.getMany(['c', '0']))],
              await map.get('0'),
              await map.size(),
              await map.keys(),
              await map.has('0'),
              await map.top(1),
            )
          return answers
        }
        const before = await asked()
        await session.flush()
        expect(before, JSON.stringify(a)).to.deep.equal(await asked())
        await session.delete(doc)
      }
    })

    it('says at the call that a part of a loaded or new map does not exist, and records nothing', async () => {
      await save({ places: new Map([['yes', new Place()]]) })
      for (const isNew of [false, true]) {
        const session = db.session()
        const doc = isNew ? session.create(Doc, { id: 'new' }) : await session.load(Doc, 'a')
        const part = session.at(doc).map('places').at('no')
        for (const change of [() => part.increment('visits'), () => part.put('city', 'x'), () => part.remove('city')])
          expect(await rejection(async () => change())).to.be.instanceOf(EntityGoneError)
        await session.flush()
        expect(session.isDirty()).to.equal(false)
      }
    })
  })
}
