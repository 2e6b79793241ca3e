import { expect } from 'chai'
import {
  BeforeDelete,
  Bin,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  RestrictedError,
  Version,
  collection,
  ref,
  type Database,
  type SkeinError,
} from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

/** Changes by other sessions after a delete has looked for members, and before it has sent anything. */
let meanwhile: () => Promise<unknown> = () => Promise.resolve()
/** Changes by other sessions when a delete has found a squad. */
let besideSquads: (id: number) => Promise<unknown> = () => Promise.resolve()

@Record({ set: 'club' })
class Club {
  @Key() id!: number
  @Bin() name?: string
  @Version() version?: number
  @OneToMany(() => Squad, 'club', { strategy: 'keyList', onDelete: 'cascade' }) squads = collection<Squad>()
  @OneToMany(() => Match, 'club', { strategy: 'secondaryIndex', onDelete: 'cascade' }) matches = collection<Match>()
  @OneToMany(() => Fan, 'club', { strategy: 'keyList', onDelete: 'detach' }) fans = collection<Fan>()
  @OneToMany(() => Fan, 'host', { strategy: 'secondaryIndex', onDelete: 'detach' }) guests = collection<Fan>()
  @OneToMany(() => Debt, 'club', { strategy: 'keyList', onDelete: 'restrict' }) debts = collection<Debt>()
  @ManyToMany(() => Club, 'friendOf', { owner: true }) friends = collection<Club>()
  @ManyToMany(() => Club, 'friends') friendOf = collection<Club>()

  @BeforeDelete() async wait(): Promise<void> {
    await meanwhile()
  }
}

@Record({ set: 'squad' })
class Squad {
  @Key() id!: number
  @Bin() name?: string
  @ManyToOne(() => Club, 'squads') club = ref<Club>()
  @OneToMany(() => Match, 'squad', { strategy: 'secondaryIndex', onDelete: 'cascade' }) matches = collection<Match>()
  @OneToMany(() => Fan, 'squad', { strategy: 'keyList', onDelete: 'detach' }) players = collection<Fan>()

  @BeforeDelete() async wait(): Promise<void> {
    await besideSquads(this.id)
  }
}

@Record({ set: 'match' })
class Match {
  @Key() id!: number
  @Bin() name?: string
  @ManyToOne(() => Club, 'matches') club = ref<Club>()
  @ManyToOne(() => Squad, 'matches') squad = ref<Squad>()
}

@Record({ set: 'fan' })
class Fan {
  @Key() id!: number
  @Bin() name?: string
  @ManyToOne(() => Club, 'fans') club = ref<Club>()
  @ManyToOne(() => Club, 'guests') host = ref<Club>()
  @ManyToOne(() => Squad, 'players') squad = ref<Squad>()
}

@Record({ set: 'debt' })
class Debt {
  @Key() id!: number
  @ManyToOne(() => Club, 'debts') club = ref<Club>()
}

const CLASSES = [Club, Squad, Match, Fan, Debt]

