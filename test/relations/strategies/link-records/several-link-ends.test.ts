import { expect } from 'chai'
import {
  Bin,
  collection,
  Companion,
  CountOf,
  DeletedAt,
  Key,
  ManyToMany,
  ManyToOne,
  Record,
  ref,
  Sharded,
  type Database,
  type Session,
} from 'skein'
import { MODES } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { useDatabase } from '../../../use-database.js'

/** Works, of which songs are deleted softly and films are not. */
@Record({ set: 'lse_person' })
class Person {
  @Key() id!: string
  @ManyToMany(() => [Song, Film], { through: () => Rating }) rated = collection<Song | Film, Rating>()
  @ManyToMany(() => [Song, Film], { through: () => Mark }) marked = collection<Song | Film, Mark>()
}

@Record({ set: 'lse_song' })
class Song {
  @Key() id!: number
  @Bin() title!: string
  @DeletedAt() deletedAt?: Date
  @ManyToMany(() => Person, { through: () => Rating, onDelete: 'cascade' }) raters = collection<Person, Rating>()
}

@Record({ set: 'lse_film' })
class Film {
  @Key() id!: number
  @Bin() director!: string
  @ManyToMany(() => Person, { through: () => Rating, onDelete: 'cascade' }) raters = collection<Person, Rating>()
}

@Record({ set: 'lse_rating', key: '{by}:{work}' })
class Rating {
  @ManyToOne(() => Person, 'rated') by = ref<Person>()
  @ManyToOne(() => [Song, Film], 'raters') work = ref<Song | Film>()
  @Bin() stars?: number
  @DeletedAt() endedAt?: Date
}

/** The works have no collection of these. */
@Record({ set: 'lse_mark', key: '{by}:{work}' })
class Mark {
  @ManyToOne(() => Person, 'marked') by = ref<Person>()
  @ManyToOne(() => [Song, Film]) work = ref<Song | Film>()
}

/** Classes of tenants, and one that all share, under equal keys. */
@Record({ set: 'lse_member', tenant: true })
class Member {
  @Key() id!: number
  @ManyToMany(() => [Club, Park], { through: () => Visit }) visited = collection<Club | Park, Visit>()
}

@Record({ set: 'lse_club', tenant: true })
class Club {
  @Key() id!: number
  @Bin() name!: string
}

@Record({ set: 'lse_park' })
class Park {
  @Key() id!: number
  @Bin() area!: number
}

@Record({ set: 'lse_visit', key: '{member}:{place}', tenant: true })
class Visit {
  @ManyToOne(() => Member, 'visited') member = ref<Member>()
  @ManyToOne(() => [Club, Park]) place = ref<Club | Park>()
  @Bin() times?: number
}

/** Lists of links in records of their own. */
@Record({ set: 'lse_voter' })
class Voter {
  @Key() id!: number
  @CountOf('voted') votes = 0
  @Sharded({ by: 'hash', shards: 3 })
  @ManyToMany(() => [Motion, Person2], { through: () => Vote })
  voted = collection<Motion | Person2, Vote>()
}

@Record({ set: 'lse_motion' })
class Motion {
  @Key() id!: number
  @Bin() text!: string
  @Companion() @ManyToMany(() => Voter, { through: () => Vote, onDelete: 'restrict' }) voters = collection<
    Voter,
    Vote
  >()
}

@Record({ set: 'lse_person2' })
class Person2 {
  @Key() id!: number
  @Bin() name!: string
  @Companion() @ManyToMany(() => Voter, { through: () => Vote, onDelete: 'restrict' }) voters = collection<
    Voter,
    Vote
  >()
}

@Record({ set: 'lse_vote', key: '{voter}:{on}' })
class Vote {
  @ManyToOne(() => Voter, 'voted') voter = ref<Voter>()
  @ManyToOne(() => [Motion, Person2], 'voters') on = ref<Motion | Person2>()
  @Bin() says?: string
}

