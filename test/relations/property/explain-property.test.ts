import { expect } from 'chai'
import fc from 'fast-check'
import type { Database } from 'skein'
import { emptySets } from '../../empty-sets.js'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { ENTITIES, IDS, classOf, make, type Between, type Kind } from './graph-models.js'
import { Actor, change, create, flush, palette, remove } from './graph-steps.js'
import { PlainGraph, type Links } from './plain-graph.js'
import { shownLinks, storedLinks, withoutRole } from './stored-graph.js'

const RUNS = { numRuns: Number(process.env.SKEIN_RUNS ?? 30) }
const STORED = ['Person', 'Task', 'Step', 'Log'] satisfies Kind[]

const calledOff = fc.record({
  kind: fc.constant('call off' as const),
  what: fc.constantFrom(...STORED),
  id: fc.constantFrom(...IDS),
})
const step = fc.oneof({ weight: 8, arbitrary: change }, create, flush, remove, { weight: 2, arbitrary: calledOff })
const steps = fc.array(fc.record({ step, isExplained: fc.boolean() }), { maxLength: 14 })
type Steps = typeof steps extends fc.Arbitrary<infer T> ? T : never

const END: Steps = [{ step: { kind: 'flush', isReloaded: true }, isExplained: true }]

for (const mode of MODES) {
  describe(`explaining random graphs (${mode})`, function () {
    this.timeout(RUNS.numRuns * 4000)
    let db: Database
    useDatabase(mode, ENTITIES, (opened) => ({ db } = opened))

    const start = async (): Promise<PlainGraph> => {
      await emptySets(db, ENTITIES)
      const graph = new PlainGraph()
      await db.withSession((session) => {
        for (const kind of STORED) {
          for (const id of IDS) {
            session.persist(make(kind, id))
            graph.add(kind, id)
          }
        }
        return Promise.resolve()
      })
      return graph
    }

    /** Stored records and the session's own view after each flush. */
    const play = async (relations: readonly Between[], all: Steps, explains: boolean): Promise<Links[]> => {
      const graph = await start()
      const seen: Links[] = []
      let actor = new Actor(db.session(), graph, relations)
      for (const { step, isExplained } of [...all, ...END]) {
        const explain = () => (explains ? lookAtPlan(actor) : Promise.resolve())
        if (step.kind === 'delete') await actor.remove(step)
        else if (step.kind === 'call off') await callOff(actor, step.what, step.id, explain)
        else if (step.kind !== 'flush') await actor.make(step)
        if (step.kind === 'flush' || isExplained) await explain()
        if (step.kind !== 'flush') continue
        await actor.flush()
        expect(actor.session.isDirty()).to.equal(false)
        seen.push(shownLinks(actor.seen), await storedLinks(db))
        if (step.isReloaded) actor = new Actor(db.session(), graph, relations)
      }
      return seen
    }

    it('changes nothing in what the session shows, and nothing in what a flush stores', async () => {
      await fc.assert(
        fc.asyncProperty(palette, steps, async (relations, all) => {
          const [plain, explained] = [await play(relations, all, false), await play(relations, all, true)]
          plain.forEach((links, i) => {
            if (i % 2 === 1) expect(explained[i]).to.deep.equal(links)
            else expect(explained[i]).to.include.members([...links])
            const stored = new Set(explained[i - (i % 2) + 1].map(withoutRole))
            if (i % 2 === 0) expect(explained[i].filter((link) => !stored.has(link))).to.deep.equal([])
          })
        }),
        RUNS,
      )
    })
  })
}

async function lookAtPlan(actor: Actor): Promise<void> {
  const { session, seen } = actor
  const [shown, isDirty] = [shownLinks(seen), session.isDirty()]
  await session.explain()
  // Reads of a delete stay in the session: a collection that had a bare key in it may be loaded now, and show what the graph says.
  const said = new Set([...shown, ...actor.graph.links().map(withoutRole)])
  const after = shownLinks(seen)
  expect(after.filter((link) => !said.has(link))).to.deep.equal([])
  expect(after).to.include.members([...shown])
  expect(session.isDirty()).to.equal(isDirty)
}

/** Marks an entity to be deleted, and changes its mind. */
async function callOff({ session, graph }: Actor, kind: Kind, id: number, explain: () => Promise<void>): Promise<void> {
  if (!graph.has(kind, id)) return
  const entity = await session.load(classOf(kind), id)
  session.remove(entity)
  await explain()
  session.persist(entity)
}
