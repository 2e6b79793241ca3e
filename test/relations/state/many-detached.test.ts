import { expect } from 'chai'
import {
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  Record,
  collection,
  ref,
  type Database,
  type Session,
} from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

/** Relations of one class to itself: every entity of the session may name every other. */
@Record({ set: 'detached_member' })
class Member {
  @Key() id!: number
  @ManyToOne(() => Member, 'staff') boss = ref<Member>()
  @OneToMany(() => Member, 'boss') staff = collection<Member>()
  @OneToOne(() => Member, 'partnerOf', { owner: true }) partner = ref<Member>()
  @OneToOne(() => Member, 'partner') partnerOf = ref<Member>()
  @ManyToMany(() => Member, 'friends') friends = collection<Member>()
  @OneToMany(() => Member) marked = collection<Member>()
}
const RELATIONS = ['boss', 'staff', 'partner', 'partnerOf', 'friends', 'marked'] as const

const MANY = 150
/** Members that are detached first: the session makes an index after the first few. */
const FIRST = 10
const IDS = Array.from({ length: MANY }, (_, i) => i + 1)

for (const mode of MODES) {
  describe(`a session that detaches many entities, one by one (${mode})`, () => {
    let db: Database
    let session: Session
    let members: Member[]
    useDatabase(mode, [Member], (opened) => ({ db } = opened))
    beforeEach(async () => {
      await db.withSession((made) => {
        const all = IDS.map((id) => made.create(Member, { id }))
        all.forEach((member, i) => {
          if (i > 0) member.boss.set(all[(i - 1) >> 1])
          if (i % 2 === 0) member.partner.set(all[i + 1])
          member.friends.add(all[(i + 5) % MANY])
          member.marked.add(all[(i + 7) % MANY])
        })
        return made.flush()
      })
      session = db.session()
      members = [...(await session.loadMany(Member, IDS, { with: ['staff', 'friends', 'marked'] }))]
    })

    const ids = (found: Iterable<Member>): number[] => [...found].map(({ id }) => id).sort((a, b) => a - b)
    const detachFirst = (): void => members.slice(-FIRST).forEach((member) => session.detach(member))

    const WAYS: { readonly [title: string]: (gone: readonly Member[]) => unknown } = {
      detached: (gone) => gone.forEach((member) => session.detach(member)),
      deleted: (gone) => Promise.all(gone.map((member) => session.delete(member))),
    }
    for (const [title, drop] of Object.entries(WAYS)) {
      it(`looks only at those that name an entity when it is ${title}`, async () => {
        await drop(members.slice(-FIRST))
        const gone = members.slice(60, 80)
        const looks = countLooks(members.slice(0, 50))
        await drop(gone)
        // Each of the twenty may be named by the ends of a few links, and not by fifty others.
        expect(looks()).to.be.below(gone.length * 20)
      })
    }

    it('drops what is deleted from all that name it', async () => {
      detachFirst()
      const [one, , three, four] = members
      expect([three.partner.key, one.friends.items.includes(members[5])]).to.deep.equal([4, true])
      await session.delete(four)
      await session.delete(members[5])
      await session.delete(members[7])
      expect(three.partner.key).to.equal(null)
      expect([ids(one.friends), ids(one.marked), ids(members[1].staff)]).to.deep.equal([[146], [], [5]])
      expect(members[15].boss.key).to.equal(null)
      expect(session.isDirty()).to.equal(false)
    })

    it('knows links that were made and loaded since', async () => {
      detachFirst()
      const [one, two, three] = members
      one.friends.add(members[40])
      two.boss.set(members[41])
      const late = await session.load(Member, 148, { with: ['friends'] })
      const made = session.create(Member, { id: 1000 })
      three.marked.add(made, members[42])
      await session.flush()
      for (const id of [41, 42, 43, 1000, 3]) await session.delete(Member, id)
      expect([ids(one.friends), two.boss.key, ids(late.friends)]).to.deep.equal([[6, 146], null, [143]])
      await session.refresh(one)
      await one.friends.load()
      expect(ids(one.friends)).to.deep.equal([6, 146])
    })

    it('sends links of others to a detached entity by its key, and no other change of it', async () => {
      detachFirst()
      const [one, two, three, four] = members
      one.marked.add(two)
      two.boss.set(three)
      two.friends.add(four)
      session.detach(two)
      expect(session.isDirty(four)).to.equal(false)
      await session.flush()
      const stored = await db.session().load(Member, 1, { with: ['marked'] })
      expect(ids(stored.marked)).to.deep.equal([2, 8])
      expect((await db.session().load(Member, 2)).boss.key).to.equal(1)
      expect(await db.session().at(Member, 4).collection('friends').contains(2)).to.equal(false)
    })

    it('drops links to an entity that is discarded before it was stored', async () => {
      detachFirst()
      const made = session.create(Member, { id: 1000 })
      const [one, two] = members
      one.friends.add(made)
      two.marked.add(made)
      session.remove(made)
      expect(session.isDirty()).to.equal(false)
    })
  })
}

/** Number of times that a relation of these was read. */
function countLooks(members: readonly Member[]): () => number {
  let looks = 0
  for (const member of members) {
    for (const name of RELATIONS) {
      const value: unknown = member[name]
      const get = (): unknown => {
        looks++
        return value
      }
      Object.defineProperty(member, name, { get, enumerable: true, configurable: true })
    }
  }
  return () => looks
}
