import { expect } from 'chai'
import { Bin, Embeddable, Key, ManyToMany, Record, SkeinError, collection, type Database, type KeyValue } from 'skein'
import { MODES } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'

@Embeddable()
class Membership {
  @Bin() role!: string
  @Bin() since?: number
}

@Record({ set: 'person' })
class Person {
  @Key() id!: number
  @Bin() name?: string
  @ManyToMany(() => Club, 'members', { owner: true, attributes: () => Membership }) clubs = collection<
    Club,
    Membership
  >()
  @ManyToMany(() => Person, 'friends') friends = collection<Person>()
}

@Record({ set: 'club' })
class Club {
  @Key() id!: string
  @ManyToMany(() => Person, 'clubs', { attributes: () => Membership }) members = collection<Person, Membership>()
}

for (const mode of MODES) {
  describe(`links (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Person, Club], (opened) => ({ db } = opened))
    beforeEach(async () => {
      await db.withSession(async (session) => {
        for (const id of [1, 2, 3]) session.create(Person, { id })
        for (const id of ['chess', 'golf']) session.create(Club, { id })
      })
    })

    /** The attributes of a link as both sides store them. */
    const stored = async (person: number, club: string): Promise<unknown[]> => [
      await db.session().at(Person, person).collection('clubs').attributesOf(club),
      await db.session().at(Club, club).collection('members').attributesOf(person),
    ]

    describe('with attributes', () => {
      it('carry them on both sides, whichever side made the link', async () => {
        await db.withSession(async (session) => {
          session.at(Person, 1).collection('clubs').link('chess', { role: 'member', since: 2020 })
          session.at(Club, 'chess').collection('members').link(2, { role: 'chair' })
        })
        for (const each of await stored(1, 'chess')) expect(each).to.deep.include({ role: 'member', since: 2020 })
        for (const each of await stored(2, 'chess')) expect(each).to.deep.include({ role: 'chair' })
        expect(await stored(3, 'chess')).to.deep.equal([null, null])
      })

      it('write only what changed, on both sides, also when both are loaded', async () => {
        await db.withSession(async (session) =>
          session.at(Person, 1).collection('clubs').link('chess', { role: 'member', since: 2020 }),
        )
        const session = db.session()
        const person = await session.load(Person, 1, { with: ['clubs.members'] })
        const [chess] = person.clubs.items
        const mine = (await person.clubs.attributesOf(chess))!
        expect(await chess.members.attributesOf(person)).to.equal(mine)
        expect(session.isDirty()).to.equal(false)
        mine.role = 'chair'
        expect(session.isDirty(person)).to.equal(true)
        const plan = String(await session.explain())
        expect(plan).to.contain('put clubs["chess"]["role"] = "chair"').and.not.contain('2020')
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        for (const each of await stored(1, 'chess')) expect(each).to.deep.include({ role: 'chair', since: 2020 })
      })

      it('that cannot be stored are refused by class, property and field before anything is sent', async () => {
        const wrong = { role: 7 } as unknown as Membership
        const session = db.session()
        session.at(Club, 'chess').collection('members').link(2, wrong)
        const error = (await session.flush().catch((reason: unknown) => reason)) as SkeinError
        expect(error).to.be.instanceOf(SkeinError).and.have.property('code', 'SKEIN_2201')
        expect(error.message).to.match(/^Club\.members\[2\]\.role: 7 is not/)
        expect(error.details).to.include({ className: 'Club', property: 'members', key: 'chess' })
        await db.withSession(async (other) => other.at(Person, 1).collection('clubs').link('golf', { role: 'x' }))
        const later = db.session()
        const link = (await later.at(Person, 1).collection('clubs').attributesOf('golf'))!
        Object.assign(link, wrong)
        const second = (await later.flush().catch((reason: unknown) => reason)) as SkeinError
        expect(second.message).to.match(/^Person\.clubs\["golf"\]\.role: 7 is not/)
        expect(await stored(2, 'chess')).to.deep.equal([null, null])
      })

      it('of a link that is gone are not brought back', async () => {
        await db.withSession(async (session) =>
          session.at(Person, 1).collection('clubs').link('chess', { role: 'member' }),
        )
        const session = db.session()
        const link = (await session.at(Person, 1).collection('clubs').attributesOf('chess'))!
        await db.withSession(async (other) => other.at(Club, 'chess').collection('members').remove(1))
        link.role = 'ghost'
        const error = await session.flush().catch((reason: unknown) => reason)
        expect(error).to.be.instanceOf(SkeinError)
        expect(await stored(1, 'chess')).to.deep.equal([null, null])
      })

      it('count, page, keys and loads work as without', async () => {
        await db.withSession(async (session) => {
          const { members } = await session.load(Club, 'golf')
          for (const id of [3, 1, 2]) members.link(id, { role: `r${id}` })
        })
        const members = db.session().at(Club, 'golf').collection('members')
        expect(await members.count()).to.equal(3)
        expect(await members.keys()).to.deep.equal([1, 2, 3])
        expect((await members.page({ offset: 1, count: 1 })).map(({ id }) => id)).to.deep.equal([2])
        expect(await members.contains(3)).to.equal(true)
        expect((await members.load()).map(({ id }) => id)).to.deep.equal([1, 2, 3])
        await db.session().delete(Person, 2)
        expect(await db.session().at(Club, 'golf').collection('members').keys()).to.deep.equal([1, 3])
      })

      it('are refused where the model has none', () => {
        const person = db.session().persist(Object.assign(new Person(), { id: 9 }))
        expect(() => person.friends.link(1, {}))
          .to.throw(SkeinError)
          .with.property('code', 'SKEIN_2407')
      })
    })

    describe('to the same relation', () => {
      const friends = (id: number): Promise<readonly KeyValue[]> =>
        db.session().at(Person, id).collection('friends').keys()

      it('are made and undone on both sides at once', async () => {
        const session = db.session()
        const [ann, bob] = await session.loadMany(Person, [1, 2], { with: ['friends'] })
        ann.friends.add(bob)
        expect(bob.friends.items).to.deep.equal([ann])
        await session.flush()
        expect([await friends(1), await friends(2)]).to.deep.equal([[2], [1]])
        bob.friends.remove(ann)
        expect(ann.friends.items).to.deep.equal([])
        await session.flush()
        expect([await friends(1), await friends(2)]).to.deep.equal([[], []])
        expect(session.isDirty()).to.equal(false)
      })

      it('leave nothing behind when one is deleted', async () => {
        await db.withSession(async (session) => session.at(Person, 1).collection('friends').add(2, 3))
        await db.session().delete(Person, 1)
        expect([await friends(2), await friends(3)]).to.deep.equal([[], []])
      })
    })
  })
}
