import { expect } from 'chai'
import fc from 'fast-check'
import { Bin, collection, Companion, Counter, Embeddable, Embedded, Key, OneToMany, Record, type Database, type Session } from 'skein' // prettier-ignore
import { MODES, type TestServer } from '../server.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Place {
  @Bin() city?: string
  @Counter() visits = 0
}

@Embeddable()
class Note {
  @Key() id!: string
  @Bin({ type: { list: 'int' } }) marks?: number[]
  @Counter() likes = 0
}

@Record({ set: 'many_unsent' })
class Log {
  @Key() id!: string
  @Counter() n = 0
  @Bin({ type: { list: 'int' } }) list?: number[]
  @Bin({ type: { list: 'double', order: 'sorted' } }) sorted?: number[]
  @Bin({ type: { set: 'string' } }) tags?: Set<string>
  @Bin({ type: { map: 'int' } }) counts?: Map<string, number>
  @Bin({ type: { map: 'double' } }) weights?: Map<string, number>
  @Bin({ type: { map: { list: 'int' } } }) lists?: Map<string, number[]>
  @Bin({ type: { map: { map: 'int' } } }) nested?: Map<string, Map<string, number>>
  @Embedded(() => Place, { as: 'map' }) places?: Map<string, Place>
  @OneToMany(() => Note, { strategy: 'consolidate', eager: false }) notes = collection<Note>()
  @Companion() @OneToMany(() => Note, { strategy: 'consolidate', eager: false }) apart = collection<Note>()
}

type Handle = ReturnType<typeof at>
const at = (session: Session, create: boolean) =>
  create ? session.at(Log, 'a', { create: true }) : session.at(Log, 'a')
const place = (): Place => Object.assign(new Place(), { city: 'x' })
const note = (id: string): Note => Object.assign(new Note(), { id })

const answers = async (log: Handle): Promise<unknown> => ({
  n: await log.counter('n').value(),
  list: await log.list('list').byIndex({ offset: 0, count: 9_999 }),
  top: await log.list('list').top(3),
  sorted: await log.list('sorted').byRank({ offset: 0, count: 9_999 }),
  between: await log.list('sorted').countBetween(1, 2.5),
  tags: await log.set('tags').members(),
  counts: await log.map('counts').byIndex({ offset: 0, count: 9_999 }),
  best: await log.map('counts').top(1),
  weights: await log.map('weights').byRank({ offset: 0, count: 9_999 }),
  lists: await log.map('lists').byIndex({ offset: 0, count: 9_999 }),
  inside: await log.map('lists').at('k1').last(2),
  nested: await log.map('nested').at('k1').byIndex({ offset: 0, count: 9_999 }),
  places: await log.map('places').byIndex({ offset: 0, count: 9_999 }),
})

type Step = (log: Handle, n: number, key: string) => void
const STEPS: readonly Step[] = [
  (log, n) => log.counter('n').add(n),
  (log, n) => log.list('list').append(n),
  (log, n) => log.list('list').append(n, n + 1),
  (log) => log.list('list').removeAt(0),
  (log) => log.list('list').removeAt(-2, 5),
  (log, n) => log.list('list').insert(0, n, n),
  (log) => log.list('list').set(0, 7),
  (log, n) => log.list('list').increment(0, n),
  (log, n) => log.list('list').remove(n, 3),
  (log) => log.list('list').removeBetween(2, 4),
  (log) => log.list('list').keepBetween(1),
  (log) => log.list('list').clear(),
  (log, n) => log.list('sorted').append(n, n / 2),
  (log, n) => log.list('sorted').remove(n),
  (log) => log.list('sorted').removeAt(-1),
  (log, n, key) => log.set('tags').add(key, `t${n}`),
  (log, _, key) => log.set('tags').remove(key),
  (log, n, key) => log.map('counts').increment(key, n),
  (log, n, key) => log.map('counts').put(key, n),
  (log, n, key) => log.map('counts').putMany([[key, n], ['z', 2]]), // prettier-ignore
  (log, _, key) => log.map('counts').remove(key),
  (log) => log.map('counts').clear(),
  (log, n, key) => log.map('weights').increment(key, n / 8),
  (log, n, key) => log.map('weights').put(key, n),
  (log, n, key) => log.map('lists').put(key, [n, 5]),
  (log, n, key) => log.map('lists').at(key).append(n),
  (log, n, key) => log.map('lists').at(key).remove(n),
  (log, n, key) => log.map('nested').put(key, new Map([['a', n]])),
  (log, n, key) => log.map('nested').at(key).increment('a', n),
  (log, _, key) => log.map('nested').remove(key),
  (log, n, key) => (log.map('places').put(key, place()), log.map('places').at(key).increment('visits', n)),
]

