import { expect } from 'chai'
import { AlreadyExistsError, type Database } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { rejection } from '../../session/rejection.js'
import { Badge, ENTITIES, Person, Task } from '../property/graph-models.js'
import { CHANGES, load, store } from './link-changes.js'
import { storedLinks } from '../property/stored-graph.js'

for (const mode of MODES) {
  describe(`links that were changed, and an end that is detached (${mode})`, () => {
    let db: Database
    useDatabase(mode, ENTITIES, (opened) => ({ db } = opened))
    beforeEach(() => db.withSession((session) => Promise.resolve(store(session))))

    for (const [title, { change, ends }] of Object.entries(CHANGES)) {
      for (const end of [0, 1]) {
        it(`are not sent: ${title}, ${end === 0 ? 'the first' : 'the second'} of both detached`, async () => {
          const before = await storedLinks(db)
          const session = db.session()
          const world = await load(session, end === 0)
          change(world)
          session.detach(ends(world)[end])
          expect(session.isDirty()).to.equal(false)
          await session.flush()
          expect(await storedLinks(db)).to.deep.equal(before)
        })
      }
    }

    it('are sent where only the other end has them', async () => {
      const session = db.session()
      const [person, task] = [await session.load(Person, 1), await session.load(Task, 1)]
      person.bookmarks.add(task)
      session.detach(task)
      await session.flush()
      expect(await db.session().at(Person, 1).collection('bookmarks').keys()).to.deep.equal([1])
    })

    it('do not bring back what was deleted since', async () => {
      const session = db.session()
      const [person, task] = [await session.load(Person, 2), await session.load(Task, 1)]
      person.tasks.add(task)
      session.detach(task)
      await db.session().delete(Task, 1)
      await session.flush()
      expect(await db.session().find(Task, 1)).to.equal(null)
    })

    it('can be made to one that was detached before, as to any key', async () => {
      const session = db.session()
      const [two, task] = [await session.load(Person, 2), await session.load(Task, 1)]
      session.detach(task)
      two.tasks.add(task)
      two.likes.add(task)
      two.leads.set(task)
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      const stored = await db.session().load(Task, 1, { with: ['likedBy'] })
      expect([stored.assignee.key, stored.lead.key]).to.deep.equal([2, 2])
      expect(stored.likedBy.items.map(({ id }) => id)).to.deep.equal([2])
      expect(await db.session().at(Person, 1).collection('tasks').keys()).to.deep.equal([])
    })

    it('are shown by the instance that the session has in its place', async () => {
      const old = await db.withSession((session) => session.load(Task, 1))
      const session = db.session()
      const [two, task] = [await session.load(Person, 2), await session.load(Task, 1)]
      two.tasks.add(old)
      two.chores.add(old)
      await session.flush()
      expect([task.assignee.key, task.doer.key]).to.deep.equal([2, 2])
    })

    it('are forgotten with one of the same key that somebody else has stored first', async () => {
      const session = db.session()
      const person = await session.load(Person, 1)
      await person.badge.load()
      const made = new Badge()
      person.badge.set(made)
      await db.withSession(async (other) => (await other.load(Person, 1)).badge.set(new Badge()))
      expect(await rejection(() => session.flush())).to.be.instanceOf(AlreadyExistsError)
      session.detach(made)
      await session.refresh(person)
      expect(session.isDirty()).to.equal(false)
      expect(await person.badge.load())
        .to.be.instanceOf(Badge)
        .and.not.equal(made)
    })

    it('are forgotten with one that was never stored', async () => {
      const session = db.session()
      const person = await session.load(Person, 1)
      const task = session.create(Task, { id: 9 })
      person.tasks.add(task)
      session.detach(task)
      await session.flush()
      expect(await db.session().find(Task, 9)).to.equal(null)
      expect(await db.session().at(Person, 1).collection('tasks').keys()).to.deep.equal([1])
    })
  })
}
