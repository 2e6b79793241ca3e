import { expect } from 'chai'
import fc from 'fast-check'
import {
  Bin,
  Embeddable,
  Embedded,
  Key,
  OneToMany,
  Record,
  collection,
  type Database,
  type FilterFields,
  type RecordHandle,
  type Session,
} from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

const RUNS = Number(process.env.SKEIN_RUNS ?? 12)

@Embeddable()
class Item {
  @Bin() kind!: string
  @Bin({ type: 'int' }) n!: number
  @Bin() note?: string
}

@Embeddable()
class Note {
  @Key() id!: string
  @Bin() text?: string
  @Bin({ type: 'int' }) likes!: number
}

@Record({ set: 'rec_parts' })
class Box {
  @Key() id!: number
  @Embedded(() => Item, { as: 'array' }) items: Item[] = []
  @Embedded(() => Item, { as: 'map' }) slots = new Map<string, Item>()
  @Bin({ type: { map: 'int' } }) scores = new Map<string, number>()
  @Bin({ type: { list: 'int' } }) log: number[] = []
  @OneToMany(() => Note, { strategy: 'consolidate' }) notes = collection<Note>()
}

interface PlainItem {
  kind: string
  n: number
  note?: string
}
interface Model {
  items: PlainItem[]
  slots: Map<string, PlainItem>
  scores: Map<string, number>
  log: number[]
  notes: Map<string, { text?: string; likes: number }>
}

const IDS = ['x', 'y']
const KINDS = ['a', 'b'] as const
const KEYS = ['p', 'q', 'r'] as const

const itemOf = (values: PlainItem): Item => Object.assign(new Item(), values)

const itemsOf = (handle: RecordHandle<Box>) => handle.list('items')

/** A condition as a query takes it, and as a function of a plain item. */
interface Condition {
  readonly name: string
  readonly where: Parameters<ReturnType<typeof itemsOf>['where']>[0]
  readonly holds: (item: PlainItem) => boolean
}

const number = fc.integer({ min: 0, max: 4 })
const kind = fc.constantFrom(...KINDS)
const key = fc.constantFrom(...KEYS)
const condition: fc.Arbitrary<Condition> = fc.oneof(
  kind.map((k) => ({ name: `kind ${k}`, where: { kind: k }, holds: (item: PlainItem) => item.kind === k })),
  number.map((n) => ({
    name: `n >= ${n}`,
    where: { n: { gte: n } },
    holds: (item: PlainItem) => item.n >= n,
  })),
  fc.tuple(kind, number).map(([k, n]) => ({
    name: `kind ${k} or n ${n}`,
    where: (item: FilterFields<Item>) => item.kind.eq(k).or(item.n.eq(n)),
    holds: (item: PlainItem) => item.kind === k || item.n === n,
  })),
  fc.constant({ name: 'no note', where: { note: null }, holds: (item: PlainItem) => item.note === undefined }),
)

/** A change as a handle makes it, and as plain data takes it. */
interface Step {
  readonly name: string
  byHandle(handle: RecordHandle<Box>): void
  inMemory(model: Model): void
}

