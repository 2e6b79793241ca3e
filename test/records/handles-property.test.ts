import { expect } from 'chai'
import fc from 'fast-check'
import { Bin, Counter, Key, Record, type Database, type RecordHandle, type Session } from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

@Record({ set: 'rec_model' })
class Thing {
  @Key() id!: number
  @Bin({ type: { list: 'int' } }) list: number[] = []
  @Bin({ type: { set: 'int' } }) set = new Set<number>()
  @Bin({ type: { map: 'int' } }) map = new Map<string, number>()
  @Bin({ type: { map: { map: 'int' } } }) deep = new Map<string, Map<string, number>>()
  @Counter() count = 0
}

interface Model {
  readonly list: number[]
  readonly set: Set<number>
  readonly map: Map<string, number>
  readonly deep: Map<string, Map<string, number>>
  count: number
}

const emptyModel = (): Model => ({ list: [], set: new Set(), map: new Map(), deep: new Map(), count: 0 })
const copy = (model: Model): Model => structuredClone(model)

/** A change as a handle makes it, and as a plain object takes it. */
interface Step {
  readonly name: string
  byHandle(handle: RecordHandle<Thing>): void
  inMemory(model: Model): void
}

const number = fc.integer({ min: 0, max: 5 })
const key = fc.constantFrom('a', 'b', 'c')
const add = (map: Map<string, number>, at: string, by: number): unknown => map.set(at, (map.get(at) ?? 0) + by)

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.array(number, { minLength: 1, maxLength: 3 }).map((items) => ({
    name: `append ${items.join()}`,
    byHandle: (handle: RecordHandle<Thing>) => handle.list('list').append(...items),
    inMemory: (model: Model) => void model.list.push(...items),
  })),
  number.map((item) => ({
    name: `list remove ${item}`,
    byHandle: (handle: RecordHandle<Thing>) => handle.list('list').remove(item),
    inMemory: ({ list }: Model) => void list.splice(0, Infinity, ...list.filter((each) => each !== item)),
  })),
  number.map((item) => ({
    name: `insert ${item}`,
    byHandle: (handle: RecordHandle<Thing>) => handle.list('list').insert(0, item),
    inMemory: ({ list }: Model) => void list.unshift(item),
  })),
  number.map((item) => ({
    name: `set add ${item}`,
    byHandle: (handle: RecordHandle<Thing>) => handle.set('set').add(item),
    inMemory: ({ set }: Model) => void set.add(item),
  })),
  number.map((item) => ({
    name: `set remove ${item}`,
    byHandle: (handle: RecordHandle<Thing>) => handle.set('set').remove(item),
    inMemory: ({ set }: Model) => void set.delete(item),
  })),
  fc.tuple(key, number).map(([at, value]) => ({
    name: `put ${at} ${value}`,
    byHandle: (handle: RecordHandle<Thing>) => handle.map('map').put(at, value),
    inMemory: ({ map }: Model) => void map.set(at, value),
  })),
  fc.tuple(key, number).map(([at, value]) => ({
    name: `increment ${at} ${value}`,
    byHandle: (handle: RecordHandle<Thing>) => handle.map('map').increment(at, value),
    inMemory: ({ map }: Model) => void add(map, at, value),
  })),
  key.map((at) => ({
    name: `map remove ${at}`,
    byHandle: (handle: RecordHandle<Thing>) => handle.map('map').remove(at),
    inMemory: ({ map }: Model) => void map.delete(at),
  })),
  fc.tuple(key, key, number).map(([at, inner, value]) => ({
    name: `deep increment ${at}.${inner} ${value}`,
    byHandle: (handle: RecordHandle<Thing>) => handle.map('deep').at(at).increment(inner, value),
    inMemory: ({ deep }: Model) => {
      if (!deep.has(at)) deep.set(at, new Map())
      add(deep.get(at)!, inner, value)
    },
  })),
  number.map((by) => ({
    name: `count ${by}`,
    byHandle: (handle: RecordHandle<Thing>) => handle.counter('count').add(by),
    inMemory: (model: Model) => void (model.count += by),
  })),
)

/** A change of the loaded entity's own property. */
const direct: fc.Arbitrary<Step> = fc.oneof(
  number.map((item) => ({
    name: `push ${item}`,
    byHandle: () => undefined,
    inMemory: ({ list }: Model) => void list.push(item),
  })),
  number.map((item) => ({
    name: `replace the first item by ${item}`,
    byHandle: () => undefined,
    inMemory: ({ list }: Model) => void (list[0] = item),
  })),
  fc.tuple(key, number).map(([at, value]) => ({
    name: `map.set ${at} ${value}`,
    byHandle: () => undefined,
    inMemory: ({ map }: Model) => void map.set(at, value),
  })),
  fc.tuple(key, key).map(([at, inner]) => ({
    name: `deep.delete ${at}.${inner}`,
    byHandle: () => undefined,
    inMemory: ({ deep }: Model) => void deep.get(at)?.delete(inner),
  })),
  number.map((item) => ({
    name: `set.add ${item}`,
    byHandle: () => undefined,
    inMemory: ({ set }: Model) => void set.add(item),
  })),
  number.map((by) => ({
    name: `count += ${by}`,
    byHandle: () => undefined,
    inMemory: (model: Model) => void (model.count += by),
  })),
)

