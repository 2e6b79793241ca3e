import Aerospike from 'aerospike'
import { expect } from 'chai'
import {
  Bin,
  collection,
  DeletedAt,
  Embeddable,
  Embedded,
  Key,
  ManyToMany,
  Record,
  Sharded,
  type Database,
} from 'skein'
import { MODES } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'
import { rejection } from '../../../session/rejection.js'
import { sharedServer } from '../../../shared-server.js'
import { isByDate, isOnDemand, isSharded } from '../../property/in-companions.js'
import { Agent, ENDED, Friend, Office, Post } from './ended-link-models.js'

/** Agents keep their links apart from the start, or as soon as they have two. */
const isApart = isSharded || isOnDemand || isByDate

/** The clock of links by date goes forth and back by some days. */
const SHIFT = isByDate ? 10 * 86_400_000 : 0
const LATER = (): Date => new Date(Date.now() + 1000 + SHIFT)

for (const mode of MODES) {
  describe(`links whose attributes have a @DeletedAt (${mode})`, () => {
    let db: Database
    let namespace: string
    useDatabase(mode, ENDED, (opened) => ({ db, namespace } = opened))
    beforeEach(() =>
      db.withSession(async (session) => {
        const [one, two] = [1, 2].map((id) => session.create(Agent, { id }))
        const [north, south] = ['north', 'south'].map((id) => session.create(Office, { id }))
        one.offices.link(north, { role: 'head', share: 2 })
        one.offices.link(south, { role: 'guest' })
        two.offices.link(north, { role: 'clerk' })
      }),
    )
    afterEach(async () => expect(await findings(db)).to.deep.equal([]))
    const end = (agent: number, office: string): Promise<void> =>
      db.withSession(async (session) => session.at(Agent, agent).collection('offices').unlink(office))

    it('stay stored when they are unlinked, and are left out of everything', async () => {
      const session = db.session()
      const one = await session.load(Agent, 1, { with: ['offices.agents'] })
      one.offices.unlink('north')
      expect(one.offices.items.map(({ id }) => id)).to.deep.equal(['south'])
      await session.flush()
      expect(one.offices.items.map(({ id }) => id)).to.deep.equal(['south'])

      const other = db.session()
      const { offices } = await other.load(Agent, 1)
      const { agents } = await other.load(Office, 'north')
      expect([await offices.count(), await offices.keys(), await offices.contains('north')]).to.deep.equal([
        1,
        ['south'],
        false,
      ])
      expect([await agents.count(), await agents.keys(), await agents.contains(1)]).to.deep.equal([1, [2], false])
      expect((await offices.page({ count: 5 })).map(({ id }) => id)).to.deep.equal(['south'])
      expect([await offices.attributesOf('north'), await agents.attributesOf(1)]).to.deep.equal([null, null])
      expect((await offices.load()).map(({ id }) => id)).to.deep.equal(['south'])
      expect(await other.walk(Agent, 1).out('offices').keys()).to.deep.equal(['south'])
      expect(await other.walk(Office, 'north').out('agents').keys()).to.deep.equal([2])
      expect(await db.query(Agent).whereHas('offices', 'north').scan().keys()).to.deep.equal([2])
    })

    it('are shown on request from both ends, with their attributes and the time', async () => {
      const before = Date.now()
      await end(1, 'north')
      const session = db.session()
      const { offices } = await session.load(Agent, 1)
      const { agents } = await session.load(Office, 'north')
      expect(await offices.keys({ deleted: 'only' })).to.deep.equal(['north'])
      expect(await offices.keys({ deleted: 'include' })).to.have.members(['north', 'south'])
      expect(await agents.keys({ deleted: 'include' })).to.have.members([1, 2])
      expect([await offices.count({ deleted: 'only' }), await agents.count({ deleted: 'include' })]).to.deep.equal([
        1, 2,
      ])
      expect((await offices.load({ deleted: 'only' })).map(({ id }) => id)).to.deep.equal(['north'])
      const second = { count: 1, offset: 1, deleted: 'include' } as const
      if (!isApart) expect(await offices.page(second)).to.have.length(1)
      expect([
        await offices.contains('north'),
        await offices.contains('north', { deleted: 'include' }),
        await offices.contains('north', { deleted: 'only' }),
        await offices.contains('south', { deleted: 'include' }),
        await offices.contains('south', { deleted: 'only' }),
        await agents.contains(1, { deleted: 'only' }),
        await agents.contains(3, { deleted: 'include' }),
      ]).to.deep.equal([false, true, true, true, false, true, false])
      const streamed: number[] = []
      for await (const { id } of agents.stream({ deleted: 'only' })) streamed.push(id)
      expect(streamed).to.deep.equal([1])

      for (const post of [
        await offices.attributesOf('north', { deleted: 'include' }),
        await agents.attributesOf(1, { deleted: 'only' }),
      ]) {
        expect(post).to.be.instanceOf(Post)
        expect([post!.role, post!.share]).to.deep.equal(['head', 2])
        expect(post!.leftAt!.getTime()).to.be.within(before - SHIFT, Date.now() + SHIFT)
      }
      expect((await offices.attributesOf('south', { deleted: 'include' }))!.leftAt).to.equal(undefined)
      expect(await offices.attributesOf('south', { deleted: 'only' })).to.equal(null)
    })

    it('are walked on request, and chosen by the attributes they had', async () => {
      await end(1, 'north')
      const all = db.session().walk(Agent, 1, { deleted: 'include' })
      expect(await all.out('offices').keys()).to.have.members(['north', 'south'])
      expect(await all.out('offices', { where: { role: 'head' } }).keys()).to.deep.equal(['north'])
      if (!isApart) expect(await all.out('offices', { first: 1 }).keys()).to.have.length(1)
    })

    it('are restored with the attributes they had, at both ends', async () => {
      await end(1, 'north')
      const session = db.session()
      const { offices } = await session.load(Agent, 1)
      expect(await offices.restore('north')).to.equal(true)
      expect(await offices.contains('north'), 'before it is sent').to.equal(true)
      expect(await offices.keys({ deleted: 'only' })).to.deep.equal([])
      await session.flush()
      expect(await offices.restore('north'), 'it is there').to.equal(false)
      expect(await offices.restore('nowhere')).to.equal(false)

      const there = (await db.session().load(Office, 'north')).agents
      const post = await there.attributesOf(1)
      expect([post!.role, post!.share, post!.leftAt]).to.deep.equal(['head', 2, undefined])
      expect(await there.keys({ deleted: 'only' })).to.deep.equal([])
    })

    it('are made anew by linking again, with the attributes that are given', async () => {
      await end(1, 'north')
      await db.withSession(async (session) =>
        session.at(Office, 'north').collection('agents').link(1, { role: 'janitor' }),
      )
      const { offices } = await db.session().load(Agent, 1)
      expect(await offices.attributesOf('north')).to.deep.include({ role: 'janitor' })
      expect(await offices.count({ deleted: 'only' })).to.equal(0)
      await end(1, 'north')
      await db.withSession(async (session) => session.at(Agent, 1).collection('offices').add('north'))
      expect(await db.session().at(Agent, 1).collection('offices').contains('north')).to.equal(true)
      expect(await db.session().at(Office, 'north').collection('agents').keys({ deleted: 'only' })).to.deep.equal([])
    })

    it('keep the time of the first end when they are ended again', async () => {
      await end(1, 'north')
      const { offices } = await db.session().load(Agent, 1)
      const first = (await offices.attributesOf('north', { deleted: 'only' }))!.leftAt
      await new Promise((resolve) => setTimeout(resolve, 5))
      await end(1, 'north')
      expect((await offices.attributesOf('north', { deleted: 'only' }))!.leftAt).to.deep.equal(first)
    })

    it('are shown as ended before the unlink is sent', async () => {
      const { offices } = await db.session().load(Agent, 1)
      offices.unlink('north')
      expect(await offices.keys({ deleted: 'only' })).to.deep.equal(['north'])
      expect(await offices.keys({ deleted: 'include' })).to.have.members(['north', 'south'])
      expect(await offices.count()).to.equal(1)
    })

    it('leave nothing behind at the other end when one end is deleted for good', async () => {
      await end(1, 'south')
      await db.withSession(async (session) => session.delete(Agent, 1))
      const session = db.session()
      for (const id of ['north', 'south'])
        expect(await session.at(Office, id).collection('agents').keys({ deleted: 'only' }), id).to.deep.equal([])
    })

    it('show a member that was deleted softly too', async () => {
      await end(1, 'north')
      await db.withSession(async (session) => {
        await session.delete(Office, 'south')
        await session.delete(Office, 'north')
      })
      const { offices } = await db.session().load(Agent, 1)
      expect(await offices.keys({ deleted: 'only' })).to.have.members(['north', 'south'])
      expect(await offices.load({ deleted: 'include' })).to.have.length(2)
      expect(await offices.count()).to.equal(0)
    })

    it('are purged at both ends once they are old enough', async () => {
      await end(1, 'north')
      const early = new Date(Date.now() - 60_000 - SHIFT)
      expect(await db.purge(Agent, { olderThan: early, links: 'offices' })).to.equal(0)
      await end(2, 'north')
      const told: number[] = []
      const onProgress = ({ purged }: { purged: number }): number => told.push(purged)
      expect(await db.purge(Office, { olderThan: LATER(), links: 'agents', onProgress })).to.equal(2)
      expect(told.at(-1)).to.equal(2)
      const session = db.session()
      expect(await session.at(Agent, 1).collection('offices').keys({ deleted: 'include' })).to.deep.equal(['south'])
      expect(await session.at(Office, 'north').collection('agents').keys({ deleted: 'include' })).to.deep.equal([])
    })

    it('between records of one class, and without another side, stay too', async () => {
      await db.withSession(async (session) => {
        const [ann, bob] = ['ann', 'bob'].map((id) => session.create(Friend, { id }))
        ann.friends.link(bob, { role: 'old' })
        ann.visited.link('north', { role: 'guest' })
      })
      await db.withSession(async (session) => {
        const bob = await session.load(Friend, 'bob')
        bob.friends.unlink('ann')
        session.at(Friend, 'ann').collection('visited').unlink('north')
      })
      const session = db.session()
      const [ann, bob] = await session.loadMany(Friend, ['ann', 'bob'])
      expect(await ann.friends.keys({ deleted: 'only' })).to.deep.equal(['bob'])
      expect(await bob.friends.keys({ deleted: 'only' })).to.deep.equal(['ann'])
      expect((await ann.visited.attributesOf('north', { deleted: 'only' }))!.role).to.equal('guest')
      expect(await ann.friends.restore(bob)).to.equal(true)
      await session.flush()
      expect((await db.session().at(Friend, 'bob').collection('friends').attributesOf('ann'))!.role).to.equal('old')
      await db.withSession(async (one) => one.at(Friend, 'bob').collection('friends').unlink('ann'))
      expect(await db.purge(Friend, { olderThan: LATER(), links: 'friends' })).to.equal(2)
    })

    it('cost one write a record, whatever they carry', async () => {
      const session = db.session()
      session.at(Agent, 1).collection('offices').unlink('north')
      expect((await session.explain()).commands.map(({ kind }) => kind)).to.deep.equal(['write', 'write'])
      await session.flush()
    })

    it('of one end only are put right by verify, which believes the owner', async () => {
      await end(1, 'north')
      const office = await keeping(isSharded || isByDate ? 'eoffice_agents' : 'eoffice')
      const { bins: right } = await db.client.get(office)
      const [name] = Object.keys(right).filter((bin) => bin.startsWith('_sk.end.'))
      // As after a crash between the two ends: the link is still there, and not among the ended ones.
      await db.client.operate(office, [
        Aerospike.maps.put('agents', 1 as never, { role: 'head', share: new Aerospike.Double(2) }),
        Aerospike.maps.removeByKey(name, 1 as never),
      ])
      expect(await findings(db)).to.have.length(2)
      await findings(db, true)
      expect(await findings(db)).to.deep.equal([])
      // An ended link without a date may come into another bucket.
      if (!isByDate) expect((await db.client.get(office)).bins).to.deep.equal(right)
      const agents = db.session().at(Office, 'north').collection('agents')
      expect([await agents.contains(1), await agents.contains(1, { deleted: 'only' })]).to.deep.equal([false, true])

      const agent = await keeping(isApart ? 'eagent_offices' : 'eagent')
      const [bin] = Object.keys((await db.client.get(agent)).bins).filter((each) => each.startsWith('_sk.end.'))
      await db.client.operate(agent, [Aerospike.operations.write(bin, null)])
      expect(await findings(db)).to.have.length(1)
      await findings(db, true)
      expect(await db.session().at(Office, 'north').collection('agents').keys({ deleted: 'only' })).to.deep.equal([])
    })

    /** Record that keeps ended links. */
    async function keeping(set: string): Promise<Aerospike.Key> {
      const records = await db.client.query(namespace, set).results()
      return records.find(({ bins }) => Object.keys(bins).some((bin) => bin.startsWith('_sk.end.')))!.key
    }

    it('refuse a time that is given by hand, and questions that make no sense', async () => {
      const session = db.session()
      const one = await session.load(Agent, 1)
      one.offices.link('north', { role: 'head', leftAt: new Date() })
      const error = (await rejection(() => session.flush())) as Error
      expect(error).to.include({ code: 'SKEIN_2201' })
      expect(error.message).to.include('leftAt')
      session.clear()
      const { agents } = await session.load(Office, 'north')
      expect(await rejection(() => agents.attributesOf(1, { deleted: 'yes' as 'only' }))).to.include({
        code: 'SKEIN_2320',
      })
      expect(await rejection(() => db.purge(Agent, { olderThan: LATER(), links: 'ofices' }))).to.include({
        code: 'SKEIN_2316',
      })
    })
  })
}

