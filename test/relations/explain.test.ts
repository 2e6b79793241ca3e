import { expect } from 'chai'
import type { Database } from 'skein'
import { emptySets } from '../empty-sets.js'
import { MODES, needMode } from '../server.js'
import { sharedServer } from '../shared-server.js'
import { CLASSES, IDS, Log, Step, Task, make } from './graph-models.js'

const ENTITIES = Object.values(CLASSES)

for (const mode of MODES) {
  describe(`explaining changes of relations (${mode})`, () => {
    let db: Database
    before(async function () {
      const server = await sharedServer()
      const namespace = needMode(this, server, mode)
      db = await server.open({ namespace, entities: ENTITIES })
      await db.indexes.sync()
    })
    after(() => db?.close())
    beforeEach(async () => {
      await emptySets(db, ENTITIES)
      await db.withSession((session) => {
        for (const kind of ['Person', 'Task', 'Step', 'Log'] as const)
          for (const id of IDS) session.persist(make(kind, id))
        return Promise.resolve()
      })
    })

    describe('of children that were never stored', () => {
      for (const [name, child] of [
        ['steps', Step],
        ['logs', Log],
      ] as const) {
        it(`shows no delete of ${name} that a cascade would reach, and leaves them new`, async () => {
          const session = db.session()
          const task = await session.load(Task, 1)
          const added = session.create(child, { id: 5 })
          ;(task[name] as { add(member: object): void }).add(added)
          session.remove(task)
          for (let i = 0; i < 2; i++) expect(String(await session.explain())).to.not.match(/(step|log)\/5/)
          session.persist(task)
          expect(session.isDirty(added)).to.equal(true)
          await session.flush()
          expect((await db.session().load(child, 5)).task.key).to.equal(1)
        })

        it(`does not take in ${name} that were only added to a collection`, async () => {
          const session = db.session()
          const task = await session.load(Task, 1)
          const added = Object.assign(new child(), { id: 5 })
          const members = task[name] as { add(member: object): void; remove(member: object): void }
          members.add(added)
          expect(String(await session.explain())).to.match(/(step|log)\/5/)
          members.remove(added)
          await session.flush()
          expect(await db.session().find(child, 5)).to.equal(null)
        })
      }
    })
  })
}