type Place = 'items' | 'slots'
const place = fc.constantFrom<Place>('items', 'slots')
const partsIn = (model: Model, at: Place): PlainItem[] => (at === 'items' ? model.items : [...model.slots.values()])
const found = (handle: RecordHandle<Box>, at: Place, { where }: Condition) =>
  at === 'items' ? itemsOf(handle).where(where) : handle.map('slots').where(where)

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(place, condition, number).map(([at, on, n]) => ({
    name: `${at} where ${on.name} set n ${n}, note`,
    byHandle: (handle: RecordHandle<Box>) => found(handle, at, on).set({ n, note: n === 0 ? null : 'noted' }),
    inMemory: (model: Model) => {
      for (const item of partsIn(model, at).filter(on.holds)) {
        item.n = n
        if (n === 0) delete item.note
        else item.note = 'noted'
      }
    },
  })),
  fc.tuple(place, condition, number).map(([at, on, n]) => ({
    name: `${at} where ${on.name} increment ${n}`,
    byHandle: (handle: RecordHandle<Box>) => found(handle, at, on).increment('n', n),
    inMemory: (model: Model) =>
      partsIn(model, at)
        .filter(on.holds)
        .forEach((item) => (item.n += n)),
  })),
  fc.tuple(place, condition).map(([at, on]) => ({
    name: `${at} where ${on.name} remove`,
    byHandle: (handle: RecordHandle<Box>) => found(handle, at, on).remove(),
    inMemory: (model: Model) => {
      if (at === 'items') model.items = model.items.filter((item) => !on.holds(item))
      else for (const [name, item] of [...model.slots]) if (on.holds(item)) model.slots.delete(name)
    },
  })),
  fc.tuple(kind, number).map(([k, n]) => ({
    name: `append ${k} ${n}`,
    byHandle: (handle: RecordHandle<Box>) => handle.list('items').append(itemOf({ kind: k, n })),
    inMemory: (model: Model) => void model.items.push({ kind: k, n }),
  })),
  fc.tuple(key, kind, number).map(([at, k, n]) => ({
    name: `put ${at} ${k} ${n}`,
    byHandle: (handle: RecordHandle<Box>) => handle.map('slots').put(at, itemOf({ kind: k, n })),
    inMemory: (model: Model) => void model.slots.set(at, { kind: k, n }),
  })),
  fc.tuple(fc.constantFrom(...IDS), number).map(([id, n]) => ({
    name: `child ${id} likes ${n}`,
    byHandle: (handle: RecordHandle<Box>) => handle.child('notes', id).increment('likes', n),
    inMemory: (model: Model) => void (model.notes.get(id)!.likes += n),
  })),
  fc.tuple(fc.constantFrom(...IDS), kind).map(([id, text]) => ({
    name: `child ${id} text ${text}`,
    byHandle: (handle: RecordHandle<Box>) => handle.child('notes', id).put('text', text),
    inMemory: (model: Model) => void (model.notes.get(id)!.text = text),
  })),
)

interface Projection {
  readonly keys: readonly string[]
  readonly slots: readonly string[]
  readonly log:
    { readonly first: number } | { readonly last: number } | { readonly offset: number; readonly count: number }
}
const projection: fc.Arbitrary<Projection> = fc.record({
  keys: fc.uniqueArray(key, { minLength: 1 }),
  slots: fc.uniqueArray(key, { minLength: 1 }),
  log: fc.oneof(
    fc.integer({ min: 1, max: 4 }).map((first) => ({ first })),
    fc.integer({ min: 1, max: 4 }).map((last) => ({ last })),
    fc.tuple(number, fc.integer({ min: 1, max: 3 })).map(([offset, count]) => ({ offset, count })),
  ),
})

type Action =
  | { readonly kind: 'change'; readonly session: 0 | 1; readonly step: Step }
  | { readonly kind: 'flush'; readonly session: 0 | 1 }
  | { readonly kind: 'ask'; readonly session: 0 | 1; readonly at: Place; readonly on: Condition }
  | { readonly kind: 'part'; readonly only: Projection; readonly put: readonly [string, number]; readonly push: number }

const session = fc.constantFrom<0 | 1>(0, 1)
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('change' as const), session, step }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('flush' as const), session }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('ask' as const), session, at: place, on: condition }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('part' as const),
      only: projection,
      put: fc.tuple(key, number),
      push: number,
    }),
  },
)

const plain = ({ kind: k, n, note }: PlainItem): string => `${k} ${n} ${note ?? ''}`

function slice(log: readonly number[], of: Projection['log']): number[] {
  if ('first' in of) return log.slice(0, of.first)
  return 'last' in of ? log.slice(-of.last) : log.slice(of.offset, of.offset + of.count)
}

