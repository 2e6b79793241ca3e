import { expect } from 'chai'
import type { Database, Session } from 'skein'
import { emptySets } from '../empty-sets.js'
import { MODES, needMode } from '../server.js'
import { sharedServer } from '../shared-server.js'
import { CLASSES, IDS, Person, Task, make, type Kind } from './graph-models.js'
import { oneSided } from './plain-graph.js'
import { shownLinks, storedLinks } from './stored-graph.js'

const ENTITIES = Object.values(CLASSES)

interface World {
  readonly persons: readonly Person[]
  readonly tasks: readonly Task[]
}

interface Change {
  readonly change: (world: World) => void
  /** Those who take it back when they are refreshed; all others stay as they were changed. */
  readonly ends: (world: World) => readonly object[]
}

/** Person 1 has task 1 and leads it, likes task 2 and watches it, and follows person 2. */
const CHANGES: { readonly [title: string]: Change } = {
  'a child is moved by its own reference': {
    change: ({ persons: [, two], tasks: [task] }) => task.assignee.set(two),
    ends: ({ persons: [, two], tasks: [task] }) => [two, task],
  },
  'a child is moved by its new parent': {
    change: ({ persons: [, two], tasks: [task] }) => two.tasks.add(task),
    ends: ({ persons: [, two], tasks: [task] }) => [two, task],
  },
  'a child is taken out': {
    change: ({ persons: [one], tasks: [task] }) => one.tasks.remove(task),
    ends: ({ persons: [one], tasks: [task] }) => [one, task],
  },
  'a child found by an index is moved': {
    change: ({ persons: [, two], tasks: [task] }) => two.chores.add(task),
    ends: ({ persons: [, two], tasks: [task] }) => [two, task],
  },
  'a child found by an index is taken out': {
    change: ({ persons: [one], tasks: [task] }) => one.chores.remove(task),
    ends: ({ persons: [one], tasks: [task] }) => [one, task],
  },
  'a partner is exchanged': {
    change: ({ persons: [one], tasks: [, other] }) => one.leads.set(other),
    ends: ({ persons: [one], tasks: [, other] }) => [one, other],
  },
  'a partner is taken': {
    change: ({ persons: [, two], tasks: [task] }) => two.leads.set(task),
    ends: ({ persons: [, two], tasks: [task] }) => [two, task],
  },
  'a partner is let go': {
    change: ({ persons: [one] }) => one.leads.set(null),
    ends: ({ persons: [one], tasks: [task] }) => [one, task],
  },
  'a link is added': {
    change: ({ persons: [one], tasks: [task] }) => one.likes.add(task),
    ends: ({ persons: [one], tasks: [task] }) => [one, task],
  },
  'a link is removed': {
    change: ({ persons: [one], tasks: [, other] }) => one.likes.remove(other),
    ends: ({ persons: [one], tasks: [, other] }) => [one, other],
  },
  'a link with attributes is added': {
    change: ({ persons: [one], tasks: [task] }) => one.watched.link(task, { name: 'r' }),
    ends: ({ persons: [one], tasks: [task] }) => [one, task],
  },
  'a link with attributes is removed': {
    change: ({ persons: [one], tasks: [, other] }) => one.watched.remove(other),
    ends: ({ persons: [one], tasks: [, other] }) => [one, other],
  },
  'one of the same class is linked': {
    change: ({ persons: [one, , three] }) => one.follows.add(three),
    ends: ({ persons: [one, , three] }) => [one, three],
  },
  'one of the same class is let go': {
    change: ({ persons: [one, two] }) => one.follows.remove(two),
    ends: ({ persons: [one, two] }) => [one, two],
  },
}

const load = async (session: Session, members: boolean): Promise<World> => ({
  persons: await session.loadMany(Person, IDS, {
    with: members ? ['tasks', 'chores', 'likes', 'watched', 'follows', 'followers'] : [],
  }),
  tasks: await session.loadMany(Task, IDS, { with: members ? ['likedBy', 'watchers'] : [] }),
})
const allOf = ({ persons, tasks }: World): (readonly [Kind, object])[] => [
  ...persons.map((person) => ['Person', person] as const),
  ...tasks.map((task) => ['Task', task] as const),
]

for (const mode of MODES) {
  describe(`links that were changed, and an end that is refreshed (${mode})`, () => {
    let db: Database
    before(async function () {
      const server = await sharedServer()
      db = await server.open({ namespace: needMode(this, server, mode), entities: ENTITIES })
      await db.indexes.sync()
    })
    after(() => db?.close())
    beforeEach(async () => {
      await emptySets(db, ENTITIES)
      await db.withSession((session) => {
        const [one, two] = IDS.map((id) => session.persist(make('Person', id)) as Person)
        const [task, other] = IDS.map((id) => session.persist(make('Task', id)) as Task)
        one.tasks.add(task)
        one.chores.add(task)
        one.leads.set(task)
        one.likes.add(other)
        one.watched.link(other, { name: 'r' })
        one.follows.add(two)
        return Promise.resolve()
      })
    })

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
