import { expect } from 'chai'
import type { Database, EntityClass, Session } from 'skein'
import { need, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import {
  Agent,
  Club,
  COMPANION_CLASSES,
  Note,
  User,
  agent,
  club,
  listing,
  person,
  user,
} from '../write/companion-models.js'
import { emptySets } from '../../empty-sets.js'

const MORE_THAN_ANY = 80

interface Kind {
  readonly title: string
  readonly root: EntityClass
  readonly key: string | number
  readonly prepare: (session: Session) => void
  readonly link: (session: Session) => void
}

const KINDS: readonly Kind[] = [
  {
    title: 'a user who follows and is followed',
    root: User,
    key: 'ada',
    prepare: (session) => ['ada', 'u1', 'u2', 'u3'].forEach((id) => session.persist(user(id))),
    link(session) {
      session.at(User, 'ada').collection('followers').add('u1', 'u2', 'u3')
      session.at(User, 'ada').collection('follows').add('u1')
    },
  },
  {
    title: 'an agent with children of three kinds',
    root: Agent,
    key: 1,
    prepare(session) {
      session.persist(agent(1))
      for (const id of ['a', 'b', 'c']) session.persist(listing(id))
      for (const id of [1, 2]) session.persist(Object.assign(new Note(), { id }))
    },
    link(session) {
      session.at(Agent, 1).collection('listings').add('a', 'b')
      session.at(Agent, 1).collection('kept').add('c')
      session.at(Agent, 1).collection('notes').add(1, 2)
    },
  },
  {
    title: 'a club whose links have attributes',
    root: Club,
    key: 'chess',
    prepare(session) {
      session.persist(club('chess'))
      for (const id of [1, 2]) session.persist(person(id))
    },
    link(session) {
      for (const id of [1, 2]) session.at(Club, 'chess').collection('members').link(id, { role: 'guest' })
    },
  },
]

describe('a sweep after a delete of an owner of companions that was cut off at any command', function () {
  this.timeout(120_000)
  let db: Database
  let server: TestServer
  let namespace: string
  useDatabase('ap', COMPANION_CLASSES, (opened) => ({ db, server, namespace } = opened))

  const findings = async (): Promise<string[]> => {
    const found: string[] = []
    for await (const { message } of db.verify(COMPANION_CLASSES, { settle: 0 })) found.push(message)
    return found
  }

  for (const { title, root, key, prepare, link } of KINDS) {
    it(`leaves nothing of ${title}, or all`, async function () {
      const { faults } = need(this, server.embedded, 'only the embedded server has faults')
      const limits = { retry: { attempts: 1, deadline: 40, backoff: 1 } }
      const hasty = await server.open({ namespace, entities: COMPANION_CLASSES, ...limits })
      try {
        let hits = 1
        let swept = 0
        for (let skip = 0; hits > 0; skip++) {
          expect(skip).to.be.lessThan(MORE_THAN_ANY)
          await db.withSession(prepare)
          await db.withSession(link)
          const fault = await faults.add({ namespace, skip, drop: true, times: 1_000_000, after: skip % 2 === 0 })
          await hasty
            .session()
            .delete(root as EntityClass<{ id: never }>, key as never)
            .catch(() => undefined)
          hits = await fault.hits()
          await faults.clear()
          swept += await db.sweep(root)
          expect(await findings(), `after ${skip} commands`).to.deep.equal([])
          const isThere = (await db.session().find(root, key)) !== null
          for (const set of setsOf(root)) {
            const left = (await db.client.query(namespace, set).results()).filter(
              ({ bins }) => bins['_sk.root'] === key,
            )
            if (!isThere) expect(left, `${set} after ${skip} commands`).to.deep.equal([])
          }
          await emptySets(db, COMPANION_CLASSES)
        }
        expect(swept).to.be.greaterThan(0)
      } finally {
        await hasty.close()
      }
    })
  }

  const setsOf = (root: EntityClass): string[] =>
    db.model.entity(root).relations.flatMap(({ companions }) => (companions === undefined ? [] : [companions.set]))
})
