import { expect } from 'chai'
import fc from 'fast-check'
import { Bin, Key, Record, type Database, type RecordHandle, type Session } from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

type Pair = [number, string]

@Record({ set: 'rec_lists' })
class Thing {
  @Key() id!: number
  @Bin({ type: { list: 'double', order: 'sorted', persistIndex: true } }) sorted: number[] = []
  @Bin({ type: { list: 'int', order: 'sorted', unique: true } }) once: number[] = []
  @Bin({ type: { list: 'int', unique: true } }) visits: number[] = []
  @Bin({ type: { list: { tuple: ['int', 'string'] }, order: 'sorted' } }) pairs: Pair[] = []
  @Bin({ type: { map: 'double', order: 'keyValue', persistIndex: true } }) scores = new Map<string, number>()
}

type Model = Omit<Thing, 'id'>
const emptyModel = (): Model => ({ sorted: [], once: [], visits: [], pairs: [], scores: new Map() })

const byNumber = (a: number, b: number): number => a - b
const byPair = ([a, x]: Pair, [b, y]: Pair): number => a - b || (x < y ? -1 : x > y ? 1 : 0)
const replace = <T>(list: T[], items: readonly T[]): void => void list.splice(0, Infinity, ...items)

/** A change as a handle makes it, and as plain arrays take it. */
interface Step {
  readonly name: string
  byHandle(handle: RecordHandle<Thing>): void
  inMemory(model: Model): void
}

const half = fc.integer({ min: 0, max: 6 }).map((n) => n / 2)
const number = fc.integer({ min: 0, max: 4 })
const letter = fc.constantFrom('a', 'b', 'c')
const pair = fc.tuple(number, letter)

const named = (name: string, byHandle: Step['byHandle'], inMemory: Step['inMemory']): Step => ({
  name,
  byHandle,
  inMemory,
})

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.array(half, { minLength: 1, maxLength: 3 }).map((items) =>
    named(
      `sorted.append ${items.join()}`,
      (handle) => handle.list('sorted').append(...items),
      ({ sorted }) => replace(sorted, [...sorted, ...items].sort(byNumber)),
    ),
  ),
  half.map((item) =>
    named(
      `sorted.remove ${item}`,
      (handle) => handle.list('sorted').remove(item),
      ({ sorted }) =>
        replace(
          sorted,
          sorted.filter((each) => each !== item),
        ),
    ),
  ),
  fc.tuple(number, fc.integer({ min: 1, max: 2 })).map(([at, count]) =>
    named(
      `sorted.removeAt ${at} ${count}`,
      (handle) => handle.list('sorted').removeAt(at, count),
      ({ sorted }) => void sorted.splice(at, count),
    ),
  ),
  fc.tuple(half, half).map(([lower, upper]) =>
    named(
      `sorted.removeBetween ${lower} ${upper}`,
      (handle) => handle.list('sorted').removeBetween(lower, upper),
      ({ sorted }) =>
        replace(
          sorted,
          sorted.filter((each) => each < lower || each >= upper),
        ),
    ),
  ),
  fc.array(number, { minLength: 1, maxLength: 3 }).map((items) =>
    named(
      `once.append ${items.join()}`,
      (handle) => handle.list('once').append(...items),
      ({ once }) => replace(once, [...new Set([...once, ...items])].sort(byNumber)),
    ),
  ),
  number.map((item) =>
    named(
      `once.keepBetween ${item}`,
      (handle) => handle.list('once').keepBetween(item),
      ({ once }) =>
        replace(
          once,
          once.filter((each) => each >= item),
        ),
    ),
  ),
  fc.array(number, { minLength: 1, maxLength: 3 }).map((items) =>
    named(
      `visits.append ${items.join()}`,
      (handle) => handle.list('visits').append(...items),
      ({ visits }) => replace(visits, [...new Set([...visits, ...items])]),
    ),
  ),
  number.map((item) =>
    named(
      `visits.insert ${item}`,
      (handle) => handle.list('visits').insert(0, item),
      ({ visits }) => replace(visits, visits.includes(item) ? visits : [item, ...visits]),
    ),
  ),
  pair.map((item) =>
    named(
      `pairs.append ${item.join()}`,
      (handle) => handle.list('pairs').append(item),
      ({ pairs }) => replace(pairs, [...pairs, item].sort(byPair)),
    ),
  ),
  number.map((first) =>
    named(
      `pairs.removeStartingWith ${first}`,
      (handle) => handle.list('pairs').removeStartingWith(first),
      ({ pairs }) =>
        replace(
          pairs,
          pairs.filter(([each]) => each !== first),
        ),
    ),
  ),
  fc.tuple(letter, half).map(([key, value]) =>
    named(
      `scores.put ${key} ${value}`,
      (handle) => handle.map('scores').put(key, value),
      ({ scores }) => void scores.set(key, value),
    ),
  ),
  letter.map((key) =>
    named(
      `scores.remove ${key}`,
      (handle) => handle.map('scores').remove(key),
      ({ scores }) => void scores.delete(key),
    ),
  ),
)

