import { expect } from 'chai'
import {
  Bin,
  collection,
  Counter,
  Embeddable,
  Embedded,
  Key,
  OneToMany,
  Record,
  SkeinError,
  type Database,
} from 'skein'
import { MODES, type TestServer } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

@Embeddable({ layout: 'tuple' })
class Line {
  @Bin({ type: 'int' }) x?: number
}

@Embeddable()
class Inner {
  @Bin() text?: string
}

@Embeddable()
class Note {
  @Key() id!: string
  @Bin({ type: 'int' }) likes?: number
  @Embedded(() => Inner) inner?: Inner
}

@Record({ set: 'bad_box' })
class Box {
  @Key() id!: string
  @Counter() n = 0
  @Bin({ type: { list: 'int' } }) list: number[] = []
  @Bin({ type: { set: 'string' } }) tags = new Set<string>()
  @Bin({ type: { map: 'int' } }) scores = new Map<string, number>()
  @Bin({ type: 'json' }) bag: unknown = {}
  @Embedded(() => Note) part?: Note
  @Embedded(() => Note, { as: 'array' }) notes: Note[] = []
  @Embedded(() => Note, { as: 'map' }) byName = new Map<string, Note>()
  @Embedded(() => Line, { as: 'array' }) lines: Line[] = []
  @Embedded(() => Note, { layout: 'bins' }) spread?: Note
  @OneToMany(() => Note, { strategy: 'consolidate' }) children = collection<Note>()
}

class Other {
  text = 'x'
}

/** The type system refuses such calls; programs in plain JavaScript make them. */
type Loose = { readonly [name: string]: (...args: readonly unknown[]) => Loose & Promise<unknown> }

const ODD: readonly unknown[] = [undefined, null, 5, {}, Symbol('s'), Object.create(null), () => 1, [], new Date(0)]
const HOLES = new Array<unknown>(2).fill(1, 1)

