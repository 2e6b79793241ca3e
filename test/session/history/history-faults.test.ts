import { expect } from 'chai'
import type { Database, Session } from 'skein'
import { FaultyServer } from '../../faults/at-each-command.js'
import { MODES } from '../../server.js'
import { ALL, Contract, Note, contract } from './history-models.js'

/** Terms by version: those that are kept, and the present ones. */
async function known(db: Database): Promise<Map<number, string | undefined>> {
  const session = db.session()
  const past = await session.history(Contract, 'c').entries()
  const versions = new Map([...past].reverse().map(({ version, entity }) => [version, entity?.terms]))
  expect(versions.size, 'nothing is kept twice').to.equal(past.length)
  const now = await session.find(Contract, 'c')
  if (now !== null) versions.set(now.version!, now.terms)
  return versions
}

const CHANGES: { readonly [title: string]: (session: Session) => Promise<unknown> } = {
  save: async (session) => session.save(Object.assign(await session.load(Contract, 'c'), { terms: 'new' })),
  upsert: (session) => session.upsert(contract({ terms: 'new' })),
  'change through a handle': (session) => {
    session.at(Contract, 'c').map('shares').put(1, 1n)
    return session.flush()
  },
}

for (const mode of MODES) {
  describe(`histories with a fault at each command (${mode})`, function () {
    this.timeout(60_000)
    const server = FaultyServer.use(mode, ALL)

    const prepare = async (db: Database): Promise<void> => {
      const session = db.session()
      const one = contract()
      await session.save(one)
      await session.save(Object.assign(one, { terms: 'second' }))
      await session.close()
    }

    for (const [title, change] of Object.entries(CHANGES))
      it(`have what a ${title} replaced, whenever it was cut off`, async () => {
        const check = async (db: Database, error: unknown, where: string): Promise<void> => {
          const versions = await known(db)
          const latest = Math.max(...versions.keys())
          expect(latest, where).to.be.oneOf(error === undefined ? [3] : [2, 3])
          expect(versions.get(1), where).to.equal('first')
          expect(versions.get(2), where).to.equal('second')
          await change(db.session())
          const after = await known(db)
          expect([...after].slice(0, 2), where).to.deep.equal([...versions].slice(0, 2))
          expect([...after.keys()].at(-1), where).to.be.oneOf([latest, latest + 1])
        }
        const commands = await server.disturb({ prepare, work: (db) => change(db.session()), check })
        expect(commands).to.be.greaterThan(1)
      })

    it('have the last state of what was deleted, whenever the delete was cut off', async () => {
      await server.disturb({
        prepare,
        work: async (db) => db.session().delete(Contract, 'c'),
        check: async (db, error, where) => {
          const isThere = (await db.session().find(Contract, 'c')) !== null
          if (error === undefined) expect(isThere, where).to.equal(false)
          if (!isThere)
            expect([...(await known(db))].slice(0, 2), where).to.deep.equal([
              [1, 'first'],
              [2, 'second'],
            ])
          expect(await db.session().delete(Contract, 'c'), where).to.equal(isThere)
          expect((await known(db)).get(2), where).to.equal('second')
        },
      })
    })

    it('have what a soft delete replaced, whenever it was cut off', async () => {
      await server.disturb({
        prepare: (db) => db.session().save(Object.assign(new Note(), { id: 1, text: 'a' })),
        work: (db) => db.session().delete(Note, 1),
        check: async (db, _error, where) => {
          const session = db.session()
          const now = await session.load(Note, 1, { deleted: 'include' })
          const past = await session.history(Note, 1).entries()
          expect(past.length, where).to.equal(now.version! - 1)
          expect(now.deletedAt === undefined, where).to.equal(now.version === 1)
        },
      })
    })
  })
}