/** Everything that the handles answer about a record, by the questions of this suite. */
async function seenBy(handle: RecordHandle<Thing>): Promise<unknown> {
  const [sorted, once, visits, pairs, scores] = [
    handle.list('sorted'),
    handle.list('once'),
    handle.list('visits'),
    handle.list('pairs'),
    handle.map('scores'),
  ]
  return {
    sorted: await sorted.byIndex({ count: 99 }),
    last: await sorted.last(2),
    top: await sorted.top(2),
    bottom: await sorted.bottom(2),
    rank: await sorted.rankOf(1),
    between: await sorted.between(0.5, 2),
    once: await once.byRank({ count: 99 }),
    open: await once.countBetween(2),
    visits: await visits.byIndex({ count: 99 }),
    visitRanks: await visits.byRank({ offset: -2, count: 2 }),
    pairs: await pairs.byIndex({ count: 99 }),
    upTo: await pairs.between(undefined, [2, 'b']),
    ones: await pairs.startingWith(1),
    best: await scores.top(2),
    ranks: [await scores.rankOf('b'), await scores.indexOf('b')],
  }
}

function expected({ sorted, once, visits, pairs, scores }: Model): unknown {
  const entries = [...scores].sort(([a, x], [b, y]) => x - y || (a < b ? -1 : 1))
  const at = (index: number): number | null => (index < 0 ? null : index)
  return {
    sorted,
    last: sorted.slice(-2),
    top: sorted.slice(-2).reverse(),
    bottom: sorted.slice(0, 2),
    rank: at(sorted.indexOf(1)),
    between: sorted.filter((each) => each >= 0.5 && each < 2),
    once,
    open: once.filter((each) => each >= 2).length,
    visits,
    visitRanks: [...visits].sort(byNumber).slice(-2),
    pairs,
    upTo: pairs.filter((each) => byPair(each, [2, 'b']) < 0),
    ones: pairs.filter(([first]) => first === 1),
    best: entries.slice(-2).reverse(),
    ranks: [at(entries.findIndex(([key]) => key === 'b')), at([...scores.keys()].sort().indexOf('b'))],
  }
}

const action = fc.record({
  session: fc.constantFrom<0 | 1>(0, 1),
  what: fc.oneof(
    { weight: 6, arbitrary: step },
    { weight: 2, arbitrary: fc.constant('flush' as const) },
    { weight: 2, arbitrary: fc.constant('ask' as const) },
  ),
})

let lastId = 0

for (const mode of MODES) {
  describe(`handles on lists and maps with a subtype against a plain model (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Thing], (opened) => ({ db } = opened), { emptied: 'once' })

    for (const create of [false, true]) {
      it(`show and store what two sessions changed ${create ? 'in a record they create' : 'in a stored record'}`, async () => {
        await fc.assert(
          fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 20 }), async (actions) => {
            const id = ++lastId
            if (!create) await db.session().save(Object.assign(new Thing(), { id }))
            const stored = emptyModel()
            const sessions = [0, 1].map((): { session: Session; unsent: Step[] } => ({
              session: db.session(),
              unsent: [],
            }))
            const flush = async ({ session, unsent }: (typeof sessions)[number]): Promise<void> => {
              await session.flush()
              for (const one of unsent.splice(0)) one.inMemory(stored)
            }
            for (const { session: index, what } of actions) {
              const own = sessions[index]
              const handle = own.session.at(Thing, id, { create })
              if (what === 'flush') await flush(own)
              else if (what === 'ask') {
                const model = structuredClone(stored)
                for (const one of own.unsent) one.inMemory(model)
                expect(await seenBy(handle)).to.deep.equal(expected(model))
              } else {
                what.byHandle(handle)
                own.unsent.push(what)
              }
            }
            for (const own of sessions) await flush(own)
            const { sorted, once, visits, pairs, scores } = (await db.session().find(Thing, id)) ?? emptyModel()
            const found = { sorted, once, visits, pairs, scores: scores ?? new Map<string, number>() }
            for (const name of ['sorted', 'once', 'visits', 'pairs'] as const)
              expect(found[name] ?? [], name).to.deep.equal(stored[name])
            expect(found.scores).to.deep.equal(stored.scores)
          }),
          { numRuns: Number(process.env.SKEIN_RUNS ?? 60) },
        )
      })
    }

    it('and a loaded entity show the same, and what is stored is what both show', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 20 }), async (actions) => {
          const session = db.session()
          const thing = await session.save(Object.assign(new Thing(), { id: ++lastId }))
          const handle = session.at(thing)
          const model = emptyModel()
          for (const { session: side, what } of actions) {
            if (what === 'flush') await session.flush()
            else if (what === 'ask') expect(await seenBy(handle)).to.deep.equal(expected(model))
            else {
              what.inMemory(model)
              // The same change by the handle, or of the property itself.
              if (side === 0) what.byHandle(handle)
              else what.inMemory(thing)
              expect(expected(thing)).to.deep.equal(expected(model))
            }
          }
          await session.flush()
          expect(session.isDirty()).to.equal(false)
          expect(expected(await db.session().load(Thing, thing.id))).to.deep.equal(expected(model))
        }),
        { numRuns: Number(process.env.SKEIN_RUNS ?? 60) },
      )
    })
  })
}