for (const mode of MODES) {
  describe(`an argument that nobody can use (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [Box], (opened) => ({ db, server } = opened))
    const bag = { num: 1, text: 'x', list: [1], inner: { num: 2 } }
    beforeEach(() =>
      db.session().save(Object.assign(new Box(), { id: 'a', bag, notes: [Object.assign(new Note(), { id: 'n' })] })),
    )

    const refused = async (title: string, call: () => unknown): Promise<SkeinError> => {
      const error = await rejection(call).catch((missing: unknown) => missing)
      expect(error, title).to.be.instanceOf(SkeinError)
      return error as SkeinError
    }

    it('is refused by a clear error of the handle, also where it has no text of its own', async () => {
      const session = db.session()
      const at = session.at(Box, 'a') as unknown as Loose
      const calls: { readonly [title: string]: (value: unknown) => unknown } = {
        counter: (value) => at.counter(value),
        list: (value) => at.list(value),
        set: (value) => at.set(value),
        map: (value) => at.map(value),
        collection: (value) => at.collection(value),
        child: (value) => at.child(value, 'x'),
        'map of a part': (value) => at.map('part').put(value, 1),
        'inside a part': (value) => at.map('part').at(value),
        'where at': (value) => at.list('notes').where({}).at(value),
        'where increment': (value) => at.list('notes').where({}).increment(value),
        'get of a list': (value) => (value === 5 ? at.list(value) : at.list('list').get(value)),
        'in with a hole': () => at.list('notes').where({ likes: { in: HOLES } }),
      }
      const { commands } = await server.commands.during(async () => {
        for (const value of ODD)
          for (const [title, call] of Object.entries(calls))
            await refused(`${title}(${typeof value})`, () => call(value))
        for (const value of ODD.filter((each) => each !== undefined && each !== 5)) {
          await refused(`add ${typeof value}`, () => at.counter('n').add(value))
          await refused(`increment ${typeof value}`, () => at.map('scores').increment('a', value))
        }
        for (const value of [[], new Date(0), new Map(), new Set(), Promise.resolve(), /x/, 'x', null]) {
          await refused('members', () => at.set('tags').members(value))
          await refused('keys', () => at.map('scores').keys(value))
          await refused('at', () => session.at(Box, 'a', value as never))
          await refused('only', () => session.find(Box, 'a', { only: [value as never] }))
        }
      })
      expect([commands, session.isDirty()]).to.deep.equal([0, false])
    })

    it('is not an instance of another class, nor a promise, where a part belongs', async () => {
      const others = [
        Promise.resolve(new Note()),
        new Number(5),
        new Box(),
        new Other(),
        /x/,
        new Error('x'),
        new URL('a:b'),
      ]
      const box = Object.assign(new Box(), { id: 'a' })
      box.children.add(Object.assign(new Note(), { id: 'c' }))
      await db.session().upsert(box)
      const session = db.session()
      const loaded = await session.load(Box, 'a')
      for (const at of [db.session().at(Box, 'a'), session.at(loaded)] as unknown as Loose[]) {
        const calls: { readonly [title: string]: (value: unknown) => unknown } = {
          append: (value) => at.list('notes').append(value),
          insert: (value) => at.list('notes').insert(0, value),
          set: (value) => at.list('notes').set(0, value),
          remove: (value) => at.list('notes').remove(value),
          contains: (value) => at.list('notes').contains(value),
          put: (value) => at.map('byName').put('x', value),
          putMany: (value) => at.map('byName').putMany([['x', value]]),
          'append a tuple': (value) => at.list('lines').append(value),
          'put a nested part': (value) => at.map('part').put('inner', value),
          'put into a child': (value) => at.child('children', 'c').put('inner', value),
        }
        const { commands } = await server.commands.during(async () => {
          for (const value of others)
            for (const [title, call] of Object.entries(calls)) {
              const error = await refused(`${title}(${value.constructor.name})`, () => call(value))
              expect([error.code, error.message], title).to.satisfy(
                ([code, message]: string[]) =>
                  code === 'SKEIN_2201' && /is not an instance of (Note|Inner|Line)/.test(message),
              )
            }
        })
        expect(commands).to.equal(0)
      }
      for (const property of ['part', 'spread'] as const)
        for (const value of others) {
          Object.assign(loaded, { [property]: value })
          const error = await refused(`${property} = ${value.constructor.name}`, () => session.flush())
          expect([error.code, error.details.property]).to.deep.equal(['SKEIN_2201', property])
          loaded[property] = undefined
        }
      loaded.part = { id: 'plain', likes: 1 }
      await session.flush()
      expect((await db.session().load(Box, 'a')).part).to.deep.equal(
        Object.assign(new Note(), { id: 'plain', likes: 1 }),
      )
    })

    it('is not a key or an option beside an entity, which says which record is meant', async () => {
      const session = db.session()
      const loaded = await session.load(Box, 'a')
      const calls = session as unknown as Loose
      for (const others of [['a'], [{ create: true }], [undefined, { create: true }]])
        expect((await refused('at', () => calls.at(loaded, ...others))).code).to.equal('SKEIN_2321')
      expect((await refused('history', () => calls.history(loaded, 'a'))).code).to.equal('SKEIN_2321')
    })

    it('is not a long text, which a condition may begin with', async () => {
      const notes = db.session().at(Box, 'a').list('notes')
      expect(await notes.where({ id: { startsWith: 'x'.repeat(200_000) } }).count()).to.equal(0)
      expect(await notes.where({ id: { startsWith: 'n' } }).count()).to.equal(1)
    })

    it('is refused by db.layout before anything is read', async () => {
      const layout = db.layout as unknown as Loose
      const { commands } = await server.commands.during(async () => {
        for (const call of ['diff', 'sync']) {
          for (const options of [null, 'x', 5, [], { classes: {} }, { progress: 'x' }, { clases: [] }])
            await refused(`${call}(${JSON.stringify(options)})`, () => layout[call](options))
        }
        await refused('after', () => layout.sync({ after: 1 }))
        await refused('after', () => layout.diff({ after: 'x' }))
        await refused('indexes', () => layout.sync({ indexes: 1 }))
      })
      expect(commands).to.equal(0)
    })

    it('is no object inside a loaded JSON value, of which no entries can be changed', async () => {
      const session = db.session()
      const box = await session.load(Box, 'a')
      const map = (session.at(box) as unknown as Loose).map('bag')
      for (const name of ['num', 'text', 'list']) {
        const calls: readonly ((inner: Loose) => unknown)[] = [
          (inner) => inner.put('q', 1),
          (inner) => inner.putMany([['q', 1]]),
          (inner) => inner.increment('q'),
          (inner) => inner.remove('q'),
          (inner) => inner.clear(),
          (inner) => inner.at('r').put('q', 1),
        ]
        for (const call of calls) {
          const { code, message } = await refused(name, () => call(map.at(name)))
          expect(code).to.equal('SKEIN_2331')
          expect(message).to.include(`bag["${name}"]`)
        }
      }
      await refused('inner', () => map.at('inner').at('num').put('q', 1))
      expect([session.isDirty(), box.bag]).to.deep.equal([false, bag])
      void map.at('inner').increment('num')
      void map.at('new').at('deep').put('q', 1)
      await session.flush()
      const stored = (await db.session().load(Box, 'a')).bag
      expect(stored).to.deep.equal({ ...bag, inner: { num: 3 }, new: { deep: { q: 1 } } })
    })
  })
}
