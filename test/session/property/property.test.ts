import { expect } from 'chai'
import fc from 'fast-check'
import type { Database } from 'skein'
import { needMode, type TestServer } from '../../server.js'
import { sharedServer } from '../../shared-server.js'
import { idOf, Model } from './model.js'
import { Reality } from './reality.js'
import { KINDS, type Action, type Kind, type Target } from './world.js'

const kinds = Object.keys(KINDS) as Kind[]
const keys = [0, 1]
const targets: Target[] = kinds.flatMap((kind) => keys.map((key) => ({ kind, key })))

const session = fc.constantFrom<0 | 1>(0, 1)
const target = fc.record({ kind: fc.constantFrom(...kinds), key: fc.constantFrom(...keys) })
const text = fc.constantFrom('x', 'y', 'z')
const values = fc.record(
  {
    a: fc.option(text, { nil: undefined }),
    b: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
    tags: fc.option(fc.array(text, { maxLength: 3 }), { nil: undefined }),
  },
  { requiredKeys: [] },
)
const given = fc.record(
  { a: text, b: fc.integer({ min: 0, max: 3 }), tags: fc.array(text, { maxLength: 2 }) },
  { requiredKeys: [] },
)

const on = <D extends string>(weight: number, ...names: D[]) => ({
  weight,
  arbitrary: fc
    .tuple(fc.constantFrom(...names), session, target)
    .map(([name, its, where]) => ({ do: name, session: its, ...where }) as Action),
})

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('create' as const), session, values: given }).chain(withTarget) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('change' as const), session, values }).chain(withTarget) },
  on(6, 'load'),
  on(2, 'loadPart'),
  on(5, 'save'),
  on(2, 'upsert', 'remove', 'delete', 'deleteByKey', 'refresh', 'detach'),
  { weight: 5, arbitrary: fc.record({ do: fc.constant('flush' as const), session }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('clear' as const), session }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('writeOutside' as const), values: given }).chain(withTarget) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('deleteOutside' as const) }).chain(withTarget) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), seconds: fc.constantFrom(40, 101) }) },
)

function withTarget<T extends object>(rest: T): fc.Arbitrary<T & Target> {
  return target.map((where) => ({ ...rest, ...where }))
}

/** Everything that can be seen must be as the model says. */
async function compare(model: Model, reality: Reality): Promise<void> {
  const store = await reality.store(targets)
  for (const where of targets) {
    const id = idOf(where)
    const isVersioned = where.kind === 'versioned'
    const record = model.store.get(id)
    const expected = record && { values: record.values, version: isVersioned ? record.version : undefined }
    expect(store.get(id), `the record ${id}`).to.deep.equal(expected)
    for (const which of [0, 1] as const) {
      const entity = model.sessions[which].get(id)
      const wanted = entity && {
        values: entity.values,
        version: isVersioned && entity.version > 0 ? entity.version : undefined,
        isDirty: model.isDirty(entity),
      }
      expect(reality.entity(which, id), `${id} in session ${which}`).to.deep.equal(wanted)
    }
  }
}

for (const mode of ['sc', 'ap'] as const) {
  describe(`any sequence of actions of two sessions and somebody outside (${mode})`, () => {
    let server: TestServer
    let db: Database | undefined
    let runs = 0

    before(async function () {
      server = await sharedServer()
      const namespace = needMode(this, server, mode)
      db = await server.open({ namespace, entities: Object.values(KINDS) })
    })
    after(() => db?.close())

    it('leaves store and sessions as a plain model says, after every step', async function () {
      this.timeout(240_000)
      await fc.assert(
        fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 40, size: 'max' }), async (actions) => {
          const model = new Model()
          const prefix = `${Date.now()}-${++runs}`
          const reality = new Reality(db!, server[mode]!, prefix, server.embedded)
          for (const [step, each] of actions.entries()) {
            if (each.do === 'wait' && server.embedded === undefined) continue
            const expected = model.act(each)
            const name = `step ${step}: ${JSON.stringify(each)}`
            expect(await reality.act(each), name).to.equal(expected)
            await compare(model, reality)
          }
        }),
        { numRuns: Number(process.env.SKEIN_RUNS ?? 200) },
      )
    })
  })
}
