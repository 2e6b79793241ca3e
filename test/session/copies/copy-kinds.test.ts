import { expect } from 'chai'
import { Bin, Copy, DeletedAt, Key, ManyToOne, OneToMany, Record, Sharded, collection, ref, type Database } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'ck_person', tenant: true, discriminator: 'kind', discriminatorValue: 'person' })
class Person {
  @Key() id!: string
  @Bin() name?: string
  @Sharded({ by: 'hash', shards: 3 }) @OneToMany(() => Item, 'owner') items = collection<Item>()
}

@Record({ discriminatorValue: 'boss' })
class Boss extends Person {
  @Bin() rank?: number
}

@Record({ set: 'ck_item', tenant: true, discriminator: 'kind', discriminatorValue: 'item' })
class Item {
  @Key() id!: string
  @ManyToOne(() => Person, 'items') owner = ref<Person>()
  @Copy((item: Item) => item.owner, 'name') ownerName?: string
  @DeletedAt() deletedAt?: Date
}

@Record({ discriminatorValue: 'book' })
class Book extends Item {
  @Bin() pages?: number
}

const ALL = [Person, Boss, Item, Book]

for (const mode of MODES) {
  describe(`copies of subclasses, tenants and collections in companion records (${mode})`, () => {
    let db: Database
    useDatabase(mode, ALL, (opened) => ({ db } = opened))

    const fill = (tenant: string, name: string): Promise<unknown> =>
      db.withSession(
        (session) => {
          const boss = session.create(Boss, { id: 'b', name, rank: 1 })
          session.create(Book, { id: 'x', owner: boss, pages: 3 })
          session.create(Item, { id: 'y', owner: boss })
        },
        { tenant },
      )
    const names = async (tenant: string): Promise<unknown[]> =>
      (await db.session({ tenant }).findMany(Item, ['x', 'y'], { deleted: 'include' })).map((each) => each?.ownerName)
    const stale = async (tenant: string): Promise<string[]> => {
      const found: string[] = []
      for await (const { message } of db.verify([Item, Person], { settle: 0, tenant })) found.push(message)
      return found
    }

    it('follow their own sources, and no others', async () => {
      await fill('t1', 'Ann')
      await fill('t2', 'Eve')
      const session = db.session({ tenant: 't1' })
      const [boss, book] = [await session.load(Person, 'b'), await session.load(Book, 'x')]
      boss.name = 'Anna'
      await session.save(boss)
      expect(book.ownerName).to.equal('Anna')
      expect([await names('t1'), await names('t2')]).to.deep.equal([
        ['Anna', 'Anna'],
        ['Eve', 'Eve'],
      ])
      expect([...(await stale('t1')), ...(await stale('t2'))]).to.deep.equal([])
      expect(await db.copies.refresh(Person, { tenant: 't2' })).to.equal(0)
    })

    it('of what is deleted softly are those of before until they are restored and refreshed', async () => {
      await fill('t1', 'Ann')
      const session = db.session({ tenant: 't1' })
      await session.delete(Item, 'y')
      const boss = await session.load(Person, 'b')
      boss.name = 'Anna'
      await session.save(boss)
      expect((await names('t1'))[0]).to.equal('Anna')
      await session.restore(Item, 'y')
      await db.copies.refresh(Person, { tenant: 't1' })
      expect(await names('t1')).to.deep.equal(['Anna', 'Anna'])
      expect(await stale('t1')).to.deep.equal([])
    })
  })
}
