import { expect } from 'chai'
import fc from 'fast-check'
import { open, type Database, type Session } from 'skein'
import { Person, Task, person, task } from './graph-models.js'
import { IDS, PlainGraph, oneSided, storedLinks } from './plain-graph.js'

const id = fc.constantFrom(...IDS)
const bool = fc.boolean()

/** Which entities of a change are loaded before it is made; the others are known by key alone. */
const loaded = fc.record({ person: bool, task: bool, members: bool })

const change = fc.oneof(
  fc.record({
    kind: fc.constant('assign' as const),
    task: id,
    person: id,
    from: fc.constantFrom('ref', 'collection'),
    loaded,
  }),
  fc.record({
    kind: fc.constant('unassign' as const),
    task: id,
    person: id,
    from: fc.constantFrom('ref', 'collection'),
    loaded,
  }),
  fc.record({
    kind: fc.constant('lead' as const),
    task: id,
    person: id,
    from: fc.constantFrom('task', 'person'),
    loaded,
  }),
  fc.record({
    kind: fc.constant('unlead' as const),
    task: id,
    person: id,
    from: fc.constantFrom('task', 'person'),
    loaded,
  }),
  fc.record({
    kind: fc.constant('follow' as const),
    a: id,
    b: id,
    isOn: bool,
    from: fc.constantFrom('a', 'b'),
    loaded,
  }),
  fc.record({
    kind: fc.constant('befriend' as const),
    a: id,
    b: id,
    isOn: bool,
    from: fc.constantFrom('a', 'b'),
    loaded,
  }),
  fc.record({
    kind: fc.constant('watch' as const),
    person: id,
    task: id,
    role: fc.constantFrom('r', 's', null),
    from: fc.constantFrom('a', 'b'),
    loaded,
  }),
)
const remove = fc.record({ kind: fc.constant('delete' as const), what: fc.constantFrom('person', 'task'), id })
const flush = fc.record({ kind: fc.constant('flush' as const), isReloaded: bool })

type Change = typeof change extends fc.Arbitrary<infer C> ? C : never

/** Makes the change through the session, and says whether the plain graph has to follow: links to what is gone are not made. */
async function apply(step: Change, session: Session, graph: PlainGraph): Promise<void> {
  const isThere =
    'a' in step
      ? [step.a, step.b].every((each) => graph.persons.has(each))
      : graph.persons.has(step.person) && graph.tasks.has(step.task)
  if (!isThere) return
  const { loaded } = step
  const personOf = async (key: number): Promise<Person> =>
    session.load(Person, key, loaded.members ? { with: ['tasks', 'follows', 'friends', 'watched'] } : {})
  const personEnd = async (key: number): Promise<Person | number> => (loaded.person ? personOf(key) : key)
  const taskEnd = async (key: number): Promise<Task | number> => (loaded.task ? session.load(Task, key) : key)
  switch (step.kind) {
    case 'assign': {
      if (step.from === 'ref') (await session.load(Task, step.task)).assignee.set(await personEnd(step.person))
      else (await personOf(step.person)).tasks.add(await taskEnd(step.task))
      return graph.assign(step.task, step.person)
    }
    case 'unassign': {
      // Taking a task from somebody who does not have it changes nothing.
      if (step.from === 'ref') (await session.load(Task, step.task)).assignee.set(null)
      else {
        if (!graph.isAssigned(step.task, step.person)) return
        session
          .ref(Person, step.person)
          .collection('tasks')
          .remove(await taskEnd(step.task))
      }
      return graph.assign(step.task, null)
    }
    case 'lead': {
      if (step.from === 'task') (await session.load(Task, step.task)).lead.set(await personEnd(step.person))
      else (await personOf(step.person)).leads.set(await taskEnd(step.task))
      return graph.lead(step.task, step.person)
    }
    case 'unlead': {
      if (step.from === 'task') {
        ;(await session.load(Task, step.task)).lead.set(null)
        return graph.lead(step.task, null)
      }
      ;(await personOf(step.person)).leads.set(null)
      const led = graph.leadOf(step.person)
      return led === undefined ? undefined : graph.lead(led, null)
    }
    case 'follow': {
      const [from, to] = step.from === 'a' ? [step.a, step.b] : [step.b, step.a]
      const members = session.ref(Person, from).collection(step.from === 'a' ? 'follows' : 'followers')
      const end = await personEnd(to)
      if (step.isOn) members.add(end)
      else members.remove(end)
      return graph.follow(step.a, step.b, step.isOn)
    }
    case 'befriend': {
      const [from, to] = step.from === 'a' ? [step.a, step.b] : [step.b, step.a]
      const { friends } = await personOf(from)
      if (step.isOn) friends.add(await personEnd(to))
      else friends.remove(await personEnd(to))
      return graph.befriend(step.a, step.b, step.isOn)
    }
    case 'watch': {
      const role = step.role === null ? null : { name: step.role }
      if (step.from === 'a') {
        const { watched } = await personOf(step.person)
        if (role === null) watched.remove(await taskEnd(step.task))
        else watched.link(await taskEnd(step.task), role)
      } else {
        const watchers = session.ref(Task, step.task).collection('watchers')
        if (role === null) watchers.remove(await personEnd(step.person))
        else watchers.link(await personEnd(step.person), role)
      }
      return graph.watch(step.person, step.task, step.role)
    }
  }
}

