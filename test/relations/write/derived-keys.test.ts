import 'reflect-metadata'
import { expect } from 'chai'
import { Bin, collection, Key, ManyToOne, OneToMany, Record, ref, type Database, type SkeinError } from 'skein'
import { MODES } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'dk_order' })
class Order {
  @Key({ generate: 'uuid' }) id!: string
  @OneToMany(() => Item, 'order', { onDelete: 'cascade' }) items = collection<Item>()
}
@Record({ set: 'dk_item', key: '{order}/item/{line}' })
class Item {
  @ManyToOne(() => Order, 'items') order = ref<Order>()
  @Bin() line!: number
  @OneToMany(() => Note, 'item', { onDelete: 'cascade' }) notes = collection<Note>()
}
@Record({ set: 'dk_note', key: '{item}#{n}' })
class Note {
  @ManyToOne(() => Item, 'notes') item = ref<Item>()
  @Bin() n!: number
}
@Record({ set: 'dk_bill', key: 'tenant:{tenant}:bill:{no}', tenant: true })
class Bill {
  @Bin() tenant!: string
  @Bin() no!: number
  @OneToMany(() => Entry, 'bill', { onDelete: 'cascade' }) entries = collection<Entry>()
}
@Record({ set: 'dk_entry', key: '{bill}:entry:{line}' })
class Entry {
  @ManyToOne(() => Bill, 'entries') bill = ref<Bill>()
  @Bin() line!: number
}
@Record({ set: 'dk_like', key: '{note}~{item}~{at}' })
class Like {
  @ManyToOne(() => Note) note = ref<Note>()
  @ManyToOne(() => Item) item = ref<Item>()
  @Bin() at!: number
}

const CLASSES = [Order, Item, Note, Bill, Entry, Like]
const make = <T extends object>(made: T, values: Partial<T>): T => Object.assign(made, values)
const item = (line: number): Item => make(new Item(), { line })
const note = (n: number): Note => make(new Note(), { n })

for (const mode of MODES) {
  describe(`a key made of the key of a parent (${mode})`, () => {
    let db: Database
    useDatabase(mode, CLASSES, (opened) => ({ db } = opened))

    const stored = async (key: string): Promise<string[]> => {
      const session = db.session()
      const [order, line, text] = [
        await session.load(Order, key, { with: ['items.notes'] }),
        await session.load(Item, `${key}/item/1`, { with: ['order'] }),
        await session.load(Note, `${key}/item/1#1`, { with: ['item.order'] }),
      ]
      expect(order.items.items).to.deep.equal([line])
      expect(line.notes.items).to.deep.equal([text])
      expect(text.item.value?.order.value).to.equal(order)
      return [order.id, String(line.order.key), String(text.item.key)]
    }

    it('is made over three levels, whichever of them is saved', async () => {
      const ways: [string, (order: Order, line: Item, text: Note) => Promise<unknown>][] = [
        [
          'parents first',
          async (order, line, text) => {
            order.items.add(line)
            line.notes.add(text)
            await db.session().save(order)
          },
        ],
        [
          'children first',
          async (order, line, text) => {
            line.notes.add(text)
            order.items.add(line)
            await db.session().save(order)
          },
        ],
        [
          'by references',
          async (order, line, text) => {
            line.order.set(order)
            text.item.set(line)
            await db.session().save(text)
          },
        ],
        [
          'in a session',
          async (order, line, text) => {
            const session = db.session()
            session.persist(order).items.add(line)
            line.notes.add(text)
            await session.flush()
          },
        ],
        [
          'in two saves',
          async (order, line, text) => {
            const session = db.session()
            order.items.add(line)
            await session.save(order)
            line.notes.add(text)
            await session.save(line)
          },
        ],
      ]
      for (const [title, save] of ways) {
        for (const id of [`k ${title}`, undefined]) {
          const order = id === undefined ? new Order() : make(new Order(), { id })
          await save(order, item(1), note(1))
          expect(await stored(order.id), title).to.deep.equal([order.id, order.id, `${order.id}/item/1`])
        }
      }
    })

    it('is made by create of what its relations are given', async () => {
      const session = db.session()
      const order = session.create(Order, { id: 'c' })
      const line = session.create(Item, { order, line: 1 })
      session.create(Note, { item: line, n: 1 })
      await session.flush()
      expect(await stored('c')).to.deep.equal(['c', 'c', 'c/item/1'])
      session.create(Item, { order: 'c', line: 2 })
      await session.flush()
      expect((await db.session().load(Item, 'c/item/2')).order.key).to.equal('c')
    })

    it('that lacks its parent is refused with the way to give it', async () => {
      const error = (await rejection(() => db.session().create(Item, { line: 1 }))) as SkeinError
      expect(error.code).to.equal('SKEIN_2102')
      expect(error.message).to.match(/Item\.order is not set.*create\(Item, \{ order \}\)/)
    })

    it('takes the tenant that the session fills in at its parent', async () => {
      const tenant = { tenant: 'acme' }
      const session = db.session(tenant)
      const bill = make(new Bill(), { no: 1 })
      bill.entries.add(make(new Entry(), { line: 1 }))
      await session.save(bill)
      const lone = make(new Entry(), { line: 2 })
      lone.bill.set(make(new Bill(), { no: 2 }))
      await db.session(tenant).save(lone)
      const again = db.session(tenant)
      const owner = await again.load(Bill, { no: 2 })
      const fourth = make(new Entry(), { line: 4 })
      fourth.bill.set(owner)
      await again.save(fourth)
      const read = db.session(tenant)
      const keys = ['tenant:acme:bill:1:entry:1', 'tenant:acme:bill:2:entry:2', 'tenant:acme:bill:2:entry:4']
      const entries = await read.loadMany(Entry, keys, { with: ['bill'] })
      expect(entries.map(({ bill: { value } }) => value?.no)).to.deep.equal([1, 2, 2])
      expect(await (await read.load(Bill, { no: 2 })).entries.keys()).to.include.members(keys.slice(1))
    })

    it('may be made of the keys of two parents', async () => {
      const order = make(new Order(), { id: 'o~%/1' })
      const [line, text] = [item(1), note(1)]
      order.items.add(line)
      line.notes.add(text)
      const session = db.session()
      await session.save(order)
      session.create(Like, { note: text, item: line, at: 5 })
      await session.flush()
      const key = { note: 'o~%/1/item/1#1', item: 'o~%/1/item/1', at: 5 }
      const found = await db.session().load(Like, key, { with: ['note', 'item'] })
      expect([found.note.value?.n, found.item.value?.line, found.at]).to.deep.equal([1, 1, 5])
    })
  })
}