for (const mode of MODES) {
  describe(`link records to one of several classes with soft deletes (${mode})`, () => {
    let db: Database
    const classes = [Person, Song, Film, Rating, Mark]
    useDatabase(mode, classes, (opened) => ({ db } = opened))
    beforeEach(() =>
      db.withSession((session) => {
        const ann = session.create(Person, { id: 'ann' })
        const [song, film] = [
          session.create(Song, { id: 1, title: 'One' }),
          session.create(Film, { id: 1, director: 'X' }),
        ]
        for (const work of [song, film]) {
          ann.rated.link(work, { stars: 3 })
          ann.marked.add(work)
        }
      }),
    )
    afterEach(async () => {
      for await (const { message } of db.verify(classes, { settle: 0 })) expect.fail(message)
    })

    const both = ['lse_film:1', 'lse_song:1']
    const shown = async (name: 'rated' | 'marked', deleted?: 'include' | 'only'): Promise<unknown> => {
      const members = db.session().at(Person, 'ann').collection(name)
      const options = deleted && { deleted }
      const contained = []
      for (const key of both) if (await members.contains(key, options)) contained.push(key)
      const loaded = (await members.load(options)).map((each) => (each instanceof Song ? 'lse_song:1' : 'lse_film:1'))
      const keys = [...(await members.keys(options))]
      expect([await members.count(options), contained, loaded.sort()]).to.deep.equal([keys.length, keys, keys])
      return keys
    }

    it('are left out while their end is deleted, whether it lists them or not', async () => {
      await db.session().delete(Song, 1)
      for (const name of ['rated', 'marked'] as const) {
        expect(await shown(name), name).to.deep.equal(['lse_film:1'])
        expect(await shown(name, 'include'), name).to.deep.equal(both)
        expect(await shown(name, 'only'), name).to.deep.equal(['lse_song:1'])
      }
      const walked = await db.session().walk(Person, 'ann').out('marked').keys()
      expect(walked).to.deep.equal(['lse_film:1'])
      await db.session().restore(Song, 1)
      for (const name of ['rated', 'marked'] as const) expect(await shown(name), name).to.deep.equal(both)
    })

    it('come back only with the end that they were deleted with', async () => {
      await db.session().delete(Song, 1)
      const error = await rejection(() => db.session().restore(Rating, { by: 'ann', work: 'lse_song:1' }))
      expect((error as Error).message).to.match(/leads to Song 1, which is deleted/)
      const session = db.session()
      session.at(Person, 'ann').collection('rated').link('lse_song:1', { stars: 5 })
      expect(await rejection(() => session.flush())).to.be.instanceOf(Error)
      await db.session().restore(Song, 1)
      expect((await db.session().linkOf(Rating, 'ann', 'lse_song:1'))?.stars).to.equal(3)
    })

    it('go for good with a film, and with a song that is purged', async () => {
      await db.withSession(async (session) => {
        const [ann, film] = [await session.load(Person, 'ann'), await session.load(Film, 1)]
        ann.marked.unlink(film)
        ann.marked.unlink('lse_song:1')
        session.remove(film)
      })
      expect(await shown('rated')).to.deep.equal(['lse_song:1'])
      await db.session().delete(Song, 1)
      await db.purge(Song, { olderThan: new Date(Date.now() + 60_000) })
      expect(await db.scan(Rating, { deleted: 'include' }).count()).to.equal(0)
      expect(await shown('rated', 'include')).to.deep.equal([])
    })
  })

  describe(`link records of tenants to one of several classes (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Member, Club, Park, Visit], (opened) => ({ db } = opened))
    const of = (tenant: string): Session => db.session({ tenant })
    beforeEach(async () => {
      await db.withSession((session) => void session.create(Park, { id: 1, area: 9 }))
      for (const tenant of ['acme', 'bolt'])
        await db.withSession(
          (session) => {
            const member = session.create(Member, { id: 1 })
            member.visited.link(session.create(Club, { id: 1, name: tenant }), { times: 1 })
            member.visited.link('lse_park:1', { times: 2 })
          },
          { tenant },
        )
    })

    it('lead to places of their own tenant, and to those that all share', async () => {
      for (const tenant of ['acme', 'bolt']) {
        const member = await of(tenant).load(Member, 1, { with: ['visited'] })
        const [club, park] = member.visited.items
        expect([(club as Club).name, (park as Park).area]).to.deep.equal([tenant, 9])
        expect(await member.visited.keys()).to.deep.equal(['lse_club:1', 'lse_park:1'])
        expect((await of(tenant).linkOf(Visit, 1, club))?.times).to.equal(1)
        expect(await db.scan(Visit, { tenant }).keys()).to.have.members(['1:lse_club%3A1', '1:lse_park%3A1'])
        const [found] = await db.scan(Visit, { tenant }).where({ place: 'lse_club:1' }).toArray()
        expect([found.times, found.place.key]).to.deep.equal([1, 'lse_club:1'])
        for await (const { message } of db.verify([Member, Visit], { settle: 0, tenant })) expect.fail(message)
      }
    })

    it('are ended for one tenant alone', async () => {
      const acme = of('acme')
      acme.at(Member, 1).collection('visited').unlink('lse_club:1')
      await acme.flush()
      expect(await of('acme').at(Member, 1).collection('visited').keys()).to.deep.equal(['lse_park:1'])
      expect(await of('bolt').at(Member, 1).collection('visited').keys()).to.deep.equal(['lse_club:1', 'lse_park:1'])
    })
  })

  describe(`link records to one of several classes that are listed apart (${mode})`, () => {
    let db: Database
    const classes = [Voter, Motion, Person2, Vote]
    useDatabase(mode, classes, (opened) => ({ db } = opened))
    beforeEach(() =>
      db.withSession((session) => {
        const voters = [1, 2, 3].map((id) => session.create(Voter, { id }))
        const [motion, person] = [
          session.create(Motion, { id: 1, text: 'x' }),
          session.create(Person2, { id: 1, name: 'y' }),
        ]
        for (const { voted } of voters) {
          voted.link(motion, { says: 'yes' })
          voted.link(person, { says: 'no' })
        }
      }),
    )
    afterEach(async () => {
      for await (const { message } of db.verify(classes, { settle: 0 })) expect.fail(message)
    })

    it('are listed, counted and ended at both ends', async () => {
      const session = db.session()
      const voter = await session.load(Voter, 2, { with: ['voted'] })
      expect([voter.votes, voter.voted.items.length]).to.deep.equal([2, 2])
      voter.voted.unlink('lse_motion:1')
      await session.flush()
      const later = db.session()
      expect(await later.at(Voter, 2).collection('voted').keys()).to.deep.equal(['lse_person2:1'])
      expect(await later.at(Motion, 1).collection('voters').keys()).to.deep.equal([1, 3])
      expect(await later.at(Person2, 1).collection('voters').keys()).to.deep.equal([1, 2, 3])
      expect((await later.load(Voter, 2)).votes).to.equal(1)
    })

    it('forbid the delete of the end that has some, and not of one under an equal key', async () => {
      expect(await rejection(() => db.session().delete(Motion, 1))).to.have.property('name', 'RestrictedError')
      await db.withSession((session) => {
        for (const id of [1, 2, 3]) session.at(Motion, 1).collection('voters').unlink(id)
      })
      expect(await db.session().delete(Motion, 1)).to.equal(true)
      expect(await rejection(() => db.session().delete(Person2, 1))).to.have.property('name', 'RestrictedError')
      await db.session().delete(Voter, 1)
      expect(await db.session().at(Person2, 1).collection('voters').keys()).to.deep.equal([2, 3])
    })
  })
}
