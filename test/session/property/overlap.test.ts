import { expect } from 'chai'
import fc from 'fast-check'
import type { Database, Session } from 'skein'
import { needMode } from '../../server.js'
import { sharedServer } from '../../shared-server.js'
import { copy, KINDS, type Values } from './world.js'
import { PlainRecord, type Call, type Change } from './plain-record.js'

const CALLS = ['save', 'upsert', 'flush', 'remove', 'delete', 'deleteByKey', 'refresh', 'load', 'persist'] as const
const KIND_NAMES = ['plain', 'versioned'] as const
type Entity = InstanceType<(typeof KINDS)[(typeof KIND_NAMES)[number]]>

const which = fc.constantFrom(0, 1)
const change: fc.Arbitrary<Change> = fc.record({
  do: fc.constantFrom('change' as const, 'changeLater' as const),
  which,
  values: fc.record({ a: fc.constantFrom('x', 'y', 'z'), b: fc.integer({ min: 0, max: 3 }) }, { requiredKeys: [] }),
})
const call: fc.Arbitrary<Call> = fc.record({ do: fc.constantFrom(...CALLS), which })
const group = fc.array(fc.oneof({ weight: 3, arbitrary: call }, { weight: 2, arbitrary: change }), {
  minLength: 2,
  maxLength: 8,
})

const isChange = (each: Call | Change): each is Change => each.do === 'change' || each.do === 'changeLater'

/** Calls now and waits for nothing; gives what has to be awaited in the end. */
function begin(session: Session, entity: Entity, { do: name }: Call): Promise<unknown> | undefined {
  const { constructor: Class, id } = entity as Entity & { constructor: new () => Entity }
  switch (name) {
    case 'flush':
      return session.flush()
    case 'deleteByKey':
      return session.delete(Class, id)
    case 'load':
      return session.find(Class, id)
    case 'remove':
    case 'persist':
      return void session[name](entity)
    default:
      return session[name](entity)
  }
}

const isManaged = (session: Session, entity: Entity): boolean => {
  try {
    session.isDirty(entity)
    return true
  } catch {
    return false
  }
}

const valuesOf = ({ a, b, tags }: Values): Values => copy({ a, b, tags })

/** Makes the calls at once and then waits for all of them; says which have failed, but for a refresh of what is gone. */
async function callAll(
  session: Session,
  entities: readonly Entity[],
  records: readonly PlainRecord[],
  calls: readonly (Call | Change)[],
): Promise<string[]> {
  const failures: string[] = []
  const results: Promise<unknown>[] = []
  for (const each of calls) {
    const [entity, record] = [entities[each.which], records[each.which]]
    if (!record.mayTake(each, calls)) continue
    if (isChange(each)) {
      if (each.do === 'change') Object.assign(entity, each.values)
      else setImmediate(() => Object.assign(entity, each.values))
    } else {
      const isForAny = each.do === 'persist' || each.do === 'deleteByKey'
      if (!isForAny && !isManaged(session, entity)) continue
      const failed = (error: unknown): unknown => failures.push(`${each.do}: ${(error as Error).name}`)
      const result = begin(session, entity, each)
      if (result !== undefined) results.push(result.catch(failed))
    }
    record.take(each, records)
  }
  await Promise.all(results)
  await new Promise((resolve) => setImmediate(resolve))
  for (const record of records) record.endGroup()
  return failures.filter((text) => text !== 'refresh: EntityGoneError')
}

for (const mode of ['sc', 'ap'] as const) {
  describe(`calls of one session that overlap (${mode})`, () => {
    let db: Database | undefined
    let runs = 0

    before(async function () {
      const server = await sharedServer()
      db = await server.open({ namespace: needMode(this, server, mode), entities: Object.values(KINDS) })
    })
    after(() => db?.close())

    it('leave what the same calls leave one after another', async function () {
      this.timeout(240_000)
      await fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...KIND_NAMES),
          fc.array(group, { minLength: 1, maxLength: 5 }),
          async (kind, groups) => {
            const Class = KINDS[kind]
            const prefix = `overlap-${Date.now()}-${++runs}`
            const session = db!.session()
            const ids = [0, 1].map((n) => `${prefix}:${n}`)
            const entities = ids.map((id): Entity => session.create(Class, { id, a: 'first' }))
            const records = ids.map(() => new PlainRecord({ a: 'first' }))
            await session.flush()
            for (const calls of groups) {
              const name = JSON.stringify(calls)
              expect(await callAll(session, entities, records, calls), name).to.deep.equal([])
              await session.flush()
              for (const record of records) record.flush()
              expect(session.isDirty(), name).to.equal(false)
              const stored = await db!.read(Class, ids)
              stored.forEach((found, i) => {
                expect(found && valuesOf(found), `${name}: record ${i}`).to.deep.equal(records[i].stored ?? null)
                if (found && 'version' in found)
                  expect((entities[i] as typeof found).version, name).to.equal(found.version)
              })
            }
          },
        ),
        { numRuns: Number(process.env.SKEIN_RUNS ?? 200) },
      )
    })
  })
}
