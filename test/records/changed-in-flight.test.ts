import { expect } from 'chai'
import {
  Bin,
  Counter,
  Embeddable,
  Embedded,
  Key,
  Record,
  Version,
  VersionConflictError,
  type Database,
  type RecordHandle,
} from 'skein'
import { MODES, need, type TestServer } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Stats {
  @Counter() hits = 0
}

class Fields {
  @Key() id!: number
  @Bin() name?: string
  @Counter() views = 0
  @Bin({ type: { list: 'int' } }) list: number[] = [10, 10, 10, 10, 10]
  @Bin({ type: { list: 'int', order: 'sorted' } }) sorted: number[] = [10]
  @Bin({ type: { map: 'int' } }) votes = new Map([['up', 0]])
  @Bin({ type: { map: { map: 'int' } } }) nested = new Map([['a', new Map([['b', 0]])]])
  @Bin({ type: { map: { list: 'int' } } }) lists = new Map([['a', [10]]])
  @Embedded(() => Stats) stats = new Stats()
  @Embedded(() => Stats, { as: 'map' }) parts = new Map([['a', new Stats()]])
  @Bin({ type: 'json' }) json: { n: number } = { n: 0 }
}

@Record({ set: 'rec_flight' })
class Plain extends Fields {}

@Record({ set: 'rec_flight_v' })
class Versioned extends Fields {
  @Version() version!: number
}

type Handle = RecordHandle<Plain>

/** Changes through a handle, and the same change of a property where there is one that is sent as an operation. */
const CHANGES: { readonly [name: string]: readonly [(handle: Handle) => void, ((entity: Plain) => void)?] } = {
  'a counter': [(h) => h.counter('views').add(1), (e) => (e.views += 1)],
  'an append': [(h) => h.list('list').append(1), (e) => e.list.push(1)],
  'an insert': [(h) => h.list('list').insert(0, 5)],
  'a removed item': [(h) => h.list('list').removeAt(-1)],
  'an item of a list': [(h) => h.list('list').increment(0, 1)],
  'a sorted list': [(h) => h.list('sorted').append(11), (e) => e.sorted.push(11)],
  'a number in a map': [(h) => h.map('votes').increment('up')],
  'a number in a nested map': [(h) => h.map('nested').at('a').increment('b')],
  'a list in a map': [(h) => h.map('lists').at('a').append(1), (e) => e.lists.get('a')!.push(1)],
  'a counter of a part': [(h) => h.map('stats').increment('hits'), (e) => (e.stats.hits += 1)],
  'a counter in a map of parts': [
    (h) => h.map('parts').at('a').increment('hits'),
    (e) => (e.parts.get('a')!.hits += 1),
  ],
  'a number in JSON': [(h) => h.map('json').increment('n')],
}

/** Ends of the first write. */
const FAULTS = {
  'is refused': { answer: 22 },
  'is lost': { drop: true },
  'is done and its answer lost': { drop: true, after: true },
} as const

const bare = (entity: Fields): object => ({ ...entity, name: undefined, version: undefined })

