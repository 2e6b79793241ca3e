import { expect } from 'chai'
import { Companion, Key, ManyToMany, Record, Sharded, collection, type Database } from 'skein'
import { trafficOf } from '../../examples/traffic.js'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

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

for (const mode of MODES) {
  describe(`reads of collections in several records (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Owner, Item], (opened) => ({ db } = opened), { emptied: 'once' })
    before(async function () {
      this.timeout(60_000)
      await db.withSession((session) => {
        session.create(Owner, { id: 'o' })
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
      await db.session().at(Owner, 'o').collection('demand').shard(SHARDS)
      // What others have stored is known once it was read.
      for (const name of ALL) await db.session().at(Owner, 'o').collection(name).count()
    })

    it('load with their owner in one round trip more than members in its record', async () => {
      const loading = (name: (typeof ALL)[number]): Promise<unknown> => db.session().load(Owner, 'o', { with: [name] })
      const { roundTrips } = await trafficOf(() => loading('plain'))
      for (const name of APART) {
        const traffic = await trafficOf(() => loading(name))
        expect(traffic.roundTrips, name).to.equal(roundTrips + 1)
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