for (const mode of ['ap', 'sc'] as const) {
  describe(`random graphs (${mode})`, function () {
    this.timeout(120_000)
    let db: Database
    before(async () => {
      db = await open({ embedded: { namespaces: [`test:${mode}`] }, namespace: 'test', entities: [Person, Task] })
    })
    after(() => db.close())

    const start = async (): Promise<PlainGraph> => {
      for (const entity of [Person, Task]) await db.truncate(entity)
      const graph = new PlainGraph()
      await db.withSession(async (session) => {
        for (const each of IDS) {
          session.persist(person(each))
          session.persist(task(each))
          graph.persons.add(each)
          graph.tasks.add(each)
        }
      })
      return graph
    }

    it('are stored as a plain graph says, on both sides, whatever was loaded', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.oneof({ weight: 6, arbitrary: change }, flush, remove), { maxLength: 14 }),
          async (steps) => {
            const graph = await start()
            let session = db.session()
            for (const step of [...steps, { kind: 'flush' as const, isReloaded: true }]) {
              if (step.kind === 'flush') {
                await session.flush()
                expect(session.isDirty()).to.equal(false)
                expect(await storedLinks(db)).to.deep.equal(graph.links())
                if (step.isReloaded) session = db.session()
              } else if (step.kind === 'delete') {
                await session.flush()
                await (step.what === 'person' ? session.delete(Person, step.id) : session.delete(Task, step.id))
                if (step.what === 'person') graph.removePerson(step.id)
                else graph.removeTask(step.id)
                session = db.session()
                expect(await storedLinks(db)).to.deep.equal(graph.links())
              } else await apply(step, session, graph)
            }
          },
        ),
        { numRuns: Number(process.env.GRAPH_RUNS ?? 40) },
      )
    })

    it('have two sides that agree after two sessions have changed them in turns, not knowing of each other', async () => {
      const turn = fc.record({ who: fc.constantFrom(0, 1), step: fc.oneof({ weight: 4, arbitrary: change }, flush) })
      await fc.assert(
        fc.asyncProperty(fc.array(turn, { maxLength: 20 }), async (turns) => {
          const graph = await start()
          const sessions = [db.session(), db.session()]
          for (const { who, step } of turns) {
            if (step.kind !== 'flush') await apply(step, sessions[who], graph)
            else await sessions[who].flush()
          }
          for (const session of sessions) await session.flush()
          expect(oneSided(await storedLinks(db))).to.deep.equal([])
        }),
        { numRuns: Number(process.env.GRAPH_RUNS ?? 40) },
      )
    })
  })
}
