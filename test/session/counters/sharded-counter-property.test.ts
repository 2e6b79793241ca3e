import { expect } from 'chai'
import fc from 'fast-check'
import { Bin, Counter, EntityGoneError, Key, Record, Sharded, Version, type Database, type Session } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { rejection } from '../rejection.js'

@Record({ set: 'shp_page' })
class Page {
  @Key() path!: string
  @Bin() title!: string
  @Version() version?: number
  @Counter() edits = 0
  @Sharded({ by: 'hash', shards: 3 }) @Counter() views = 0
}

const PATHS = ['/a', '/b']
const path = fc.constantFrom(...PATHS)
const by = fc.integer({ min: -5, max: 20 })

/** A change of a record, and what it does to the number of views; undefined where there is no record any more. */
type Step =
  | { kind: 'create'; path: string; by: number }
  | { kind: 'delete'; path: string; byKey: boolean }
  | { kind: 'handle'; path: string; by: number; create: boolean; edits: boolean }
  | { kind: 'loaded'; path: string; by: number; title: boolean; alsoHandle: number; only: boolean }
  | { kind: 'upsert'; path: string; by: number; loaded: boolean }

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), path, by }),
  fc.record({ kind: fc.constant('delete' as const), path, byKey: fc.boolean() }),
  fc.record({ kind: fc.constant('handle' as const), path, by, create: fc.boolean(), edits: fc.boolean() }),
  fc.record({
    kind: fc.constant('loaded' as const),
    path,
    by,
    title: fc.boolean(),
    alsoHandle: by,
    only: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('upsert' as const), path, by, loaded: fc.boolean() }),
)

for (const mode of MODES) {
  describe(`sharded counters, whatever is done with their records (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Page], (opened) => ({ db } = opened))

    /** Does it, and says how many views there are then; `base` is what an upsert of a new entity would replace. */
    async function run(each: Step, views: Map<string, { base: number; added: number }>): Promise<void> {
      const known = views.get(each.path)
      const session = db.session()
      switch (each.kind) {
        case 'create': {
          if (known !== undefined) return
          await session.save(Object.assign(new Page(), { path: each.path, title: 't', views: each.by }))
          return void views.set(each.path, { base: each.by, added: 0 })
        }
        case 'delete': {
          const entity = each.byKey ? null : await session.find(Page, each.path)
          const wasThere = entity === null ? session.delete(Page, each.path) : session.delete(entity)
          expect(await wasThere).to.equal(known !== undefined)
          return void views.delete(each.path)
        }
        case 'handle': {
          const handle = session.at(Page, each.path, { create: each.create })
          handle.counter('views').add(each.by)
          if (each.edits) handle.counter('edits').add(1)
          const isSent = each.by !== 0 || each.edits
          if (known === undefined && !each.create && isSent)
            return void expect(await rejection(() => session.flush())).to.satisfy(isGone)
          expect(await handle.counter('views').value()).to.equal(
            (known === undefined ? 0 : known.base + known.added) + (known === undefined && !each.create ? 0 : each.by),
          )
          await session.flush()
          if (!isSent) return
          return void views.set(each.path, { base: known?.base ?? 0, added: (known?.added ?? 0) + each.by })
        }
        case 'loaded':
          return runLoaded(each, session, known)
        case 'upsert': {
          const entity = each.loaded ? await session.find(Page, each.path) : null
          if (entity === null) {
            await session.upsert(Object.assign(new Page(), { path: each.path, title: 'u', views: each.by }))
            return void views.set(each.path, { base: each.by, added: known?.added ?? 0 })
          }
          entity.views += each.by
          await session.upsert(entity)
          known!.added += each.by
        }
      }
    }

    async function runLoaded(
      each: Extract<Step, { kind: 'loaded' }>,
      session: Session,
      known: { base: number; added: number } | undefined,
    ): Promise<void> {
      const entity = await session.find(Page, each.path, each.only ? { only: ['views'] } : undefined)
      expect(entity?.views).to.equal(known && known.base + known.added)
      if (entity === null) return
      entity.views += each.by
      if (each.title && !each.only) entity.title += '!'
      session.at(entity).counter('views').add(each.alsoHandle)
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      known!.added += each.by + each.alsoHandle
      expect(entity.views).to.equal(known!.base + known!.added)
      await session.refresh(entity)
      expect(entity.views).to.equal(known!.base + known!.added)
    }

    it('show the sum of what was added since the record was made (property)', async function () {
      this.timeout(120_000)
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 15 }), async (steps) => {
          await db.truncate(Page)
          const views = new Map<string, { base: number; added: number }>()
          for (const each of steps) {
            await run(each, views)
            const stored = await db.read(Page, PATHS)
            expect(stored.map((page) => page?.views)).to.deep.equal(
              PATHS.map((one) => views.get(one)).map((one) => one && one.base + one.added),
            )
          }
        }),
        { numRuns: 40 },
      )
    })
  })
}

const isGone = (error: unknown): boolean =>
  error instanceof EntityGoneError || (error as { cause?: unknown }).cause instanceof EntityGoneError