for (const mode of MODES) {
  describe(`a delete beside others (${mode})`, () => {
    let db: Database
    useDatabase(mode, CLASSES, (opened) => ({ db } = opened))
    beforeEach(async () => {
      meanwhile = besideSquads = () => Promise.resolve()
      await db.withSession(async (session) => {
        const club = session.create(Club, { id: 1 })
        club.squads.add(session.create(Squad, { id: 1 }))
        club.friends.add(session.create(Club, { id: 2 }))
        session.create(Club, { id: 3 })
        session.create(Fan, { id: 1 })
        return Promise.resolve()
      })
    })

    /** Once, in a session of their own. */
    function others(work: (club: Club) => void): void {
      meanwhile = async () => {
        meanwhile = () => Promise.resolve()
        const session = db.session()
        work(await session.load(Club, 1))
        await session.flush()
      }
    }

    it('by key lets nobody take the place of what it is about to delete', async () => {
      const session = db.session()
      const deleting = session.delete(Club, 1)
      expect(() => session.create(Club, { id: 1 })).to.throw('This session is deleting Club 1. Await the delete')
      expect(await deleting).to.equal(true)
      expect(await db.session().findMany<object>(Squad, [1])).to.deep.equal([null])
      session.create(Club, { id: 1 })
      await session.flush()
      expect((await db.session().load(Club, 1, { with: ['friends'] })).friends.items).to.deep.equal([])
    })

    it('by key does so until the last of several has returned', async () => {
      const session = db.session()
      const first = session.delete(Club, 1)
      await new Promise((resolve) => setImmediate(resolve))
      const second = session.delete(Club, 1)
      await first
      const made = Object.assign(new Club(), { id: 1 })
      // The save is refused while the second delete is under way, and else stored.
      await session.save(made).catch(({ code }: SkeinError) => expect(code).to.equal('SKEIN_2304'))
      await second
      await session.save(made)
      expect((await db.session().load(Club, 1)).id).to.equal(1)
    })

    it('takes members along that were added after it has looked for them', async () => {
      others((club) => {
        const squad = Object.assign(new Squad(), { id: 2 })
        squad.matches.add(Object.assign(new Match(), { id: 1 }))
        club.squads.add(squad)
        club.matches.add(Object.assign(new Match(), { id: 2 }))
      })
      expect(await db.session().delete(Club, 1)).to.equal(true)
      expect(await db.session().find(Club, 1)).to.equal(null)
      expect(await db.session().findMany(Squad, [1, 2])).to.deep.equal([null, null])
      expect(await db.session().findMany(Match, [1, 2])).to.deep.equal([null, null])
    })

    it('takes members along that were added after it has looked for them, also where others of the same flush lead to it', async () => {
      const session = db.session()
      const [other, squad] = [await session.load(Club, 3), await session.load(Squad, 1)]
      other.squads.add(squad)
      session.remove(squad)
      besideSquads = async () => {
        besideSquads = () => Promise.resolve()
        await db.withSession((their) => their.at(Squad, 1).collection('players').add(1))
      }
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      expect(await db.session().find(Squad, 1)).to.equal(null)
      expect((await db.session().load(Fan, 1)).squad.key).to.equal(null)
    })

    it('in a transaction that is tried again does not take along what has left since', async function () {
      if (mode === 'ap') this.skip()
      const session = db.session()
      const club = await session.load(Club, 1)
      others((same) => same.squads.add(Object.assign(new Squad(), { id: 2 })))
      let looks = 0
      besideSquads = async (id) => {
        if (id !== 2) return
        looks++
        await db.withSession((other) => other.at(Club, 3).collection('squads').add(2))
      }
      await session.delete(club)
      expect(looks).to.equal(1)
      expect(session.isDirty()).to.equal(false)
      await session.flush()
      expect(await db.session().find(Club, 1)).to.equal(null)
      expect((await db.session().load(Squad, 2)).club.key).to.equal(3)
      expect(await db.session().at(Club, 3).collection('squads').keys()).to.deep.equal([2])
    })

    it('detaches those that were added after it has looked for them', async () => {
      others((club) => club.fans.add(1))
      expect(await db.session().delete(Club, 1)).to.equal(true)
      expect((await db.session().load(Fan, 1)).club.key).to.equal(null)
    })

    it('detaches those that were added after it has looked for them, also those that the same flush changes', async () => {
      const session = db.session()
      const [club, fan] = [await session.load(Club, 1), await session.load(Fan, 1)]
      others((same) => (same.fans.add(1), same.guests.add(1)))
      fan.name = 'Ada'
      session.remove(club)
      await session.flush()
      expect([fan.club.key, fan.host.key, session.isDirty()]).to.deep.equal([null, null, false])
      const stored = await db.session().load(Fan, 1)
      expect([stored.name, stored.club.key, stored.host.key]).to.deep.equal(['Ada', null, null])
    })

    it('detaches a child that others have added to it while this session was taking it from another parent', async () => {
      await db.withSession((session) => {
        session.at(Club, 3).collection('fans').add(1)
        session.at(Club, 3).collection('guests').add(1)
      })
      const session = db.session()
      const [club, former, fan] = [await session.load(Club, 1), await session.load(Club, 3), await session.load(Fan, 1)]
      former.fans.remove(fan)
      former.guests.remove(fan)
      await db.withSession((other) => {
        other.at(Club, 1).collection('fans').add(1)
        other.at(Club, 1).collection('guests').add(1)
      })
      session.remove(club)
      await session.flush()
      expect([fan.club.key, fan.host.key, session.isDirty()]).to.deep.equal([null, null, false])
      const stored = await db.session().load(Fan, 1)
      expect([stored.club.key, stored.host.key]).to.deep.equal([null, null])
    })

    it('takes members along that were added after it has looked for them, also those that the same flush changes', async () => {
      await db.withSession((session) => {
        session.create(Squad, { id: 2 })
        session.create(Match, { id: 2 })
      })
      const session = db.session()
      const [club, squad, match] = [
        await session.load(Club, 1),
        await session.load(Squad, 2),
        await session.load(Match, 2),
      ]
      others((same) => (same.squads.add(2), same.matches.add(2)))
      squad.name = match.name = 'second'
      session.remove(club)
      await session.flush()
      expect(session.isDirty()).to.equal(false)
      expect([await db.session().find(Squad, 2), await db.session().find(Match, 2)]).to.deep.equal([null, null])
    })

    it('is forgotten by those that were linked after it has looked for them', async () => {
      others((club) => club.friends.add(3))
      expect(await db.session().delete(Club, 1)).to.equal(true)
      const clubs = await db.session().loadMany(Club, [2, 3], { with: ['friendOf'] })
      expect(await Promise.all(clubs.map(({ friendOf }) => friendOf.keys()))).to.deep.equal([[], []])
    })

    it('is forbidden by a member that was added after it has looked for them, and then everything stays', async () => {
      others((club) => club.debts.add(Object.assign(new Debt(), { id: 1 })))
      const refused = await db
        .session()
        .delete(Club, 1)
        .catch((error: unknown) => error)
      expect(refused).to.be.instanceOf(RestrictedError)
      const club = await db.session().load(Club, 1, { with: ['squads'] })
      expect(club.squads.items.map(({ id }) => id)).to.deep.equal([1])
    })

    it('of an entity that somebody has changed is refused before anything else is deleted', async () => {
      const session = db.session()
      const club = await session.load(Club, 1)
      others((same) => (same.name = 'changed'))
      await meanwhile()
      const refused = await session.delete(club).catch((error: Error) => error.message)
      expect(refused).to.contain('changed by someone else')
      const now = await db.session().load(Club, 1, { with: ['squads'] })
      expect([now.name, now.squads.items.map(({ id }) => id)]).to.deep.equal(['changed', [1]])
      expect(await db.sweep(Club)).to.equal(0)
    })
  })
}
