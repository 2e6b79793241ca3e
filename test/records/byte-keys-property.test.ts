import { expect } from 'chai'
import fc from 'fast-check'
import { Bin, Key, Record, type Database, type Session } from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

@Record({ set: 'byk_random' })
class Store {
  @Key() id!: number
  @Bin({ type: { map: 'int', key: 'bytes' } }) counts = new Map<Uint8Array, number>()
}

// As text, the first three are the same.
const KEYS = [[0xff], [0xfe], [0xc0, 0x80], [], [0x31], [0x31, 0]].map((bytes) => Buffer.from(bytes))

type Counts = Map<string, number>
const hex = (key: Uint8Array): string => Buffer.from(key).toString('hex')
const shown = (entries: Iterable<readonly [Uint8Array | string, number]>): [string, number][] =>
  [...entries]
    .map(([key, value]): [string, number] => [typeof key === 'string' ? key : hex(key), value])
    .sort(([a], [b]) => (a < b ? -1 : 1))

interface Step {
  readonly kind: 'put' | 'increment' | 'remove'
  readonly key: Buffer
  readonly value: number
}

function inMemory(counts: Counts, { kind, key, value }: Step): void {
  if (kind === 'remove') counts.delete(hex(key))
  else counts.set(hex(key), kind === 'put' ? value : (counts.get(hex(key)) ?? 0) + value)
}

function byHandle(session: Session, id: number, { kind, key, value }: Step, create: boolean): void {
  const handle = session.at(Store, id, { create }).map('counts')
  // A key of its own for each call: what counts is its bytes.
  const own = Buffer.from(key)
  if (kind === 'remove') handle.remove(own)
  else handle[kind](own, value)
}

/** The same in the Map of a loaded entity, which finds bytes by identity. */
function inEntity({ counts }: Store, { kind, key, value }: Step): void {
  const own = [...counts.keys()].find((each) => Buffer.compare(each, key) === 0) ?? Buffer.from(key)
  if (kind === 'remove') counts.delete(own)
  else counts.set(own, kind === 'put' ? value : (counts.get(own) ?? 0) + value)
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('put', 'increment', 'remove'),
  key: fc.constantFrom(...KEYS),
  value: fc.integer({ min: -3, max: 9 }),
})
type Action = { readonly by: 'handle' | 'entity'; readonly step: Step } | 'flush' | 'ask' | 'load'
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ by: fc.constantFrom('handle', 'entity'), step }) },
  fc.constantFrom('flush', 'ask', 'load'),
)

let lastId = 0

for (const mode of MODES) {
  describe(`a map with bytes as keys against plain data (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Store], (opened) => ({ db } = opened), { emptied: 'once' })

    for (const create of [false, true]) {
      it(`shows and stores what handles and a loaded entity change ${create ? 'in a record they create' : 'in a stored record'}`, async () => {
        await fc.assert(
          fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 25 }), async (actions) => {
            const id = ++lastId
            if (!create) await db.session().save(Object.assign(new Store(), { id }))
            const session = db.session()
            const model: Counts = new Map()
            const handle = session.at(Store, id, { create }).map('counts')
            let isStored = !create
            let loaded: Store | undefined
            for (const each of actions) {
              if (each === 'flush') {
                isStored ||= session.isDirty()
                await session.flush()
              } else if (each === 'load') loaded = isStored ? await session.load(Store, id) : undefined
              else if (each === 'ask') {
                expect(shown(await handle.getMany(KEYS))).to.deep.equal(shown(model))
                expect(shown(await handle.byIndex({ offset: 0, count: 9 }))).to.deep.equal(shown(model))
              } else {
                inMemory(model, each.step)
                if (each.by === 'entity' && loaded !== undefined) inEntity(loaded, each.step)
                else byHandle(session, id, each.step, create)
                if (loaded !== undefined) expect(shown(loaded.counts ?? [])).to.deep.equal(shown(model))
              }
            }
            await session.flush()
            const stored = await db.session().find(Store, id)
            expect(shown(stored?.counts ?? [])).to.deep.equal(shown(model))
          }),
          { numRuns: Number(process.env.SKEIN_RUNS ?? 40) },
        )
      })
    }

    it('loses nothing of sessions that change different entries at once', async () => {
      await db.session().save(Object.assign(new Store(), { id: 0 }))
      await Promise.all(
        KEYS.flatMap((key) =>
          [1, 2, 3].map(async (value) => {
            const session = db.session()
            byHandle(session, 0, { kind: 'increment', key, value }, false)
            await session.flush()
          }),
        ),
      )
      expect(shown((await db.session().load(Store, 0)).counts)).to.deep.equal(shown(KEYS.map((key) => [key, 6])))
    })
  })
}
