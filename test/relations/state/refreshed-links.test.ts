import { expect } from 'chai'
import type { Database } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { ENTITIES } from '../property/graph-models.js'
import { CHANGES, allOf, load, store } from './link-changes.js'
import { oneSided } from '../property/plain-graph.js'
import { shownLinks, storedLinks } from '../property/stored-graph.js'

for (const mode of MODES) {
  describe(`links that were changed, and an end that is refreshed (${mode})`, () => {
    let db: Database
    useDatabase(mode, ENTITIES, (opened) => ({ db } = opened))
    beforeEach(() => db.withSession((session) => Promise.resolve(store(session))))

    for (const [title, { change, ends }] of Object.entries(CHANGES)) {
      for (const members of [true, false]) {
        it(`are as stored again: ${title}, collections ${members ? '' : 'not '}loaded`, async () => {
          const before = await storedLinks(db)
          const session = db.session()
          const world = await load(session, members)
          const all = allOf(world)
          const shown = shownLinks(all)
          for (const end of ends(world)) {
            change(world)
            expect(session.isDirty()).to.equal(true)
            await session.refresh(end)
            expect(session.isDirty()).to.equal(false)
            await load(session, members)
            expect(shownLinks(all)).to.deep.equal(shown)
          }
          await session.flush()
          expect(await storedLinks(db)).to.deep.equal(before)
        })

        it(`are made if only others are refreshed: ${title}, collections ${members ? '' : 'not '}loaded`, async () => {
          const session = db.session()
          const world = await load(session, members)
          change(world)
          const [taking, seen] = [new Set(ends(world)), shownLinks(allOf(world))]
          for (const [, entity] of allOf(world)) if (!taking.has(entity)) await session.refresh(entity)
          await load(session, members)
          expect(shownLinks(allOf(world))).to.deep.equal(seen)
          await session.flush()
          expect(session.isDirty()).to.equal(false)
          expect(shownLinks(allOf(await load(db.session(), members)))).to.deep.equal(seen)
          expect(oneSided(await storedLinks(db))).to.deep.equal([])
        })
      }
    }
  })
}
