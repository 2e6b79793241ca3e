import { expect } from 'chai'
import {
  Bin,
  collection,
  Copy,
  DeletedAt,
  Key,
  ManyToMany,
  ManyToOne,
  Record,
  ref,
  Sharded,
  type Database,
} from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'cl_person' })
class Person {
  @Key() id!: string
  @Bin() name?: string
  @ManyToMany(() => Person, { through: () => Follow }) follows = collection<Person, Follow>()
  @ManyToMany(() => Person, { through: () => Follow, strategy: 'secondaryIndex' })
  followers = collection<Person, Follow>()
  @Sharded({ by: 'hash', shards: 3 })
  @ManyToMany(() => Club, { through: () => Membership })
  clubs = collection<Club, Membership>()
  @ManyToMany(() => Topic, { through: () => Interest }) topics = collection<Topic, Interest>()
}

@Record({ set: 'cl_topic' })
class Topic {
  @Key() id!: number
  @DeletedAt() deletedAt?: Date
}

@Record({ set: 'cl_interest', key: '{person}:{topic}' })
class Interest {
  @ManyToOne(() => Person, 'topics') person = ref<Person>()
  @ManyToOne(() => Topic) topic = ref<Topic>()
  @Copy((interest: Interest) => interest.person, 'name') who?: string
}

@Record({ set: 'cl_follow', key: '{from}:{to}' })
class Follow {
  @ManyToOne(() => Person, 'follows') from = ref<Person>()
  @ManyToOne(() => Person, 'followers') to = ref<Person>()
  @Bin() kind?: string
  @Copy((follow: Follow) => follow.from, 'name') fromName?: string
  @Copy((follow: Follow) => follow.to, 'name') toName?: string
}

@Record({ set: 'cl_club' })
class Club {
  @Key() id!: number
  @Bin() name?: string
  @ManyToMany(() => Person, { through: () => Membership }) members = collection<Person, Membership>()
}

@Record({ set: 'cl_membership', key: '{person}:{club}' })
class Membership {
  @ManyToOne(() => Person, 'clubs') person = ref<Person>()
  @ManyToOne(() => Club, 'members') club = ref<Club>()
  @Copy((membership: Membership) => membership.person, 'name') who?: string
  @Copy((membership: Membership) => membership.club, 'name', { refresh: 'background' }) where?: string
}

const ALL = [Person, Follow, Club, Membership, Topic, Interest]

for (const mode of MODES) {
  describe(`copies in link records (${mode})`, () => {
    let db: Database
    useDatabase(mode, ALL, (opened) => ({ db } = opened))
    beforeEach(() =>
      db.withSession(async (session) => {
        const [ann, bob] = ['ann', 'bob'].map((id) => session.create(Person, { id, name: id }))
        session.create(Person, { id: 'cem', name: 'cem' })
        ann.follows.link(bob, { kind: 'friend' })
        ann.clubs.add(session.create(Club, { id: 1, name: 'chess' }))
      }),
    )
    const follow = async (key: string): Promise<unknown[]> => {
      const { fromName, toName } = await db.session().load(Follow, key)
      return [fromName, toName]
    }
    const membership = async (): Promise<unknown[]> => {
      const { who, where } = await db.session().load(Membership, 'ann:1')
      return [who, where]
    }
    const stale = async (): Promise<string[]> => {
      const found: string[] = []
      for await (const { kind, property } of db.verify(ALL, { settle: 0 })) found.push(`${kind} ${property}`)
      return found
    }

    it('are taken from both ends when they are linked, by entity or by key', async () => {
      await db.withSession(async (session) => session.at(Person, 'bob').collection('follows').link('cem', {}))
      expect([await follow('ann:bob'), await follow('bob:cem')]).to.deep.equal([
        ['ann', 'bob'],
        ['bob', 'cem'],
      ])
      expect(await membership()).to.deep.equal(['ann', 'chess'])
    })

    it('follow their sources at either end, by list, in shards and by index', async () => {
      const session = db.session()
      const [ann, bob] = await session.loadMany(Person, ['ann', 'bob'])
      ann.name = 'Anna'
      await session.save(ann)
      bob.name = 'Bobo'
      await session.save(bob)
      expect(await follow('ann:bob')).to.deep.equal(['Anna', 'Bobo'])
      expect(await membership()).to.deep.equal(['Anna', 'chess'])
      expect(await stale()).to.deep.equal([])
    })

    it('follow a source whose links the session has loaded, and links it has just made', async () => {
      const session = db.session()
      const ann = await session.load(Person, 'ann', { with: ['follows', 'clubs'] })
      ann.name = 'Anna'
      ann.follows.link('cem', { kind: 'work' })
      await session.flush()
      expect([await follow('ann:bob'), await follow('ann:cem')]).to.deep.equal([
        ['Anna', 'bob'],
        ['Anna', 'cem'],
      ])
      expect((await ann.follows.linkOf('bob'))?.fromName).to.equal('Anna')
      expect(await stale()).to.deep.equal([])
    })

    it('follow their source while the other end is deleted and has no collection of them', async () => {
      await db.withSession(async (session) => {
        const cem = await session.load(Person, 'cem')
        cem.topics.add(session.create(Topic, { id: 1 }))
      })
      await db.session().delete(Topic, 1)
      await db.withSession(async (session) => ((await session.load(Person, 'cem')).name = 'Cem'))
      expect(await db.session().load(Interest, 'cem:1')).to.include({ who: 'Cem' })
      expect(await stale()).to.deep.equal([])
    })

    it('are brought in line by db.copies.refresh', async () => {
      await db.withSession(async (session) => ((await session.load(Club, 1)).name = 'go'))
      expect(await membership()).to.deep.equal(['ann', 'chess'])
      expect(await stale()).to.deep.equal(['staleCopy where'])
      expect(await db.copies.refresh(Club)).to.equal(1)
      expect(await membership()).to.deep.equal(['ann', 'go'])
      expect(await stale()).to.deep.equal([])
    })
  })
}
