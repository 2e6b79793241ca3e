import { expect } from 'chai'
import { Companion, Key, ManyToMany, Record, Sharded, collection, type Database } from 'skein'
import { trafficOf } from '../../../examples/traffic.js'
import { MODES, need, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'

const SHARDS = 4

/** Has the same members in its own record, in shards, in a companion, by the year, and on demand. */
@Record({ set: 'rowner' })
class Owner {
  @Key() id!: string
  @ManyToMany(() => Item) plain = collection<Item>()
  @Sharded({ by: 'hash', shards: SHARDS, subkeys: 'hashIn' }) @ManyToMany(() => Item) hash = collection<Item>()
  @Companion({ subkeys: 'apartIn' }) @ManyToMany(() => Item) apart = collection<Item>()
  @Sharded({ by: 'day', every: 366, subkeys: 'daysIn' }) @ManyToMany(() => Item) days = collection<Item>()
  @Sharded({ by: 'hash', shards: SHARDS, when: {}, subkeys: 'demandIn' }) @ManyToMany(() => Item) demand =
    collection<Item>()
}

@Record({ set: 'ritem' })
class Item {
  @Key() id!: number
}

const ALL = ['plain', 'hash', 'apart', 'days', 'demand'] as const
const APART = ['hash', 'apart', 'days', 'demand'] as const
const MEMBERS = 1200
/** So many that each shard has more than a page. */
const SMALL = 60

for (const mode of MODES) {
  describe(`reads of collections in several records (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, [Owner, Item], (opened) => ({ db, server, namespace } = opened), { emptied: 'once' })
    before(async function () {
      this.timeout(60_000)
      await db.withSession((session) => {
        for (const id of ['o', 's']) session.create(Owner, { id })
        for (let i = 0; i < MEMBERS; i++) session.create(Item, { id: i })
      })
      const members = Array.from({ length: MEMBERS }, (_, i) => i)
      for (const name of ALL)
        await db.withSession(
          (session) =>
            void session
              .at(Owner, 'o')
              .collection(name)
              .add(...members),
        )
      await db.withSession((session) => {
        for (const name of ALL)
          session
            .at(Owner, 's')
            .collection(name)
            .add(...members.slice(0, SMALL))
      })
      for (const id of ['o', 's']) await db.session().at(Owner, id).collection('demand').shard(SHARDS)
      // Records of others are known once they were read.
      for (const id of ['o', 's']) for (const name of ALL) await db.session().at(Owner, id).collection(name).count()
    })

    it('load with their owner in one round trip more than members in its record', async () => {
      const loading = (name: (typeof ALL)[number]): Promise<unknown> => db.session().load(Owner, 'o', { with: [name] })
      const { roundTrips } = await trafficOf(() => loading('plain'))
      for (const name of APART) {
        const traffic = await trafficOf(() => loading(name))
        expect(traffic.roundTrips, name).to.equal(roundTrips + 1)
      }
    })

    it('load so also in a process that knows nothing of them, and in none more once their owner is loaded', async () => {
      const { roundTrips } = await trafficOf(() => db.session().load(Owner, 'o', { with: ['plain'] }))
      for (const name of APART) {
        const [fresh, other] = await Promise.all([1, 2].map(() => server.open({ namespace, entities: [Owner, Item] })))
        const loading = await trafficOf(() => fresh.session().load(Owner, 'o', { with: [name] }))
        const owner = await other.session().load(Owner, 'o')
        const later = await trafficOf(() => owner[name].load())
        await Promise.all([fresh.close(), other.close()])
        expect(loading.roundTrips, name).to.equal(roundTrips + 1)
        // The read of the owner is saved; a list of buckets is read when it is needed.
        expect(later.roundTrips, name).to.equal(name === 'days' ? roundTrips + 1 : roundTrips)
      }
    })

    it('ask one record, and the owner that says which it is, for one member', async () => {
      const session = db.session()
      for (const name of ['hash', 'apart', 'demand'] as const) {
        const { commands, roundTrips } = await trafficOf(() => session.at(Owner, 'o').collection(name).contains(700))
        expect([commands, roundTrips], name).to.deep.equal([2, 1])
      }
    })

    it('read a page in two round trips: a page of each record, and the members of the page', async () => {
      for (const name of APART) {
        const owner = await db.session().load(Owner, 'o')
        let found: readonly Item[] = []
        const { commands, roundTrips } = await trafficOf(async () => (found = await owner[name].page({ count: 5 })))
        expect(found.map(({ id }) => id)).to.deep.equal([0, 1, 2, 3, 4])
        const records = name === 'apart' || name === 'days' ? 1 : SHARDS
        expect([commands, roundTrips], name).to.deep.equal([1 + records + 5, 2])
      }
    })

    it('read at most as many keys of each record as the page has, and one to tell that there are more', async function () {
      const { commands } = need(this, server.embedded, 'only the embedded server counts the bytes of answers')
      for (const name of APART)
        for (const after of [false, true]) {
          const bytes: number[] = []
          for (const id of ['s', 'o']) {
            const owner = await db.session().load(Owner, id)
            const next = after ? (await owner[name].page({ count: 3 })).next : undefined
            const page = (): Promise<unknown> => owner[name].page({ count: 5, ...(next && { after: next }) })
            bytes.push((await commands.during(page)).bytesOut)
          }
          // The first keys of all records are the same, whether 60 or 1,200 members follow.
          expect(bytes[1], `${name}, ${after}`).to.equal(bytes[0])
        }
    })

    it('stream a bounded number of members at a time', async () => {
      for (const name of APART) {
        const owner = await db.session().load(Owner, 'o')
        const { commands } = await trafficOf(async () => {
          for await (const member of owner[name].stream()) {
            expect(member).to.be.instanceOf(Item)
            break
          }
        })
        expect(commands, name).to.be.below(1 + 2 * SHARDS + 3 * 256)
      }
    })
  })
}
