import { expect } from 'chai'
import type { Database } from 'skein'
import { emptySets } from '../empty-sets.js'
import { MODES, needMode } from '../server.js'
import { sharedServer } from '../shared-server.js'
import { CLASSES, IDS, Person, Step, Task, make, note } from './graph-models.js'

const ENTITIES = Object.values(CLASSES)

for (const mode of MODES) {
  describe(`links to what is deleted (${mode})`, () => {
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
        for (const kind of ['Person', 'Task', 'Step'] as const) for (const id of IDS) session.persist(make(kind, id))
        return Promise.resolve()
      })
    })

    const ids = (members: Iterable<{ readonly id: number }>): number[] => [...members].map(({ id }) => id)

    it('vanish from all that the session has loaded, without a read', async () => {
      await db.withSession(async (session) => {
        const one = await session.load(Person, 1)
        for (const members of [one.tasks, one.likes, one.bookmarks]) members.add(1, 2)
        one.follows.add(2)
        one.leads.set(1)
      })
      const session = db.session()
      const paths = ['tasks', 'likes', 'bookmarks', 'follows'] as const
      const one = await session.load(Person, 1, { with: [...paths] })
      const two = await session.load(Person, 2, { with: ['followers'] })
      await session.delete(Task, 1)
      for (const members of [one.tasks, one.likes, one.bookmarks]) expect(ids(members)).to.deep.equal([2])
      expect(one.leads.key).to.equal(null)
      await session.delete(one)
      expect(ids(two.followers)).to.deep.equal([])
      expect((await session.load(Task, 2)).assignee.key).to.equal(null)
      expect(session.isDirty()).to.equal(false)
    })

    it('are not made when they were only meant to be', async () => {
      const session = db.session()
      const [one, two] = await session.loadMany(Person, [1, 2])
      const task = await session.load(Task, 1)
      one.tasks.add(2)
      one.likes.add(task)
      one.notes.add(note(1, task))
      two.leads.set(task)
      task.doer.set(two)
      session.remove(task)
      session.remove(await session.load(Task, 2))
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      const found = await db.session().load(Person, 1)
      expect([await found.tasks.keys(), await found.likes.keys(), found.notes.items]).to.deep.equal([[], [], []])
      expect((await db.session().load(Person, 2)).leads.key).to.equal(null)
    })

    it('are given up by deleting what somebody else has deleted', async () => {
      const session = db.session()
      session.ref(Person, 1).collection('tasks').add(1)
      session.ref(Person, 1).collection('likes').add(2)
      await db.session().delete(Task, 1)
      const error = await session.flush().catch((reason: unknown) => reason)
      expect(error).to.be.instanceOf(Error)
      expect(await session.delete(Task, 1)).to.equal(false)
      await session.flush()
      const found = await db.session().load(Person, 1)
      expect([await found.tasks.keys(), await found.likes.keys()]).to.deep.equal([[], [2]])
    })

    it('are found also where they were made after a session had loaded the other end', async () => {
      const late = db.session()
      const [task, person] = [await late.load(Task, 1), await late.load(Person, 2)]
      await late.load(Task, 2)
      await db.withSession((session) => {
        session.ref(Person, 1).collection('tasks').add(1)
        session.ref(Person, 2).collection('tasks').add(2)
        return Promise.resolve()
      })
      await late.delete(task)
      await late.delete(person)
      expect(await (await db.session().load(Person, 1)).tasks.keys()).to.deep.equal([])
      expect((await db.session().load(Task, 2)).assignee.key).to.equal(null)
    })

    it('follow a child that has left before its parent is deleted, and one that has just come', async () => {
      await db.withSession(async (session) => (await session.load(Task, 1)).steps.add(1, 2))
      const session = db.session()
      const [one, two] = await session.loadMany(Task, [1, 2])
      two.steps.add(1)
      one.steps.add(await session.load(Step, 3))
      await session.delete(one)
      await session.flush()
      const [first, ...others] = await db.session().findMany(Step, [1, 2, 3])
      expect(first?.task.key).to.equal(2)
      expect(others).to.deep.equal([null, null])
    })
  })
}
