import { expect } from 'chai'
import { Bin, Embeddable, Key, OneToMany, Record, Sharded, collection, type Database } from 'skein'
import { trafficOf } from '../../../examples/traffic.js'
import { MODES, need, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'

const SHARDS = 2
const DAY = 86_400_000
const START = Date.parse('2024-05-01T00:00:00Z')
/** So many that each record has more than a page. */
const FEW = 60
const MANY = 1200

@Embeddable()
class Line {
  @Key() id!: string
  @Bin() at!: Date
}

/** Has the same children in its own record, in shards, by the day, and on demand. */
@Record({ set: 'spr_owner' })
class Owner {
  @Key() id!: string
  @OneToMany(() => Line, { strategy: 'consolidate', eager: false }) plain = collection<Line>()
  @Sharded({ by: 'hash', shards: SHARDS, subkeys: 'hashIn' })
  @OneToMany(() => Line, { strategy: 'consolidate', orders: { recent: ['at'] } })
  hash = collection<Line>()
  @Sharded({ by: 'day', on: 'at', subkeys: 'daysIn' })
  @OneToMany(() => Line, { strategy: 'consolidate' })
  days = collection<Line>()
  @Sharded({ by: 'hash', shards: SHARDS, when: {}, subkeys: 'demandIn' })
  @OneToMany(() => Line, { strategy: 'consolidate' })
  demand = collection<Line>()
}

const ALL = ['plain', 'hash', 'days', 'demand'] as const
const BY_HASH = ['hash', 'demand'] as const
const id = (i: number): string => `l${10_000 + i}`
const idsOf = (found: readonly Line[]): string[] => found.map((each) => each.id)

for (const mode of MODES) {
  describe(`reads of children in several records (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [Owner], (opened) => ({ db, server } = opened), { emptied: 'once' })
    before(async function () {
      this.timeout(60_000)
      for (const [key, count] of [
        ['few', FEW],
        ['many', MANY],
      ] as const) {
        const owner = Object.assign(new Owner(), { id: key })
        for (const name of ALL)
          // Forty children a day.
          for (let i = 0; i < count; i++)
            owner[name].add(
              Object.assign(new Line(), { id: id(i), at: new Date(START + Math.floor(i / 40) * DAY + i) }),
            )
        await db.session().save(owner)
        await db.session().at(Owner, key).collection('demand').shard(SHARDS)
        for (const name of ALL) await db.session().at(Owner, key).collection(name).count()
      }
    })

    const bytesOf = async (commands: NonNullable<TestServer['embedded']>['commands'], work: () => Promise<unknown>) =>
      (await commands.during(work)).bytesOut

    it('are loaded with their owner in one round trip more', async () => {
      for (const name of ['hash', 'days', 'demand'] as const) {
        let loaded: Owner | undefined
        const { roundTrips } = await trafficOf(async () => {
          loaded = await db.session().load(Owner, 'many', { with: [name] })
        })
        expect(roundTrips, name).to.equal(2)
        expect(idsOf(loaded![name].items)).to.deep.equal(Array.from({ length: MANY }, (_, i) => id(i)))
      }
    })

    it('ask one shard, and the owner that says which it is, for one child', async () => {
      for (const name of BY_HASH) {
        const { commands, roundTrips } = await trafficOf(() =>
          db.session().at(Owner, 'many').collection(name).contains(id(700)),
        )
        expect([commands, roundTrips], name).to.deep.equal([2, 1])
      }
    })

    it('take at most a page of each record for a page, and for the first and last', async function () {
      const { commands } = need(this, server.embedded, 'only the embedded server counts the bytes of answers')
      for (const name of BY_HASH)
        for (const ask of [
          (owner: Owner) => owner[name].page({ count: 5 }),
          async (owner: Owner) => owner[name].page({ count: 5, after: (await owner[name].page({ count: 3 })).next! }),
          (owner: Owner) => owner[name].first(3),
          (owner: Owner) => owner.hash.by('recent').page({ offset: 0, count: 4 }),
        ]) {
          const bytes: number[] = []
          const seen: string[][] = []
          for (const key of ['few', 'many']) {
            const owner = await db.session().load(Owner, key)
            bytes.push(await bytesOf(commands, async () => seen.push(idsOf(await ask(owner)))))
          }
          expect(seen[1]).to.deep.equal(seen[0])
          // The first children of all records are the same, whether 60 or 1,200 follow.
          expect(bytes[1], `${name}, ${String(ask)}`).to.equal(bytes[0])
        }
    })

    it('end with the newest that are asked for', async function () {
      const { commands } = need(this, server.embedded, 'only the embedded server counts the bytes of answers')
      for (const name of BY_HASH) {
        const { [name]: lines } = await db.session().load(Owner, 'many')
        const all = await bytesOf(commands, () => lines.keys())
        const last = await bytesOf(commands, async () =>
          expect(idsOf(await lines.last(3))).to.deep.equal([MANY - 3, MANY - 2, MANY - 1].map(id)),
        )
        expect(last, name).to.be.below(all / 10)
      }
      const { days } = await db.session().load(Owner, 'many')
      const { commands: asked } = await trafficOf(async () =>
        expect(idsOf(await days.last(3))).to.deep.equal([MANY - 3, MANY - 2, MANY - 1].map(id)),
      )
      // The owner's list, and the newest day.
      expect(asked).to.equal(2)
    })

    it('are streamed a bounded number at a time', async function () {
      const { commands } = need(this, server.embedded, 'only the embedded server counts the bytes of answers')
      for (const name of ['hash', 'days', 'demand'] as const) {
        const whole = await bytesOf(commands, async () => (await db.session().load(Owner, 'many'))[name].load())
        const { [name]: lines } = await db.session().load(Owner, 'many')
        const step = await bytesOf(commands, async () => {
          for await (const line of lines.stream()) {
            expect(line.id).to.equal(id(0))
            break
          }
        })
        // 256 of each record, of 1,200 children in all.
        expect(step, name).to.be.below(0.6 * whole)
        const streamed: string[] = []
        for await (const line of lines.stream()) streamed.push(line.id)
        expect(streamed).to.deep.equal(Array.from({ length: MANY }, (_, i) => id(i)))
      }
    })
  })
}
