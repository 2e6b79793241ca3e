import Aerospike from 'aerospike'
import { expect } from 'chai'
import {
  Companion,
  DeletedAt,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  Sharded,
  collection,
  ref,
  type Database,
  type Finding,
} from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'vsd-shop' })
class Shop {
  @Key() id!: number
  @DeletedAt() closedAt?: Date
  @OneToMany(() => Item, 'plain') plains = collection<Item>()
  @Companion({ subkeys: 'inOne' }) @OneToMany(() => Item, 'apart') aparts = collection<Item>()
  @Sharded({ by: 'hash', shards: 2, subkeys: 'inMany' }) @OneToMany(() => Item, 'sharded') shardeds = collection<Item>()
  @Sharded({ by: 'day', subkeys: 'inDays' }) @OneToMany(() => Item, 'dated') dateds = collection<Item>()
  @Sharded({ by: 'hash', shards: 2, when: { members: 9 }, subkeys: 'inMore' })
  @OneToMany(() => Item, 'growing')
  growings = collection<Item>()
}

@Record({ set: 'vsd-item' })
class Item {
  @Key() id!: number
  @ManyToOne(() => Shop, 'plains') plain = ref<Shop>()
  @ManyToOne(() => Shop, 'aparts') apart = ref<Shop>()
  @ManyToOne(() => Shop, 'shardeds') sharded = ref<Shop>()
  @ManyToOne(() => Shop, 'dateds') dated = ref<Shop>()
  @ManyToOne(() => Shop, 'growings') growing = ref<Shop>()
}

const SIDES = { plain: 'plains', apart: 'aparts', sharded: 'shardeds', dated: 'dateds', growing: 'growings' } as const
const REFS = Object.keys(SIDES) as (keyof typeof SIDES)[]

for (const mode of MODES) {
  describe(`verify of what is deleted softly (${mode})`, () => {
    let db: Database
    let namespace: string
    useDatabase(mode, [Shop, Item], (opened) => ({ db, namespace } = opened))

    const findings = async (repair: boolean): Promise<Finding['state'][]> => {
      const found: Finding['state'][] = []
      for await (const { state } of db.verify([Shop, Item], { settle: 0, repair })) found.push(state)
      return found
    }

    for (const name of REFS)
      it(`puts a child on the list of the parent that it names, so that a restore shows it: ${name}`, async () => {
        await db.withSession((session) => {
          session.create(Shop, { id: 1 })
          session.create(Item, { id: 1 })
        })
        await db.session().delete(Shop, 1)
        await db.client.put(new Aerospike.Key(namespace, 'vsd-item', 1), { [name]: 1 })
        expect(await findings(true)).to.deep.equal(['repaired'])
        expect(await findings(false)).to.deep.equal([])
        await db.session().restore(Shop, 1)
        const { items } = (await db.session().load(Shop, 1, { with: [SIDES[name]] }))[SIDES[name]]
        expect(items.map(({ id }) => id)).to.deep.equal([1])
      })
  })
}
