import { expect } from 'chai'
import { SkeinError, type Database } from 'skein'
import { MODES } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { useDatabase } from '../../../use-database.js'
import { ENTITIES, Person, Task, make } from '../../property/graph-models.js'
import { oneSided } from '../../property/plain-graph.js'
import { storedLinks } from '../../property/stored-graph.js'

const NAMES = ['leads', 'tasks', 'chores', 'likes', 'watched', 'bookmarks'] as const
type Name = (typeof NAMES)[number]

const PAIRS = NAMES.flatMap((one, i) => NAMES.slice(i + 1).map((other) => [one, other] as const))

function link(person: Person, name: Name, to: Task | number): void {
  if (name === 'leads') person.leads.set(to)
  else person[name].add(to)
}

for (const mode of MODES) {
  describe(`several links to a record that somebody has deleted (${mode})`, () => {
    let db: Database
    useDatabase(mode, ENTITIES, (opened) => ({ db } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        for (const kind of ['Person', 'Task'] as const) session.persist(make(kind, 1))
        return Promise.resolve()
      })
    })

    for (const names of PAIRS) {
      for (const isLoaded of [false, true]) {
        it(`leave nothing of ${names.join(' and ')} behind, ${isLoaded ? '' : 'not '}loaded`, async () => {
          const session = db.session()
          const person = await session.load(Person, 1)
          const task = isLoaded ? await session.load(Task, 1) : 1
          for (const name of names) link(person, name, task)
          await db.session().delete(Task, 1)
          expect(await rejection(() => session.flush())).to.be.instanceOf(SkeinError)
          expect(oneSided(await storedLinks(db))).to.deep.equal([])
          await session.delete(Task, 1)
          await session.flush()
          expect(session.isDirty()).to.equal(false)
          expect(await storedLinks(db)).to.deep.equal(['Person 1 is there'])
        })
      }
    }
  })
}
