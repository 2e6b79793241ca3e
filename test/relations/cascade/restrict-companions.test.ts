import { expect } from 'chai'
import {
  Companion,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  RestrictedError,
  Sharded,
  collection,
  ref,
  type Database,
  type EntityClass,
} from 'skein'
import { MODES } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'rc_item' })
class Item {
  @Key() id!: number
  @ManyToOne(() => Shelf, 'items') shelf = ref<Shelf>()
  @ManyToMany(() => Guild, 'items') guilds = collection<Guild>()
}

/** Keeps those that say whose they are in shards. */
@Record({ set: 'rc_shelf' })
class Shelf {
  @Key() id!: number
  @Sharded({ by: 'hash', shards: 3 }) @OneToMany(() => Item, 'shelf', { onDelete: 'restrict' }) items =
    collection<Item>()
}

/** Keeps links of two sides in a companion. */
@Record({ set: 'rc_guild' })
class Guild {
  @Key() id!: number
  @Companion() @ManyToMany(() => Item, 'guilds', { owner: true, onDelete: 'restrict' }) items = collection<Item>()
}

/** Keeps those that know nothing of it by the day. */
@Record({ set: 'rc_album' })
class Album {
  @Key() id!: number
  @Sharded({ by: 'day' }) @OneToMany(() => Item, { onDelete: 'restrict' }) items = collection<Item>()
}

/** Keeps them in its record until it is split. */
@Record({ set: 'rc_list' })
class List {
  @Key() id!: number
  @Sharded({ by: 'hash', shards: 3, when: {} }) @OneToMany(() => Item, { onDelete: 'restrict' }) items =
    collection<Item>()
}

type Owner = EntityClass<{ id: number; items: Shelf['items'] }>
const OWNERS: readonly Owner[] = [Shelf, Guild, Album, List]
const CLASSES = [...OWNERS, Item]

for (const mode of MODES) {
  describe(`a relation in companions that forbids a delete (${mode})`, () => {
    let db: Database
    let namespace: string
    useDatabase(mode, CLASSES, (opened) => ({ db, namespace } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        for (const owner of OWNERS) session.create(owner, { id: 1 })
        for (let id = 1; id <= 4; id++) session.create(Item, { id })
      })
      await db.withSession((session) => {
        for (const owner of OWNERS) session.at(owner, 1).collection('items').add(2, 3)
      })
      await db.session().at(List, 1).collection('items').shard(3)
    })
    const companions = async (owner: Owner): Promise<number> => {
      const set = `rc_${owner.name.toLowerCase()}_items`
      return (await db.client.query(namespace, set).results()).length
    }

    for (const owner of OWNERS) {
      it(`names a member that is still there, and leaves all as it was: ${owner.name}`, async () => {
        const error = (await rejection(() => db.session().delete(owner, 1))) as Error
        expect(error).to.be.instanceOf(RestrictedError)
        expect(error.message).to.match(/Item [23]/)
        const { items } = await db.session().load(owner, 1)
        expect([...(await items.keys())].sort()).to.deep.equal([2, 3])
        await db.withSession((session) => void session.at(owner, 1).collection('items').add(4))
        expect([...(await items.keys())].sort()).to.deep.equal([2, 3, 4])
      })

      it(`does not count what is taken out or deleted, and goes with its companions then: ${owner.name}`, async () => {
        await db.withSession(async (session) => {
          const loaded = await session.load(owner, 1)
          loaded.items.remove(2)
          session.remove(await session.load(Item, 3))
          session.remove(loaded)
        })
        expect(await db.session().find(owner, 1)).to.equal(null)
        expect(await companions(owner)).to.equal(0)
        expect(await db.session().find(Item, 2)).not.to.equal(null)
      })
    }
  })
}