for (const mode of MODES) {
  describe(`a record with many unsent changes (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [Log], (opened) => ({ db, server } = opened))

    it('answers every question the same before and after the flush, however many they are', async () => {
      const step = fc.record({ kind: fc.nat(STEPS.length - 1), n: fc.nat(6), key: fc.constantFrom('k1', 'k2', 'k3') })
      await fc.assert(
        fc.asyncProperty(
          fc.array(step, { minLength: 1, maxLength: 40 }),
          fc.constantFrom(1, 30),
          fc.constantFrom('missing', 'empty', 'filled'),
          async (steps, times, first) => {
            await db.truncate(Log)
            if (first !== 'missing') await db.session().save(Object.assign(new Log(), { id: 'a' }))
            const apply = (log: Handle): void => steps.forEach(({ kind, n, key }) => STEPS[kind](log, n, key))
            if (first === 'filled') await db.withSession((session) => apply(at(session, true)))
            const session = db.session()
            const log = at(session, first === 'missing')
            for (let i = 0; i < times; i++) apply(log)
            const before = await answers(log)
            expect(await answers(log), 'asked again').to.deep.equal(before)
            await session.flush()
            expect(await answers(at(db.session(), false)), 'stored').to.deep.equal(before)
          },
        ),
        { numRuns: 25 },
      )
    })

    it('takes one command for each question', async () => {
      const log = Object.assign(new Log(), { id: 'a', list: Array.from({ length: 10_000 }, (_, i) => i) })
      await db.session().save(log)
      const session = db.session()
      const handle = session.at(Log, 'a')
      for (let i = 0; i < 1_000; i++) {
        handle.counter('n').add(1)
        handle.list('list').append(i)
        handle.map('counts').increment(`k${i % 5}`)
        handle.map('weights').put(`w${i % 50}`, i)
        handle.set('tags').add(`t${i % 50}`)
      }
      const asked = await server.commands.during(async () => {
        expect(await handle.counter('n').value()).to.equal(1_000)
        expect(await handle.list('list').size()).to.equal(11_000)
        expect(await handle.map('counts').get('k3')).to.equal(200)
        expect(await handle.map('weights').get('w7')).to.equal(957)
        expect(await handle.set('tags').size()).to.equal(50)
      })
      expect(asked).to.include({ commands: 5 })
      await session.flush()
      expect((await db.session().load(Log, 'a')).list).to.have.length(11_000)
    })

    it('is refused a question whose answer only the server knows, before anything is sent', async () => {
      await db.session().save(Object.assign(new Log(), { id: 'a' }))
      const places = db.session().at(Log, 'a').map('places')
      places.where({ city: 'y' }).set({ city: 'x' })
      for (let i = 0; i < 300; i++) {
        places.put(`p${i}`, place())
        places.remove(`p${i}`)
      }
      const { commands } = await server.commands.during(async () => {
        for (const ask of [() => places.size(), () => places.where({ city: 'x' }).count()]) {
          const error = await ask().then(() => undefined, (reason: unknown) => reason) // prettier-ignore
          expect(error).to.include({ code: 'SKEIN_2331' })
          expect(error).to.have.property('details').that.includes({ property: 'places', fix: 'Flush first.' })
        }
      })
      expect(commands).to.equal(0)
    })

    it('shows changes inside of children, in their record and apart', async () => {
      for (const name of ['notes', 'apart'] as const) {
        const saved = Object.assign(new Log(), { id: 'a' })
        saved[name].add(note('x'), note('y'))
        await db.session().upsert(saved)
        const session = db.session()
        for (let i = 0; i < 120; i++) {
          for (const id of ['x', 'y']) session.at(Log, 'a').child(name, id).increment('likes')
          session.at(Log, 'a').child(name, 'x').at('marks').append(i)
          if (i % 2 === 1) session.at(Log, 'a').child(name, 'x').at('marks').removeAt(0)
        }
        expect(await session.at(Log, 'a').child(name, 'y').get('likes')).to.equal(120)
        expect(await session.at(Log, 'a').child(name, 'x').at('marks').size()).to.equal(60)
        expect(await session.at(Log, 'a').child(name, 'x').get('likes')).to.equal(120)
        await session.flush()
        const stored = db.session().at(Log, 'a').child(name, 'x')
        expect([await stored.get('likes'), await stored.at('marks').size()]).to.deep.equal([120, 60])
        await db.truncate(Log)
      }
    })
  })
}
