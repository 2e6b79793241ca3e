import { expect } from 'chai'
import {
  Companion,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  Sharded,
  SkeinError,
  collection,
  ref,
  type Database,
  type Session,
} from 'skein'
import { MODES, type TestServer } from '../../server.js'
import { addFault, untilHit } from '../../until-hit.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'orphaned-team' })
class Team {
  @Key() id!: number
  @OneToMany(() => Member, 'plain', { orphans: 'delete' }) plains = collection<Member>()
  @OneToMany(() => Member, 'indexed', { strategy: 'secondaryIndex', orphans: 'delete' }) indexeds = collection<Member>()
  @Companion({ subkeys: 'inOne' }) @OneToMany(() => Member, 'apart', { orphans: 'delete' }) aparts =
    collection<Member>()
  @Sharded({ by: 'hash', shards: 3, subkeys: 'inMany' })
  @OneToMany(() => Member, 'sharded', { orphans: 'delete' })
  shardeds = collection<Member>()
  @Sharded({ by: 'hash', shards: 2, when: { members: 2 }, subkeys: 'inMore' })
  @OneToMany(() => Member, 'growing', { orphans: 'delete' })
  growings = collection<Member>()
}

@Record({ set: 'orphaned-member' })
class Member {
  @Key() id!: number
  @ManyToOne(() => Team, 'plains') plain = ref<Team>()
  @ManyToOne(() => Team, 'indexeds') indexed = ref<Team>()
  @ManyToOne(() => Team, 'aparts') apart = ref<Team>()
  @ManyToOne(() => Team, 'shardeds') sharded = ref<Team>()
  @ManyToOne(() => Team, 'growings') growing = ref<Team>()
}

const CLASSES = [Team, Member]
const LISTS = [
  { list: 'plains', back: 'plain' },
  { list: 'indexeds', back: 'indexed' },
  { list: 'aparts', back: 'apart' },
  { list: 'shardeds', back: 'sharded' },
  { list: 'growings', back: 'growing' },
] as const
/** A new parent, from which a member is taken as well, and the one that it has when it is loaded. */
const [THIRD, NEW, OLD] = [1, 2, 3]

for (const mode of MODES) {
  describe(`an orphan taken out of the parent it had and of the one that another session gives it (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, CLASSES, (opened) => ({ db, server } = opened))
    afterEach(() => server.embedded?.faults.clear())

    for (const { list, back } of LISTS) {
      describe(`with ${list}`, () => {
        const move = (to: number): Promise<void> =>
          db.withSession(async (other) => (await other.load(Member, 1))[back].set(await other.load(Team, to)))

        beforeEach(async () => {
          await db.withSession((session) => {
            for (const id of [THIRD, NEW, OLD]) session.create(Team, { id })
            session.create(Member, { id: 1 })[back].set(OLD)
          })
        })

        /** Takes the member out of some parents, while another session moves it. */
        const takeOut = async (
          session: Session,
          { to, by, parents }: { to: number; by: 'entity' | 'key'; parents: readonly number[] },
        ): Promise<void> => {
          const member = await session.load(Member, 1)
          await move(to)
          for (const team of await session.loadMany(Team, parents)) team[list].remove(by === 'key' ? 1 : member)
          await session.flush()
          expect(session.isDirty()).to.equal(false)
        }
        const expectAt = async (parent: number | null): Promise<void> => {
          const session = db.session()
          const member = await session.find(Member, 1)
          expect(member === null ? null : member[back].key).to.equal(parent)
          if (parent === null) expect(member).to.equal(null)
          for (const id of [THIRD, NEW, OLD])
            expect(await session.at(Team, id).collection(list).keys(), `Team ${id}`).to.deep.equal(
              id === parent ? [1] : [],
            )
          for await (const { message } of db.verify(CLASSES, { settle: 0 })) expect.fail(message)
        }

        for (const by of ['entity', 'key'] as const)
          for (const parents of [
            [OLD, NEW],
            [NEW, OLD],
          ])
            it(`is deleted, given as ${by}, ${parents[0] === OLD ? 'the old' : 'the new'} one being first`, async () => {
              const session = db.session()
              await takeOut(session, { to: NEW, by, parents })
              await expectAt(null)
              expect(await session.find(Member, 1)).to.equal(null)
            })

        it('stays with the new one when it is taken out of the old one alone', async () => {
          await takeOut(db.session(), { to: NEW, by: 'entity', parents: [OLD] })
          await expectAt(NEW)
        })

        // A transaction is in conflict, and tried again.
        for (const skip of mode === 'ap' ? [0, 1, 2, 3] : [])
          it(`is deleted, or with the new one, when it is moved before command ${skip + 1}`, async function () {
            const session = db.session()
            const member = await session.load(Member, 1)
            for (const team of await session.loadMany(Team, [OLD, NEW])) team[list].remove(member)
            const hit = { kind: ['write', 'delete', 'batch', 'read'], skip, delay: 60 } as const
            const fault = await addFault(this, server, hit)
            const flushing = session.flush()
            await untilHit(fault, flushing)
            const moving = move(NEW).catch((error: unknown) => expect(error).to.be.instanceOf(SkeinError))
            await Promise.all([flushing, moving])
            expect(session.isDirty()).to.equal(false)
            await expectAt((await db.session().find(Member, 1)) === null ? null : NEW)
          })

        it('stays with a third parent', async () => {
          await takeOut(db.session(), { to: THIRD, by: 'entity', parents: [OLD, NEW] })
          await expectAt(THIRD)
        })
      })
    }
  })
}
