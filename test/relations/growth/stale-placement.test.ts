import { expect } from 'chai'
import { Bin, Embeddable, Key, OneToMany, Record, Sharded, collection, type Database } from 'skein'
import { trafficOf } from '../../../examples/traffic.js'
import { hashShard } from '#src/keys/index.js'
import { expectRoundTrips } from '../../expect-round-trips.js'
import { MODES, type TestServer } from '../../server.js'
import { storedBins } from '../../stored-bins.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'st_item' })
class Item {
  @Key() id!: string
}

@Embeddable()
class Note {
  @Key() id!: string
  @Bin() text?: string
}

/** Keeps keys and children in its record, or in as many shards as somebody has split it into. */
@Record({ set: 'st_owner' })
class Owner {
  @Key() id!: string
  @Sharded({ by: 'hash', shards: 4, when: {}, subkeys: 'itemsIn' }) @OneToMany(() => Item) items = collection<Item>()
  @Sharded({ by: 'hash', shards: 4, when: {}, subkeys: 'notesIn' })
  @OneToMany(() => Note, { strategy: 'consolidate' })
  notes = collection<Note>()
}

const CLASSES = [Owner, Item]
const NAMES = ['items', 'notes'] as const
type Name = (typeof NAMES)[number]
const ids = Array.from({ length: 12 }, (_, i) => `m${i}`)
const memberOf = (name: Name, id: string): never =>
  (name === 'items' ? id : Object.assign(new Note(), { id, text: id })) as never

for (const mode of MODES) {
  describe(`a process that knows an earlier number of shards (${mode})`, () => {
    let db: Database
    let other: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, CLASSES, (opened) => ({ db, server, namespace } = opened))
    beforeEach(async () => {
      other = await server.open({ namespace, entities: CLASSES })
      await db.withSession((session) => {
        const owner = session.create(Owner, { id: 'o' })
        for (const name of NAMES) owner[name].add(...ids.map((id) => memberOf(name, id)))
      })
    })
    afterEach(() => other.close())

    const asked = (name: Name, of = db) => of.session().at(Owner, 'o').collection(name)
    const change = (name: Name, id: string, isAdd: boolean): Promise<unknown> =>
      db.withSession((session) => {
        const members = session.at(Owner, 'o').collection(name)
        if (isAdd) members.add(memberOf(name, id))
        else members.remove(id)
      })
    /** Splits in the other process what this one has asked about before. */
    const splitElsewhere = async (name: Name, shards: number): Promise<void> => {
      await asked(name).count()
      await asked(name, other).shard(shards)
    }
    const homesOf = async (name: Name, id: string, shards: number): Promise<boolean[]> => {
      const all = Array.from({ length: shards }, (_, shard) =>
        storedBins(db, namespace, `st_owner_${name}`, `o:${shard}`),
      )
      return (await Promise.all(all)).map((bins) => {
        const stored = bins?.[name] as string[] | { [key: string]: unknown }
        return Array.isArray(stored) ? stored.includes(id) : id in stored
      })
    }

    for (const name of NAMES) {
      for (const shards of [2, 5])
        it(`sends a change of ${name} to its place after one question, and later ones at once: ${shards} shards`, async () => {
          if (shards === 5) await asked(name, other).shard(2)
          await splitElsewhere(name, shards)
          const first = await trafficOf(() => change(name, 'new', true))
          // It is refused, the owner is asked, and it is sent again.
          expect([first.commands, first.roundTrips]).to.deep.equal([3, 3])
          const expected = Array.from({ length: shards }, (_, shard) => shard === hashShard('new', shards))
          expect(await homesOf(name, 'new', shards)).to.deep.equal(expected)
          const later = await trafficOf(() => change(name, 'newer', true))
          expect([later.commands, later.roundTrips]).to.deep.equal([1, 1])
        })

      it(`takes ${name} out where they are after one question`, async () => {
        await splitElsewhere(name, 3)
        const { commands } = await trafficOf(() => change(name, 'm4', false))
        expect(commands).to.equal(3)
        expect(await asked(name, other).keys()).to.deep.equal(ids.filter((id) => id !== 'm4').sort())
      })

      it(`reads ${name} in one round trip more, once`, async () => {
        for (const shards of [2, 3]) {
          await asked(name).count()
          const known = (await trafficOf(() => asked(name).count())).roundTrips
          await asked(name, other).shard(shards)
          const first = await trafficOf(async () => expect(await asked(name).count()).to.equal(ids.length))
          expectRoundTrips(first.roundTrips, known + 1)
          const later = await trafficOf(async () => expect(await asked(name).contains('m7')).to.equal(true))
          expectRoundTrips(later.roundTrips, 1)
        }
      })
    }
  })
}
