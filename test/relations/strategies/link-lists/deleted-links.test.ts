import { expect } from 'chai'
import type { Database, Session } from 'skein'
import { MODES, type TestServer } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'
import { Badge, ENTITIES, IDS, Log, Person, Step, Task, make, note } from '../../property/graph-models.js'

for (const mode of MODES) {
  describe(`links to what is deleted (${mode})`, () => {
    let server: TestServer
    let db: Database
    useDatabase(mode, ENTITIES, (opened) => ({ db, server } = opened))
    beforeEach(async () => {
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

    it('vanish where far more is deleted at once than anybody links to', async () => {
      const gone = [101, 102, 103, 104, 105, 106, 107, 108]
      await db.withSession(async (session) => {
        for (const id of gone) session.persist(make('Task', id))
        const one = await session.load(Person, 1)
        one.tasks.add(1, 101)
        one.likes.add(103, 2)
        one.leads.set(102)
      })
      const session = db.session()
      const one = await session.load(Person, 1, { with: ['tasks', 'likes'] })
      const two = await session.load(Person, 2)
      two.likes.add(104, 1)
      two.leads.set(105)
      for (const id of gone) session.remove(await session.load(Task, id))
      await session.flush()
      expect([ids(one.tasks), ids(one.likes), one.leads.key]).to.deep.equal([[1], [2], null])
      expect([await two.likes.keys(), two.leads.key]).to.deep.equal([[1], null])
      expect(session.isDirty()).to.equal(false)
    })

    it('are there again when it is saved, or persisted, while its delete is under way', async () => {
      await db.withSession(async (session) => (await session.load(Person, 1)).tasks.add(1))
      const session = db.session()
      await session.load(Person, 1, { with: ['tasks'] })
      const task = await session.load(Task, 1)
      await Promise.all([session.delete(task), session.save(task)])
      expect(await (await db.session().load(Person, 1)).tasks.keys()).to.deep.equal([1])
      session.remove(task)
      const flush = session.flush()
      setImmediate(() => session.persist(task))
      await flush
      await new Promise((resolve) => setImmediate(resolve))
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      const found = await db.session().load(Person, 1, { with: ['tasks'] })
      expect(ids(found.tasks)).to.deep.equal([1])
      expect(found.tasks.items[0].assignee.key).to.equal(1)
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

    describe('that is new', () => {
      const links: Record<string, (session: Session, one: Person, task: Task, fresh: Task) => void> = {
        'by a list': (_, one, __, fresh) => one.tasks.add(fresh),
        'by a list, from its own side': (_, one, __, fresh) => fresh.assignee.set(one),
        'by a list that was never loaded': (session, _, __, fresh) =>
          session.at(Person, 2).collection('tasks').add(fresh),
        'by an index': (_, one, __, fresh) => one.chores.add(fresh),
        'by a list on one side': (_, one, __, fresh) => one.bookmarks.add(fresh),
        'by lists on both sides': (_, one, __, fresh) => one.likes.add(fresh),
        'with attributes': (_, one, __, fresh) => one.watched.link(fresh, { name: 'a' }),
        'by a reference': (_, __, task, fresh) => task.parent.set(fresh),
        'one to one': (_, one, __, fresh) => one.leads.set(fresh),
        'from a part': (_, one, __, fresh) => one.notes.add(note(1, fresh)),
        'to those who belong to it': (_, __, task, fresh) => fresh.subtasks.add(task),
      }
      for (const [name, link] of Object.entries(links)) {
        for (const call of ['remove', 'delete'] as const) {
          it(`are given up by ${call} before they are sent: ${name}`, async () => {
            const session = db.session()
            const one = await session.load(Person, 1)
            const task = await session.load(Task, 1)
            const fresh = session.create(Task, { id: 9 })
            link(session, one, task, fresh)
            const { rows } = await server.commands.during(async () => {
              await session[call](fresh)
              expect(session.isDirty()).to.equal(false)
              await session.flush()
            })
            expect(rows).to.equal(0)
            expect(await db.session().find(Task, 9)).to.equal(null)
          })
        }
      }

      it('are given up where orphans are deleted and where a key is shared', async () => {
        const session = db.session()
        const [one, task] = [await session.load(Person, 1), await session.load(Task, 1)]
        const added = [
          session.create(Step, { id: 9 }),
          session.create(Log, { id: 9 }),
          session.create(Badge, { id: 1 }),
        ]
        task.steps.add(added[0] as Step)
        task.logs.add(added[1] as Log)
        one.badge.set(added[2] as Badge)
        for (const entity of added) session.remove(entity)
        const { rows } = await server.commands.during(() => session.flush())
        expect(rows).to.equal(0)
      })

      it('are made again with it', async () => {
        const session = db.session()
        const one = await session.load(Person, 1, { with: ['tasks'] })
        const fresh = session.create(Task, { id: 9 })
        one.tasks.add(fresh)
        session.remove(fresh)
        one.tasks.add(session.persist(fresh))
        await session.flush()
        expect(await db.session().at(Person, 1).collection('tasks').keys()).to.deep.equal([9])
        expect((await db.session().load(Task, 9)).assignee.key).to.equal(1)
      })
    })

    it('are given up by deleting what somebody else has deleted', async () => {
      const session = db.session()
      session.at(Person, 1).collection('tasks').add(1)
      session.at(Person, 1).collection('likes').add(2)
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
        session.at(Person, 1).collection('tasks').add(1)
        session.at(Person, 2).collection('tasks').add(2)
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
