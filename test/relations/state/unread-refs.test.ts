import { expect } from 'chai'
import type { Database, Ref } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { ENTITIES, Person, Task, classOf, make, type Log, type Step } from '../property/graph-models.js'

for (const mode of MODES) {
  describe(`references that were not read (${mode})`, () => {
    let db: Database
    useDatabase(mode, ENTITIES, (opened) => ({ db } = opened))
    beforeEach(async () => {
      await db.withSession(async (session) => {
        const [person, task] = [session.persist(make('Person', 1)), session.persist(make('Task', 1))] as [Person, Task]
        person.tasks.add(task)
        person.chores.add(task)
        person.leads.set(task)
        task.steps.add(session.persist(make('Step', 1)) as Step)
        task.logs.add(session.persist(make('Log', 1)) as Log)
        return Promise.resolve()
      })
    })

    for (const name of ['assignee', 'doer', 'lead'] as const) {
      it(`can be set to nothing: ${name}`, async () => {
        const session = db.session()
        const task = await session.load(Task, 1, { only: [] })
        task[name].set(null)
        expect(session.isDirty()).to.equal(true)
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        expect((await db.session().load(Task, 1))[name].key).to.equal(null)
        const person = db.session().at(Person, 1)
        if (name === 'assignee') expect(await person.collection('tasks').keys()).to.deep.equal([])
        if (name === 'doer') expect(await person.collection('chores').keys()).to.deep.equal([])
        if (name === 'lead') expect((await db.session().load(Person, 1)).leads.key).to.equal(null)
      })

      for (const isCompleted of [false, true]) {
        it(`can be set to something and then to nothing: ${name}, ${isCompleted ? 'read' : 'not read'} in between`, async () => {
          await db.withSession((session) => Promise.resolve(void session.persist(make('Person', 2))))
          const session = db.session()
          const task = await session.load(Task, 1, { only: [] })
          task[name].set(2)
          if (isCompleted) await session.load(Task, 1)
          expect(task[name].key).to.equal(2)
          task[name].set(null)
          await session.flush()
          expect(session.isDirty()).to.equal(false)
          expect((await db.session().load(Task, 1))[name].key).to.equal(null)
          for await (const { message } of db.verify([Person, Task])) expect.fail(message)
        })
      }
    }

    for (const isRead of [false, true]) {
      it(`that others took and gave away again are ${isRead ? 'cleared if that was seen' : 'as they were if nobody has seen it'}`, async () => {
        await db.withSession((session) => {
          for (const kind of ['Person', 'Task'] as const) session.persist(make(kind, 2))
          return Promise.resolve()
        })
        const session = db.session()
        const task = await session.load(Task, 2)
        task.lead.set(1)
        if (isRead) expect((await session.load(Person, 1)).leads.key).to.equal(2)
        task.lead.set(2)
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        const left = isRead ? null : 1
        expect((await session.load(Person, 1)).leads.key).to.equal(left)
        expect((await db.session().load(Person, 1)).leads.key).to.equal(left)
        expect((await db.session().load(Task, 1)).lead.key).to.equal(left)
        expect((await db.session().load(Task, 2)).lead.key).to.equal(2)
      })
    }

    for (const kind of ['Step', 'Log'] as const) {
      it(`make an orphan when they are set to nothing where orphans are deleted: ${kind}`, async () => {
        const session = db.session()
        const child = await session.load(classOf(kind), 1, { only: [] })
        ;(child as { task: Ref<object> }).task.set(null)
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        expect(await db.session().find(classOf(kind), 1)).to.equal(null)
        const task = await db.session().load(Task, 1, { with: ['steps', 'logs'] })
        expect((kind === 'Step' ? task.steps : task.logs).items).to.deep.equal([])
      })
    }
  })
}
