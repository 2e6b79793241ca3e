import { expect } from 'chai'
import fc from 'fast-check'
import { SkeinError, type Database } from 'skein'
import { emptySets } from '../../empty-sets.js'
import { MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { any, besideSplits, type Choice } from './graph-splits.js'
import { LastingGraph } from './lasting-graph.js'
import { Author, Feed, IDS, KINDS, LASTING, Remark, Story, classOf, keyOf } from './lasting-models.js'
import { LastingActor, step, type Step } from './lasting-steps.js'
import { expectedLines, storedLines } from './lasting-stored.js'
import { difference } from './difference.js'
import { settled } from '../verify/settled.js'

const RUNS = { numRuns: Number(process.env.SKEIN_RUNS ?? 5) }

for (const mode of MODES) {
  describe(`random graphs with soft deletes, link records, several classes, copies and histories (${mode})`, function () {
    this.timeout(RUNS.numRuns * 8000)
    let db: Database
    let server: TestServer
    useDatabase(mode, LASTING, (opened) => ({ db, server } = opened))

    async function start(): Promise<LastingGraph> {
      await emptySets(db, LASTING)
      await db.withSession((session) => {
        for (const id of IDS) {
          session.create(Feed, { id })
          for (const kind of KINDS) session.create(classOf(kind), { id: keyOf(kind, id) })
        }
      })
      return new LastingGraph()
    }

    async function findings(arePurged: ReadonlySet<string>, repair = false): Promise<string[]> {
      const found: string[] = []
      for await (const { kind, property, message } of db.verify(LASTING, { ...(await settled(server)), repair }))
        if (kind !== 'staleCopy' && !(kind === 'danglingKey' && arePurged.has(property!))) found.push(message)
      return found
    }

    it('answer as a plain graph does, with and without what is deleted', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 8, maxLength: 40, size: 'max' }), async (steps) => {
          const graph = await start()
          const actor = new LastingActor(db, graph)
          for (const each of [...steps, { kind: 'flush' as const, isReloaded: true }]) {
            await besideSplits(db, () => actor.make(each), splittable)
            if (each.kind !== 'flush') continue
            expect(actor.session.isDirty()).to.equal(false)
            expect(difference(await storedLines(db), expectedLines(graph))).to.deep.equal([])
          }
          expect(await findings(TO_PURGED)).to.deep.equal([])
        }),
        RUNS,
      )
    })

    it('have two sides that agree, and each state once, after two sessions have changed them at the same time', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(shared, shared), { minLength: 5, maxLength: 20 }), async (pairs) => {
          const graph = await start()
          const actors = [new LastingActor(db, graph), new LastingActor(db, graph)]
          const act = async (work: readonly Promise<void>[]): Promise<void> => void (await Promise.all(work))
          for (const pair of pairs)
            await besideSplits(db, () => act(pair.map((each, i) => tolerant(actors[i], each))), splittable)
          await act(actors.map((actor) => tolerant(actor, { kind: 'flush', isReloaded: true })))
          // Where there are no transactions, a flush that failed and was given up leaves what verify repairs.
          if (mode === 'ap') await findings(NONE, true)
          await db.copies.refresh(Author)
          expect(await findings(NONE)).to.deep.equal([])
          expect(await repeatedStates(db)).to.deep.equal([])
        }),
        RUNS,
      )
    })
  })
}

/** Relations to owners and items that may be purged before those that name them. */
const TO_PURGED = new Set(['author', 'subject', 'items'])
const NONE: ReadonlySet<string> = new Set()

/** Owners are not purged before what they own. */
const shared = step.filter(
  (each) => each.kind !== 'purge' || ['Memo', 'Remark', 'Follow', 'readers'].includes(each.what),
)

/** Somebody else may have changed or deleted what this one works on: then it gives up and begins anew. */
async function tolerant(actor: LastingActor, each: Step): Promise<void> {
  try {
    await actor.make(each)
  } catch (error) {
    if (!(error instanceof SkeinError) || error.code.startsWith('SKEIN_5')) throw error
    actor.giveUp()
  }
}

/** Collections that are sharded on demand. */
const splittable: Choice = () =>
  any([
    [Author, any(IDS), any(['stories', 'follows', 'reads'])],
    [Story, any(IDS), 'remarks'],
    [Feed, any(IDS), any(['items', 'readers'])],
  ] as const)

/** Versions that a history has twice, or that are missing in it, and present ones that it has already. */
async function repeatedStates(db: Database): Promise<string[]> {
  const wrong: string[] = []
  for (const Class of [Author, Remark] as unknown as (typeof Author)[])
    for (const id of IDS) {
      const entries = await db.session().history(Class, id).entries()
      const entity = await db.session().find(Class, id, { deleted: 'include' })
      const versions = [...(entity === null ? [] : [entity.version!]), ...entries.map(({ version }) => version)]
      // After a purge the versions of a new record begin anew.
      const lives = entries.some((each) => each.entity === null) ? [] : versions
      const isLost = lives.some((version, i) => i > 0 && version !== lives[i - 1] - 1)
      if (isLost) wrong.push(`${Class.name} ${id}: ${versions.join(', ')}`)
    }
  return wrong
}