describe('a @DeletedAt in an @Embeddable', () => {
  const refused = async (...entities: (abstract new () => object)[]): Promise<Error> => {
    const server = await sharedServer()
    return (await rejection(() => server.open({ namespace: 'test', entities: entities }))) as Error
  }

  it('is refused where the class is embedded, and as the date that links are kept by', async () => {
    @Embeddable()
    class Stamp {
      @Bin() a!: string
      @DeletedAt() goneAt?: Date
    }
    @Record({ set: 'e_embeds' })
    class Embeds {
      @Key() id!: string
      @Embedded(() => Stamp) stamp?: Stamp
    }
    @Record({ set: 'e_shards' })
    class Shards {
      @Key() id!: string
      @Sharded({ by: 'day', on: 'goneAt' })
      @ManyToMany(() => Shards, { attributes: () => Stamp })
      others = collection<Shards, Stamp>()
    }
    expect((await refused(Embeds)).message)
      .to.include('SKEIN_1026')
      .and.include('goneAt')
    expect((await refused(Shards)).message)
      .to.include('SKEIN_1051')
      .and.include('goneAt')
  })
})

async function findings(db: Database, repair = false): Promise<string[]> {
  const found: string[] = []
  for await (const { message } of db.verify(ENDED, { settle: 0, repair })) found.push(message)
  return found
}
