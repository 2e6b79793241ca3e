import { expect } from 'chai'
import type { Database, Session } from 'skein'
import { isNamedServer, MODES, type TestServer } from '../../server.js'
import { addFault, untilHit } from '../../until-hit.js'
import { useDatabase } from '../../use-database.js'
import { LINKS, linksOf, peopleIn, type LinkRecordClasses, type Person } from './archive-link-record-models.js'

interface Change {
  readonly title: string
  /** The person is linked before, and after a change that was done. */
  readonly isLinked: readonly [before: boolean, after: boolean]
  readonly change: (session: Session, id: number, paper: number) => Promise<unknown>
}

const changesOf = ({ Person, Paper }: LinkRecordClasses): readonly Change[] => [
  {
    title: 'a link from the other end',
    isLinked: [false, true],
    change: async (session, id, paper) => (await session.load(Paper, paper)).people.link(id, { role: 'reader' }),
  },
  {
    title: 'a link that is made again from the other end',
    isLinked: [true, true],
    change: async (session, id, paper) => (await session.load(Paper, paper)).people.link(id, { role: 'writer' }),
  },
  {
    title: 'an end of the link from the other end',
    isLinked: [true, false],
    change: async (session, id, paper) => (await session.load(Paper, paper)).people.unlink(id),
  },
  {
    title: 'a link from its own end',
    isLinked: [false, true],
    change: async (session, id, paper) => (await session.load(Person, id)).papers.link(paper, { role: 'reader' }),
  },
  {
    title: 'an end of the link from its own end',
    isLinked: [true, false],
    change: async (session, id, paper) => (await session.load(Person, id)).papers.unlink(paper),
  },
  {
    title: 'a delete of the other end',
    isLinked: [true, false],
    change: async (session, _id, paper) => session.remove(await session.load(Paper, paper)),
  },
]

/** Moves while a command of the change is late. */
const MOVES = [['archive'], ['archive', 'unarchive']] as const

for (const mode of MODES) {
  describe(`a link record that is changed while an end of it is archived (${mode})`, function () {
    if (isNamedServer) return
    const cold = mode === 'ap' ? 'test' : 'more'
    const classes = peopleIn(cold)
    const { Person: APerson, Paper: APaper, Access: AnAccess } = classes
    let db: Database
    let server: TestServer
    useDatabase(mode, classes.all, (opened) => ({ db, server } = opened))
    beforeEach(async () => {
      await db.client.truncate(cold, 'ak_person', 0)
      await new Promise((resolve) => setTimeout(resolve, 3))
    })

    const findings = async (from?: 'archive'): Promise<string[]> => {
      const found: string[] = []
      const verified = from === undefined ? classes.all : [APerson]
      for await (const { kind, message } of db.verify(verified, { settle: 0, ...(from && { from }) }))
        if (kind !== 'unfinishedArchive') found.push(message)
      return found
    }

    for (const { title, isLinked, change } of changesOf(classes))
      for (const moves of MOVES)
        it(`is the same at both ends, whichever command is late: ${title} beside ${moves.join(', ')}`, async function () {
          for (let paper = 1, isHit = true; isHit; paper++) {
            const id = 1000 + paper
            await db.withSession((session) => {
              const person = session.create(APerson, { id })
              session.create(APaper, { id: paper })
              if (isLinked[0]) person.papers.link(paper, { role: 'reader' })
            })
            const fault = await addFault(this, server, { skip: paper - 1, delay: 25 })
            const work = db
              .withSession(async (session) => void (await change(session, id, paper)))
              .then(
                () => true,
                () => false,
              )
            await untilHit(fault, work)
            isHit = (await fault.hits()) > 0
            for (const move of moves)
              await db
                .session()
                [move](APerson, id)
                .catch(() => false)
            const isDone = await work
            await server.embedded!.faults.clear()
            const where = `${isDone ? 'done' : 'refused'}, command ${paper - 1}`
            expect(await findings(), where).to.deep.equal([])
            await db.session().archive(APerson, id)
            await db.session().unarchive(APerson, id)
            const person = await db.session().load<Person>(APerson, id, { with: LINKS })
            const isThere = linksOf(person)[2].length === 1
            if (isDone || isLinked[0] === isLinked[1]) expect(isThere, where).to.equal(isLinked[1])
            expect((await db.session().linkOf(AnAccess, id, paper)) !== null, where).to.equal(isThere)
            expect([...(await findings()), ...(await findings('archive'))], where).to.deep.equal([])
          }
        })
  })
}
