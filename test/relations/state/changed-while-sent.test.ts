import { expect } from 'chai'
import type { Database, Session } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { ENTITIES, Person, classOf, collectionsOf, make } from '../property/graph-models.js'

const NAMES = ['follows', 'likes', 'bookmarks', 'tasks', 'chores'] as const

/** Waits a turn of the event loop: planned commands are sent by its end, and not answered yet. */
const untilSent = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

for (const mode of MODES) {
  describe(`collections that are changed while a flush is under way (${mode})`, () => {
    let db: Database
    useDatabase(mode, ENTITIES, (opened) => ({ db } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        for (const kind of ['Person', 'Task'] as const) for (const id of [1, 2]) session.persist(make(kind, id))
        return Promise.resolve()
      })
    })

    const keys = (name: (typeof NAMES)[number]): Promise<readonly unknown[]> =>
      db.session().at(Person, 1).collection(name).keys()

    for (const name of NAMES) {
      for (const loaded of [true, false]) {
        const person = async (session: Session): Promise<Person> =>
          session.load(Person, 1, { with: (loaded ? collectionsOf('Person') : []) as never[] })
        const member = (session: Session): Promise<object> =>
          session.load(classOf(name === 'follows' ? 'Person' : 'Task'), 2)

        it(`remove ${name} that were being added, ${loaded ? '' : 'not '}loaded`, async () => {
          const session = db.session()
          const [one, two] = [await person(session), await member(session)]
          one[name].add(two as never)
          const sending = session.flush()
          await untilSent()
          one[name].remove(two as never)
          await sending
          await session.flush()
          expect(session.isDirty()).to.equal(false)
          expect(await keys(name)).to.deep.equal([])
        })

        it(`have ${name} again that were being taken out, ${loaded ? '' : 'not '}loaded`, async () => {
          await db.withSession(async (session) => (await person(session))[name].add(2))
          const session = db.session()
          const [one, two] = [await person(session), await member(session)]
          one[name].remove(two as never)
          const sending = session.flush()
          await untilSent()
          one[name].add(two as never)
          await sending
          await session.flush()
          expect(session.isDirty()).to.equal(false)
          expect(await keys(name)).to.deep.equal([2])
        })
      }
    }
  })
}
