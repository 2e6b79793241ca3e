import { expect } from 'chai'
import type { Database, Session } from 'skein'
import { emptySets } from '../../empty-sets.js'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { ENTITIES, IDS, Person, Task } from '../property/graph-models.js'
import { CHANGES, load, store, type World } from './link-changes.js'
import { oneSided, type Links } from '../property/plain-graph.js'
import { storedLinks } from '../property/stored-graph.js'

for (const mode of MODES) {
  describe(`links that were changed, and ends that are loaded in full only then (${mode})`, () => {
    let db: Database
    useDatabase(mode, ENTITIES, (opened) => ({ db } = opened))

    const changed = async (change: (world: World) => void, begin: (session: Session) => Promise<World>) => {
      await emptySets(db, ENTITIES)
      await db.withSession((session) => Promise.resolve(store(session)))
      const session = db.session()
      change(await begin(session))
      // In either order: what was read in part is completed.
      await load(session, false)
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      return storedLinks(db)
    }

    for (const [title, { change }] of Object.entries(CHANGES)) {
      for (const parts of ['persons', 'tasks', 'both'] as const) {
        it(`are stored: ${title}, ${parts} known in part`, async () => {
          const wanted: Links = await changed(change, (session) => load(session, false))
          const found: Links = await changed(change, async (session) => ({
            persons: await session.loadMany(Person, IDS, parts === 'tasks' ? {} : { only: [] }),
            tasks: await session.loadMany(Task, IDS, parts === 'persons' ? {} : { only: [] }),
          }))
          expect(oneSided(found)).to.deep.equal([])
          expect(found).to.deep.equal(wanted)
        })
      }
    }
  })
}
