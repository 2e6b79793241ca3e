import { expect } from 'chai'
import type { Database } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { ENTITIES, IDS, Log, Person, Step, Task, make, note } from '../property/graph-models.js'

for (const mode of MODES) {
  describe(`explaining changes of relations (${mode})`, () => {
    let db: Database
    useDatabase(mode, ENTITIES, (opened) => ({ db } = opened))
    beforeEach(async () => {
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

    describe('shows what depends on reads', () => {
      it('of a large delete, which goes in steps before the plan', async () => {
        await db.withSession((session) => {
          for (const [name, child] of [
            ['steps', Step],
            ['logs', Log],
          ] as const) {
            const task = session.create(Task, { id: name === 'steps' ? 11 : 12 })
            const members = task[name] as { add(member: object): void }
            for (let id = 100; id < 700; id++) members.add(session.create(child, { id }))
          }
          return Promise.resolve()
        })
        const session = db.session()
        for (const task of await session.loadMany(Task, [11, 12])) session.remove(task)
        const text = String(await session.explain())
        expect(text).to.contain(
          'after a read: read Task.steps of Task task/11, 250 at a time, until none is left: delete each Step, and what it cascades to, and take them off the list',
        )
        expect(text).to.contain(
          'after a read: read Task.logs of Task task/12, 250 at a time, until none is left: delete each Log, and what it cascades to',
        )
        expect(text.split('\n')[0]).to.match(/^\d+ commands, about \d+ bytes, and what follows from reads$/)
        session.clear()
      })

      it('of a partner that is taken from somebody else', async () => {
        await db.withSession(async (session) => (await session.load(Person, 2)).leads.set(2))
        const session = db.session()
        const person = await session.load(Person, 1)
        person.leads.set(2)
        const text = String(await session.explain())
        expect(text).to.match(/after a read: .*Task task\/2.*: the Person it belongs to by then drops it from leads/)
      })

      it('of a child that another parent may have by now', async () => {
        const session = db.session()
        session.at(Person, 1).collection('tasks').add(2)
        const text = String(await session.explain())
        expect(text).to.match(/after a read: .*Task task\/2.*: the Person it belongs to by then drops it from tasks/)
      })

      it('of a child that is detached by its key, if it is still here', async () => {
        const session = db.session()
        session.at(Person, 1).collection('tasks').remove(2)
        const text = String(await session.explain())
        expect(text).to.match(/write Task task\/2 .*if assignee is 1/)
        if (mode === 'sc') expect(text).to.contain('after a read: read Task task/2 in the transaction')
      })

      it('of an owner that finds its members by index', async () => {
        const session = db.session()
        const task = await session.load(Task, 1)
        task.doer.set(2)
        expect(String(await session.explain())).to.contain(
          'after a read: read the Person of Task task/1: if it is gone',
        )
      })

      it('of members that may come while their owner is deleted', async () => {
        const session = db.session()
        session.remove(await session.load(Task, 1))
        expect(String(await session.explain())).to.match(
          /after a read: read steps of Task task\/1 again.*: what was added meanwhile is treated the same way/,
        )
      })

      it('and nothing else of what needs none but its copies', async () => {
        const session = db.session()
        session.create(Task, { id: 9 }).steps.add(session.create(Step, { id: 9 }))
        expect(String(await session.explain()).match(/after a read: .*/g)).to.deep.equal([
          'after a read: read the Task of Step step/9 again: if it was changed meanwhile, write taskTitle once more',
        ])
      })
    })

    describe('changes nothing', () => {
      const link = () =>
        db.withSession(async (session) => {
          const [person, task] = [await session.load(Person, 1), await session.load(Task, 1)]
          person.tasks.add(...(await session.loadMany(Task, IDS)))
          person.chores.add(...(await session.loadMany(Task, IDS)))
          person.leads.set(task)
          task.steps.add(...(await session.loadMany(Step, IDS)))
          task.logs.add(...(await session.loadMany(Log, IDS)))
          person.notes.add(note(1, task))
        })
      beforeEach(link)

      for (const [name, child] of [
        ['steps', Step],
        ['logs', Log],
      ] as const) {
        for (const isLoaded of [true, false]) {
          it(`where ${name} are taken out and deleted (${isLoaded ? 'loaded' : 'by key'})`, async () => {
            const session = db.session()
            const task = await session.load(Task, 1, { with: isLoaded ? [name] : [] })
            task[name].remove(2)
            const text = String(await session.explain())
            expect(text).to.match(/delete (Step|Log) .*\/2/)
            expect(String(await session.explain())).to.equal(text)
            await session.flush()
            expect(await db.session().find(child, 2)).to.equal(null)
            expect(await task[name].keys()).to.have.members([1, 3])
            expect(session.isDirty()).to.equal(false)
          })
        }
      }

      for (const [name, back] of [
        ['tasks', 'assignee'],
        ['chores', 'doer'],
      ] as const) {
        it(`where a delete is called off that would have detached ${name}`, async () => {
          const session = db.session()
          const person = await session.load(Person, 1, { with: [name] })
          const items = [...person[name].items]
          session.remove(person)
          await session.explain()
          session.persist(person)
          expect(person[name].items).to.deep.equal(items)
          expect(person[name].items.map((task) => task[back].key)).to.deep.equal([1, 1, 1])
          expect(session.isDirty()).to.equal(false)
        })
      }

      it('where a delete is called off that would have removed parts of others', async () => {
        const session = db.session()
        const [person, task] = [await session.load(Person, 1), await session.load(Task, 1)]
        session.remove(task)
        expect(String(await session.explain())).to.contain('notes')
        session.persist(task)
        expect(person.notes.items.map(({ id }) => id)).to.deep.equal([1])
        expect(session.isDirty()).to.equal(false)
      })

      it('where a change of references is called off', async () => {
        const session = db.session()
        const [person, task] = [await session.load(Person, 1), await session.load(Task, 1)]
        person.leads.set(2)
        task.assignee.set(2)
        await session.explain()
        person.leads.set(1)
        task.assignee.set(1)
        expect(session.isDirty()).to.equal(false)
      })

      it('where a link is added to what is deleted, and that is called off', async () => {
        const session = db.session()
        const [person, task] = [await session.load(Person, 2), await session.load(Task, 2)]
        person.likes.add(task)
        person.watched.link(task, { name: 'r' })
        session.remove(task)
        expect(String(await session.explain())).to.not.match(/add to (likes|watched)/)
        session.persist(task)
        expect((await person.watched.attributesOf(task))?.name).to.equal('r')
        await session.flush()
        const stored = await db.session().load(Person, 2)
        expect(await stored.likes.keys()).to.deep.equal([2])
        expect((await stored.watched.attributesOf(2))?.name).to.equal('r')
      })
    })
  })
}