for (const mode of MODES) {
  for (const Class of [Plain, Versioned] as (typeof Plain)[]) {
    describe(`a handle's change of a loaded ${Class.name} whose write is under way (${mode})`, () => {
      let db: Database
      let server: TestServer
      useDatabase(mode, [Plain, Versioned], (opened) => ({ db, server } = opened))
      afterEach(() => server.embedded?.faults.clear())

      const stored = async (id: number): Promise<object> => bare(await db.session().load(Class, id))
      const store = (id: number): Promise<unknown> => db.session().save(Object.assign(new Class(), { id }))
      const byOther = async (id: number, change: (handle: Handle) => void): Promise<void> => {
        const session = db.session()
        change(session.at(Class, id))
        await session.flush()
      }
      /** The record after so many changes, one after the other. */
      const after = async (times: number, change: (handle: Handle) => void): Promise<object> => {
        await db.session().upsert(Object.assign(new Class(), { id: 0 }))
        for (let i = 0; i < times; i++) await byOther(0, change)
        return { ...(await stored(0)), id: 1 }
      }

      for (const [name, [change, assign]] of Object.entries(CHANGES)) {
        it(`is sent once after another of ${name}, and keeps what others change`, async () => {
          await store(1)
          const session = db.session()
          const entity = await session.load(Class, 1)
          change(session.at(entity))
          const first = session.flush()
          change(session.at(entity))
          await first
          expect(bare(entity)).to.deep.equal(await after(2, change))
          if (Class === Plain) await byOther(1, change)
          await session.flush()
          expect(await stored(1)).to.deep.equal(await after(Class === Plain ? 3 : 2, change))
          expect(session.isDirty()).to.equal(false)
        })

        it(`is sent once beside a save of something else, for ${name}`, async () => {
          await store(1)
          const session = db.session()
          const entity = await session.load(Class, 1)
          entity.name = 'new'
          const first = session.save(entity)
          change(session.at(entity))
          await first
          await session.flush()
          expect(await stored(1)).to.deep.equal(await after(1, change))
          expect(bare(entity)).to.deep.equal(await after(1, change))
        })

        for (const [how, fault] of Object.entries(FAULTS))
          it(`is sent with the first where that ${how}, for ${name}`, async function () {
            const { faults } = need(this, server.embedded, 'only the embedded server makes faults')
            await store(1)
            const session = db.session()
            const entity = await session.load(Class, 1)
            if (assign === undefined) change(session.at(entity))
            else assign(entity)
            const set = Class === Plain ? 'rec_flight' : 'rec_flight_v'
            await faults.add({ kind: 'write', set, times: 1, ...fault })
            const first = session.flush().catch(() => undefined)
            change(session.at(entity))
            assign?.(entity)
            change(session.at(entity))
            await first
            change(session.at(entity))
            const all = assign === undefined ? 4 : 5
            expect(bare(entity)).to.deep.equal(await after(all, change))
            if (how === 'is done and its answer lost' && Class !== Plain) {
              // The version may be another session's: nothing is sent on a guess.
              expect(await rejection(() => session.flush())).to.be.instanceOf(VersionConflictError)
              expect(await stored(1)).to.deep.equal(await after(1, change))
              return
            }
            await session.flush()
            // Without a version, what adds up and is in doubt is never sent again.
            const isLost = how === 'is lost' && Class === Plain
            expect(await stored(1)).to.deep.equal(await after(isLost ? all - 1 : all, change))
            expect(session.isDirty()).to.equal(false)
          })

        if (assign !== undefined)
          it(`is sent once after the property was assigned, for ${name}`, async () => {
            await store(1)
            const session = db.session()
            const entity = await session.load(Class, 1)
            assign(entity)
            const first = session.flush()
            change(session.at(entity))
            assign(entity)
            change(session.at(entity))
            await first
            await session.flush()
            expect(await stored(1)).to.deep.equal(await after(4, change))
            expect(bare(entity)).to.deep.equal(await after(4, change))
          })
      }

      it('is sent once by calls that do not wait for each other', async () => {
        await store(1)
        const session = db.session()
        const entity = await session.load(Class, 1)
        const add = async (): Promise<void> => {
          session.at(entity).counter('views').add(1)
          await session.flush()
        }
        await Promise.all([add(), add(), add()])
        expect([(await db.session().load(Class, 1)).views, entity.views]).to.deep.equal([3, 3])
      })

      it('is sent once after an explain, which sends nothing', async () => {
        await store(1)
        const session = db.session()
        const entity = await session.load(Class, 1)
        entity.views += 1
        await session.explain()
        session.at(entity).counter('views').add(1)
        await session.flush()
        expect((await db.session().load(Class, 1)).views).to.equal(2)
      })
    })
  }
}