for (const mode of MODES) {
  describe(`parts, children and partial loads against plain data (${mode})`, function () {
    this.timeout(120_000)
    let db: Database
    useDatabase(mode, [Box], (opened) => ({ db } = opened), { emptied: 'once' })
    let next = 0

    async function begin(): Promise<{ readonly id: number; readonly model: Model }> {
      const id = ++next
      const model: Model = {
        items: [
          { kind: 'a', n: 1 },
          { kind: 'b', n: 2, note: 'old' },
        ],
        slots: new Map([['p', { kind: 'a', n: 3 }]]),
        scores: new Map([['p', 1]]),
        log: [1, 2, 3],
        notes: new Map(IDS.map((note) => [note, { likes: 0 }])),
      }
      const slots = new Map([...model.slots].map(([at, item]) => [at, itemOf(item)]))
      const { scores, log } = structuredClone(model)
      const box = Object.assign(new Box(), { id, items: model.items.map(itemOf), slots, scores, log })
      for (const note of IDS) box.notes.add(Object.assign(new Note(), { id: note, likes: 0 }))
      await db.session().save(box)
      return { id, model }
    }

    async function expectStored(id: number, model: Model): Promise<void> {
      const box = await db.session().load(Box, id, { with: ['notes'] })
      expect(box.items.map(plain)).to.deep.equal(model.items.map(plain))
      expect([...box.slots].map(([at, item]) => `${at} ${plain(item)}`).sort()).to.deep.equal(
        [...model.slots].map(([at, item]) => `${at} ${plain(item)}`).sort(),
      )
      expect([...box.scores].sort()).to.deep.equal([...model.scores].sort())
      expect(box.log).to.deep.equal(model.log)
      expect(box.notes.items.map((note) => `${note.id} ${note.text ?? ''} ${note.likes}`)).to.deep.equal(
        [...model.notes].map(([at, note]) => `${at} ${note.text ?? ''} ${note.likes}`),
      )
    }

    async function askAll(open: Session, id: number, model: Model, at: Place, on: Condition): Promise<void> {
      const handle = open.at(Box, id)
      const wanted = partsIn(model, at).filter(on.holds).map(plain).sort()
      const [parts, count] = await Promise.all([found(handle, at, on).select(), found(handle, at, on).count()])
      expect(parts.map((item) => plain(item)).sort()).to.deep.equal(wanted)
      expect(count).to.equal(wanted.length)
      for (const note of IDS)
        expect(await handle.child('notes', note).get('likes')).to.equal(model.notes.get(note)!.likes)
    }

    async function loadPart(id: number, model: Model, action: Extract<Action, { kind: 'part' }>): Promise<void> {
      const { only, put, push } = action
      const open = db.session()
      const box = await open.load(Box, id, {
        only: [{ scores: [...only.keys], slots: [...only.slots], log: only.log }],
      })
      expect([...box.scores].sort()).to.deep.equal([...model.scores].filter(([at]) => only.keys.includes(at)).sort())
      expect([...box.slots].map(([at, item]) => `${at} ${plain(item)}`).sort()).to.deep.equal(
        [...model.slots]
          .filter(([at]) => only.slots.includes(at))
          .map(([at, item]) => `${at} ${plain(item)}`)
          .sort(),
      )
      expect(box.log).to.deep.equal(slice(model.log, only.log))
      box.scores.set(...put)
      model.scores.set(...put)
      if ('last' in only.log) {
        box.log.push(push)
        model.log.push(push)
      }
      await open.flush()
    }

    it('agree, whatever two sessions do', () =>
      fc.assert(
        fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 12 }), async (actions) => {
          const { id, model } = await begin()
          const sessions = [db.session(), db.session()]
          const unsent: [Step[], Step[]] = [[], []]
          const flush = async (at: 0 | 1): Promise<void> => {
            await sessions[at].flush()
            for (const one of unsent[at].splice(0)) one.inMemory(model)
          }
          for (const each of actions) {
            if (each.kind === 'change') {
              each.step.byHandle(sessions[each.session].at(Box, id))
              unsent[each.session].push(each.step)
            } else if (each.kind === 'flush') await flush(each.session)
            else if (each.kind === 'part') await loadPart(id, model, each)
            else {
              const shown = structuredClone(model)
              for (const one of unsent[each.session]) one.inMemory(shown)
              await askAll(sessions[each.session], id, shown, each.at, each.on)
            }
          }
          await flush(0)
          await flush(1)
          await expectStored(id, model)
        }),
        { numRuns: RUNS },
      ))
  })
}
