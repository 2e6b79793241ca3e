import { expect } from 'chai'
import fc from 'fast-check'
import { NotFoundError, SkeinError, type Database } from 'skein'
import { emptySets } from '../../empty-sets.js'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { difference } from './difference.js'
import { ENTITIES, IDS, classOf, make, type Kind } from './graph-models.js'
import { besideSplits } from './graph-splits.js'
import { Actor, change, create, flush, palette, refresh, remove } from './graph-steps.js'
import { PlainGraph, oneSided } from './plain-graph.js'
import { shownLinks, storedLinks, withoutRole, wrongCopies } from './stored-graph.js'

const RUNS = { numRuns: Number(process.env.SKEIN_RUNS ?? 30) }

for (const mode of MODES) {
  describe(`random graphs (${mode})`, function () {
    this.timeout(Number(process.env.SKEIN_RUNS ?? 30) * 4000)
    let db: Database
    useDatabase(mode, ENTITIES, (opened) => ({ db } = opened))

    const start = async (): Promise<PlainGraph> => {
      await emptySets(db, ENTITIES)
      const graph = new PlainGraph()
      await db.withSession((session) => {
        for (const kind of ['Person', 'Task', 'Step', 'Log'] satisfies Kind[]) {
          for (const id of IDS) {
            session.persist(make(kind, id))
            graph.add(kind, id)
          }
        }
        return Promise.resolve()
      })
      return graph
    }

    it('are stored and shown as a plain graph says, on both sides, whatever was loaded', async () => {
      const steps = fc.array(fc.oneof({ weight: 8, arbitrary: change }, create, flush, remove), { maxLength: 14 })
      await fc.assert(
        fc.asyncProperty(palette, steps, async (relations, all) => {
          const graph = await start()
          let actor = new Actor(db.session(), graph, relations)
          for (const step of [...all, { kind: 'flush' as const, isReloaded: true }]) {
            if (step.kind === 'delete') await actor.remove(step)
            else if (step.kind !== 'flush') await actor.make(step)
            else {
              await besideSplits(db, () => actor.flush())
              expect(actor.session.isDirty()).to.equal(false)
              const links = graph.links()
              expect(difference(await storedLinks(db), links)).to.deep.equal([])
              expect(await wrongCopies(db, actor.seen)).to.deep.equal([])
              const said = new Set(links.map(withoutRole))
              expect(shownLinks(actor.seen).filter((each) => !said.has(each))).to.deep.equal([])
              if (step.isReloaded) actor = new Actor(db.session(), graph, relations)
            }
          }
        }),
        RUNS,
      )
    })

    it('have two sides that agree after two sessions have changed them in turns, not knowing of each other', async () => {
      const step = fc.oneof({ weight: 8, arbitrary: change }, { weight: 2, arbitrary: flush }, remove, refresh)
      const turn = fc.record({ who: fc.constantFrom(0, 1), step })
      await fc.assert(
        fc.asyncProperty(palette, fc.array(turn, { maxLength: 20 }), async (relations, turns) => {
          const graph = await start()
          const actors = [new Actor(db.session(), graph, relations), new Actor(db.session(), graph, relations)]
          for (const { who, step } of [...turns, ...END]) {
            const actor = actors[who]
            if (step.kind === 'delete') await inTurn(db, actor, () => actor.remove(step))
            else if (step.kind === 'refresh') await inTurn(db, actor, () => actor.refresh(step))
            else if (step.kind !== 'flush') await inTurn(db, actor, () => actor.make(step))
            else {
              await besideSplits(db, () => inTurn(db, actor, () => actor.flush()))
              if (step.isReloaded) actors[who] = new Actor(db.session(), graph, relations)
            }
          }
          const links = await storedLinks(db)
          expect(oneSided(links)).to.deep.equal([])
          expect(await wrongCopies(db)).to.deep.equal([])
          expect(difference(links.filter(isStanding), graph.links().filter(isStanding))).to.deep.equal([])
        }),
        RUNS,
      )
    })
  })
}

const END = [0, 1].map((who) => ({ who, step: { kind: 'flush' as const, isReloaded: true } }))

/** Somebody else may have deleted what this one works on: then it lets go of that, and does the rest. */
async function inTurn(db: Database, actor: Actor, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error
    if (error instanceof NotFoundError) return
    await actor.giveUp(async (kind, id) => (await db.session().find(classOf(kind), id)) !== null)
    await actor.flush()
  }
}

/** Persons and tasks are deleted only when somebody says so. */
const isStanding = (link: string): boolean => /^(Person|Task) \d is there$/.test(link)
