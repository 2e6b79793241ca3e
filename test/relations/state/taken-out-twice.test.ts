import { expect } from 'chai'
import type { Database, Session } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { CLASSES, MANY, Member, REFS, SIDES, Team, storeAll } from '../property/actor-models.js'

const LISTS = MANY.flatMap((list) => REFS.flatMap((back) => (SIDES[list] === back ? [{ list, back }] : [])))
/** A new parent, from which a member is taken as well, and the one that it has when it is loaded. */
const [NEW, OLD] = [2, 3]

for (const mode of MODES) {
  describe(`a child taken out of the parent it had and of the one that another session gives it (${mode})`, () => {
    let db: Database
    useDatabase(mode, CLASSES, (opened) => ({ db } = opened))

    for (const { list, back } of LISTS) {
      describe(`with ${list}`, () => {
        const move = (to: number): Promise<void> =>
          db.withSession(async (other) => void (await other.load(Team, to))[list].add(await other.load(Member, 1)))

        /** Takes the member out of both, while another session moves it. */
        const takeOut = async (session: Session, by: 'entity' | 'key', parents: readonly number[]): Promise<Member> => {
          const member = await session.load(Member, 1)
          await move(NEW)
          for (const team of await session.loadMany(Team, parents)) team[list].remove(by === 'key' ? 1 : member)
          await session.flush()
          expect(session.isDirty()).to.equal(false)
          return member
        }

        beforeEach(async () => {
          await storeAll(db)
          await move(OLD)
        })

        const expectNowhere = async (member: Member): Promise<void> => {
          expect((await db.session().load(Member, 1))[back].key).to.equal(null)
          expect(member[back].key).to.equal(null)
          for (const id of [OLD, NEW])
            expect(await db.session().at(Team, id).collection(list).keys(), `Team ${id}`).to.deep.equal([])
          for await (const { message } of db.verify(CLASSES, { settle: 0 })) expect.fail(message)
        }

        for (const by of ['entity', 'key'] as const) {
          it(`is in neither, given as ${by}`, async () => {
            await expectNowhere(await takeOut(db.session(), by, [OLD, NEW]))
          })
        }

        it('is in neither, the new one being first', async () => {
          await expectNowhere(await takeOut(db.session(), 'entity', [NEW, OLD]))
        })

        it('stays with a third parent', async () => {
          const session = db.session()
          const member = await session.load(Member, 1)
          await move(1)
          for (const team of await session.loadMany(Team, [OLD, NEW])) team[list].remove(member)
          await session.flush()
          expect(session.isDirty()).to.equal(false)
          expect((await db.session().load(Member, 1))[back].key).to.equal(1)
          expect(member[back].key).to.equal(1)
          expect(await db.session().at(Team, 1).collection(list).keys()).to.deep.equal([1])
          for await (const { message } of db.verify(CLASSES, { settle: 0 })) expect.fail(message)
        })
      })
    }
  })
}
