import { expect } from 'chai'
import type { Database } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { ENTITIES, IDS, Log, Person, Step, Task, make } from '../property/graph-models.js'

for (const mode of MODES) {
  describe(`adding to collections and taking out of them (${mode})`, () => {
    let db: Database
    useDatabase(mode, ENTITIES, (opened) => ({ db } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        for (const kind of ['Person', 'Task', 'Step', 'Log'] as const)
          for (const id of IDS) session.persist(make(kind, id))
        return Promise.resolve()
      })
    })

    const keysOf = async (id: number, name: 'tasks' | 'chores'): Promise<unknown> =>
      db.session().at(Person, id).collection(name).keys()

    for (const name of ['tasks', 'chores', 'bookmarks', 'likes', 'follows', 'watched'] as const) {
      it(`takes ${name} out that were there, were added again unseen, and then loaded`, async () => {
        const session = db.session()
        const unseen = session.at(Person, 1).collection(name)
        unseen.add(2)
        await session.flush()
        unseen.add(2)
        const person = await session.load(Person, 1, { with: [name] })
        person[name].remove(2)
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        expect(await db.session().at(Person, 1).collection(name).keys()).to.deep.equal([])
        for await (const { message } of db.verify([Person, Task])) expect.fail(message)
      })
    }

    describe('where orphans are deleted', () => {
      for (const [name, child] of [
        ['steps', Step],
        ['logs', Log],
      ] as const) {
        it(`leaves ${name} alone that belong to nobody or to somebody else`, async () => {
          await db.withSession(async (session) => (await session.load(Task, 2))[name].add(2))
          await db.withSession(async (session) => {
            session.at(Task, 1).collection(name).remove(1, 2)
            ;(await session.load(Task, 1))[name].remove(await session.load(child, 3))
          })
          const found = await db.session().findMany(child, [1, 2, 3])
          expect(found.map((each) => each?.task.key)).to.deep.equal([null, 2, null])
        })

        it(`deletes ${name} that were taken from a parent which then goes with its children`, async () => {
          await db.withSession(async (session) => (await session.load(Task, 2))[name].add(2))
          const session = db.session()
          const one = await session.load(child, 2)
          one.task.set(null)
          session.remove(await session.load(Task, 2))
          await session.flush()
          expect(session.isDirty()).to.equal(false)
          expect(await db.session().find<Step | Log>(child, 2)).to.equal(null)
        })

        it(`deletes ${name} that somebody else has added since they were loaded`, async () => {
          const session = db.session()
          session
            .at(Task, 1)
            .collection(name)
            .remove(await session.load(child, 1))
          await db.withSession(async (other) => (await other.load(Task, 1))[name].add(1))
          await session.flush()
          expect(await db.session().find(child, 1)).to.equal(null)
          expect(await db.session().at(Task, 1).collection(name).keys()).to.deep.equal([])
        })

        it(`adds ${name} that were taken out of where they were not`, async () => {
          await db.withSession(async (session) => {
            session.at(Task, 1).collection(name).remove(1)
            const task = await session.load(Task, 1, { with: [name] })
            task[name].add(1)
          })
          expect((await db.session().load(child, 1)).task.key).to.equal(1)
          expect(await db.session().at(Task, 1).collection(name).keys()).to.deep.equal([1])
        })

        it(`moves ${name} and does not delete them`, async () => {
          await db.withSession(async (session) => (await session.load(Task, 1))[name].add(1, 2))
          await db.withSession(async (session) => {
            const [one, two] = await session.loadMany(Task, [1, 2], { with: [name] })
            two[name].add(one[name].items.find(({ id }) => id === 1) as never)
            session.at(Task, 3).collection(name).add(2)
          })
          const found = await db.session().findMany(child, [1, 2])
          expect(found.map((each) => each?.task.key)).to.deep.equal([2, 3])
        })

        it(`deletes ${name} that were added and taken out again`, async () => {
          await db.withSession(async (session) => (await session.load(Task, 1))[name].add(1))
          await db.withSession(async (session) => {
            const members = session.at(Task, 2).collection(name)
            await session.load(child, 1)
            members.add(1)
            members.remove(1)
          })
          expect(await db.session().find(child, 1)).to.equal(null)
        })

        it(`gives ${name} to the parent they were added to while they are taken from another`, async () => {
          await db.withSession((session) => {
            session.at(Task, 3).collection(name).add(1)
            session.at(Task, 1).collection(name).remove(1)
            return Promise.resolve()
          })
          expect((await db.session().load(child, 1)).task.key).to.equal(3)
        })
      }
    })

    for (const name of ['tasks', 'chores'] as const) {
      it(`does nothing for ${name} that were not in it, and leaves nothing to send`, async () => {
        await db.withSession(async (session) => (await session.load(Person, 2))[name].add(2))
        const session = db.session()
        const one = await session.load(Person, 1)
        one[name].remove(1, await session.load(Task, 2), 3)
        ;(await session.load(Person, 2)).likes.add(3)
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        expect(await keysOf(2, name)).to.deep.equal([2])
      })

      for (const loaded of [true, false]) {
        it(`leaves ${name} where another session has put them meanwhile, ${loaded ? '' : 'not '}being loaded`, async () => {
          await db.withSession(async (session) => (await session.load(Person, 1))[name].add(1, 2))
          const session = db.session()
          const one = await session.load(Person, 1, { with: loaded ? [name] : [] })
          await db.withSession((other) => Promise.resolve(void other.at(Person, 3).collection(name).add(1)))
          one[name].remove(1, 2)
          await session.flush()
          expect(session.isDirty()).to.equal(false)
          expect(await keysOf(1, name)).to.deep.equal([])
          expect(await keysOf(3, name)).to.deep.equal([1])
          const refs = (await db.session().loadMany(Task, [1, 2])).map((task) => [task.assignee.key, task.doer.key])
          expect(refs).to.deep.equal(
            name === 'tasks'
              ? [
                  [3, null],
                  [null, null],
                ]
              : [
                  [null, 3],
                  [null, null],
                ],
          )
          const task = await session.load(Task, 1)
          expect(name === 'tasks' ? task.assignee.key : task.doer.key).to.equal(3)
        })
      }

      it(`takes ${name} from whoever has them when their reference is set to nothing`, async () => {
        await db.withSession(async (session) => (await session.load(Person, 1))[name].add(1))
        const session = db.session()
        const task = await session.load(Task, 1)
        await db.withSession((other) => Promise.resolve(void other.at(Person, 3).collection(name).add(1)))
        ;(name === 'tasks' ? task.assignee : task.doer).set(null)
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        expect([await keysOf(1, name), await keysOf(3, name)]).to.deep.equal([[], []])
      })

      it(`removes ${name} that were changed as well`, async () => {
        await db.withSession(async (session) => (await session.load(Person, 1))[name].add(1))
        const session = db.session()
        const one = await session.load(Person, 1, { with: [name] })
        const task = await session.load(Task, 1)
        one[name].remove(task)
        task.parent.set(2)
        await session.flush()
        const found = await db.session().load(Task, 1)
        expect([found.assignee.key, found.doer.key, found.parent.key]).to.deep.equal([null, null, 2])
      })

      it(`takes ${name} anew that were there already`, async () => {
        const session = db.session()
        session.at(Person, 1).collection(name).add(1)
        await session.flush()
        session.at(Person, 1).collection(name).add(1)
        await session.load(Task, 1)
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        const one = await session.load(Person, 1, { with: [name] })
        one[name].add(1)
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        expect(await keysOf(1, name)).to.deep.equal([1])
      })

      it(`takes ${name} that were said not to be in it before`, async () => {
        const session = db.session()
        const one = await session.load(Person, 1, { with: [name] })
        one[name].remove(1)
        one[name].add(1)
        session.at(Person, 3).collection(name).remove(2)
        one[name].add(await session.load(Task, 2))
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        expect(await keysOf(1, name)).to.have.members([1, 2])
      })
    }

    for (const name of ['tasks', 'chores', 'likes'] as const) {
      it(`loads ${name} that were added by their keys and are not sent yet`, async () => {
        await db.withSession(async (session) => (await session.load(Person, 1))[name].add(1))
        const session = db.session()
        const person = await session.load(Person, 1)
        person[name].add(2)
        expect((await person[name].load()).map(({ id }) => id)).to.deep.equal([1, 2])
        person[name].add(3)
        expect((await person[name].load()).map(({ id }) => id)).to.deep.equal([1, 2, 3])
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        const found = await db.session().load(Person, 1, { with: [name] })
        expect(found[name].items.map(({ id }) => id).sort()).to.deep.equal([1, 2, 3])
      })
    }

    for (const [name, back] of [
      ['tasks', 'assignee'],
      ['chores', 'doer'],
    ] as const) {
      it(`does not show ${name} that have left before it was loaded`, async () => {
        await db.withSession(async (session) => (await session.load(Person, 1))[name].add(1, 2))
        const session = db.session()
        const task = await session.load(Task, 1)
        task[back].set(2)
        const person = await session.load(Person, 1, { with: [name] })
        expect(person[name].items.map(({ id }) => id)).to.deep.equal([2])
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        expect(person[name].items.map(({ id }) => id)).to.deep.equal([2])
        expect(await keysOf(1, name)).to.deep.equal([2])
        expect(await keysOf(2, name)).to.deep.equal([1])
      })
    }

    for (const [name, back] of [
      ['tasks', 'assignee'],
      ['chores', 'doer'],
    ] as const) {
      it(`stores a parent of ${name} that is new and was given by its key`, async () => {
        await db.session().delete(Person, 1)
        const session = db.session()
        session.persist(make('Person', 1))
        const task = await session.load(Task, 1)
        task[back].set(1)
        await session.save(task)
        expect(session.isDirty()).to.equal(false)
        expect(await keysOf(1, name)).to.deep.equal([1])
      })
    }

    for (const name of ['tasks', 'chores'] as const) {
      it(`leaves ${name} where they are that were added by key and taken out again before they were sent`, async () => {
        await db.withSession((session) => Promise.resolve(session.at(Person, 1).collection(name).add(2)))
        const session = db.session()
        const members = session.at(Person, 2).collection(name)
        members.add(2)
        members.remove(2)
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        expect(await keysOf(1, name)).to.deep.equal([2])
        expect(await keysOf(2, name)).to.deep.equal([])
      })
    }

    it('takes an entity out of itself', async () => {
      const session = db.session()
      session.at(Task, 1).collection('subtasks').remove(1)
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      session.at(Task, 1).collection('subtasks').add(1)
      await session.flush()
      session.at(Task, 1).collection('subtasks').remove(1)
      await session.flush()
      expect((await db.session().load(Task, 1)).parent.key).to.equal(null)
    })
  })
}