type Action = { readonly session: 0 | 1 } & (
  { readonly kind: 'change'; readonly step: Step } | { readonly kind: 'flush' | 'ask' | 'load' }
)

const action: fc.Arbitrary<Action> = fc
  .tuple(
    fc.constantFrom<0 | 1>(0, 1),
    fc.oneof(
      { weight: 6, arbitrary: step.map((one) => ({ kind: 'change' as const, step: one })) },
      { weight: 2, arbitrary: fc.constant({ kind: 'flush' as const }) },
      { weight: 2, arbitrary: fc.constant({ kind: 'ask' as const }) },
      { weight: 1, arbitrary: fc.constant({ kind: 'load' as const }) },
    ),
  )
  .map(([session, what]) => ({ session, ...what }))

const sorted = (map: ReadonlyMap<string, number>): [string, number][] => [...map].sort(([a], [b]) => (a < b ? -1 : 1))

async function seenBy(handle: RecordHandle<Thing>, { deep }: Model): Promise<unknown> {
  const [list, set, map, count, ...inner] = await Promise.all([
    handle.list('list').byIndex({ count: 1000 }),
    handle.set('set').members(),
    handle.map('map').byIndex({ count: 1000 }),
    handle.counter('count').value(),
    ...[...deep.keys()].sort().map((at) => handle.map('deep').at(at).byIndex({ count: 1000 })),
  ])
  return { list, set, map, count, inner }
}

const expected = ({ list, set, map, count, deep }: Model): unknown => ({
  list,
  set: [...set].sort((a, b) => a - b),
  map: sorted(map),
  count,
  inner: [...deep].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, inner]) => sorted(inner)),
})

let lastId = 0

for (const mode of MODES) {
  describe(`handles against a plain model (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Thing], (opened) => ({ db } = opened), { emptied: 'once' })

    for (const create of [false, true]) {
      it(`show and store what two sessions changed ${create ? 'in a record they create' : 'in a stored record'}`, async () => {
        await fc.assert(
          fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 25 }), async (actions) => {
            const id = ++lastId
            if (!create) await db.session().save(Object.assign(new Thing(), { id }))
            await run(actions, id, create)
          }),
          { numRuns: Number(process.env.SKEIN_RUNS ?? 60) },
        )
      })
    }

    it('and a loaded entity show the same, and what is stored is what both show', async () => {
      const change = fc.oneof(
        step.map((one) => ({ one, isDirect: false })),
        direct.map((one) => ({ one, isDirect: true })),
        fc.constant('flush' as const),
        fc.constant('ask' as const),
      )
      await fc.assert(
        fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 20 }), async (changes) => {
          const session = db.session()
          const thing = await session.save(Object.assign(new Thing(), { id: ++lastId }))
          const handle = session.at(thing)
          const model = emptyModel()
          for (const each of changes) {
            if (each === 'flush') await session.flush()
            else if (each === 'ask') expect(await seenBy(handle, model)).to.deep.equal(expected(model))
            else {
              each.one.inMemory(model)
              if (each.isDirect) each.one.inMemory(thing)
              else each.one.byHandle(handle)
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

    async function run(actions: readonly Action[], id: number, create: boolean): Promise<void> {
      const stored = emptyModel()
      const sessions: readonly { session: Session; unsent: Step[] }[] = [0, 1].map(() => ({
        session: db.session(),
        unsent: [],
      }))
      let isStored = !create
      for (const { session: index, ...action } of actions) {
        const own = sessions[index]
        const handle = own.session.at(Thing, id, { create })
        if (action.kind === 'change') {
          action.step.byHandle(handle)
          own.unsent.push(action.step)
        } else if (action.kind === 'flush') {
          await own.session.flush()
          isStored ||= own.unsent.length > 0
          for (const step of own.unsent.splice(0)) step.inMemory(stored)
        } else if (action.kind === 'ask') {
          const model = copy(stored)
          for (const step of own.unsent) step.inMemory(model)
          expect(await seenBy(handle, model)).to.deep.equal(expected(model))
        } else {
          // A load completes the entity; its changes since are then found both ways.
          const loaded = await own.session.find(Thing, id)
          expect(loaded !== null).to.equal(isStored)
          if (loaded !== null) own.session.detach(loaded)
          if (loaded !== null) own.unsent.splice(0)
        }
      }
      for (const own of sessions) {
        await own.session.flush()
        isStored ||= own.unsent.length > 0
        for (const step of own.unsent.splice(0)) step.inMemory(stored)
      }
      const found = await db.session().find(Thing, id)
      expect(found !== null).to.equal(isStored)
      if (found === null) return
      const { list, set, map, count, deep } = found
      const shown = expected({
        list: list ?? [],
        set: set ?? new Set(),
        map: map ?? new Map(),
        deep: stored.deep,
        count,
      })
      expect(shown).to.deep.equal(expected(stored))
      for (const [at, inner] of stored.deep) expect(sorted(deep.get(at)!)).to.deep.equal(sorted(inner))
    }
  })
}
