import { expect } from 'chai'
import {
  Bin,
  Key,
  ManyToOne,
  OneToMany,
  OneToOne,
  Record,
  RestrictedError,
  collection,
  ref,
  type Database,
  type Session,
} from 'skein'
import { MODES } from '../../../server.js'
import { useDatabase } from '../../../use-database.js'
import { rejection } from '../../../session/rejection.js'

@Record({ set: 'keyref-order' })
class Order {
  @Key() id!: number
  @OneToMany(() => Item, 'order', { onDelete: 'detach', orphans: 'keep' }) items = collection<Item>()
  @OneToMany(() => Note, 'order', { strategy: 'secondaryIndex' }) notes = collection<Note>()
  @OneToMany(() => Parcel, 'order', { onDelete: 'cascade', orphans: 'delete' }) parcels = collection<Parcel>()
  @OneToOne(() => Bill, 'order', { owner: true }) bill = ref<Bill>()
}

@Record({ set: 'keyref-item', key: 'order:{order}:item:{no}' })
class Item {
  @ManyToOne(() => Order, 'items') order = ref<Order>()
  @Bin() no!: number
  @Bin() text?: string
}

@Record({ set: 'keyref-note', key: 'order:{order}:note:{no}' })
class Note {
  @ManyToOne(() => Order, 'notes') order = ref<Order>()
  @Bin() no!: number
}

@Record({ set: 'keyref-parcel', key: 'order:{order}:parcel:{no}' })
class Parcel {
  @ManyToOne(() => Order, 'parcels') order = ref<Order>()
  @Bin() no!: number
}

@Record({ set: 'keyref-bill', key: '{order}:bill:{no}' })
class Bill {
  @OneToOne(() => Order, 'bill') order = ref<Order>()
  @Bin() no!: number
}

const CLASSES = [Order, Item, Note, Parcel, Bill]
const ITEM = 'order:1:item:1'
const NOTE = 'order:1:note:1'
const BILL = '1:bill:1'

for (const mode of MODES) {
  describe(`a reference that is part of its record's key (${mode})`, () => {
    let db: Database
    let session: Session
    useDatabase(mode, CLASSES, (opened) => ({ db } = opened))
    beforeEach(async () => {
      await db.withSession(async (made) => {
        const order = made.create(Order, { id: 1 })
        made.create(Order, { id: 2 })
        order.items.add(Object.assign(new Item(), { no: 1 }))
        order.notes.add(Object.assign(new Note(), { no: 1 }))
        order.parcels.add(Object.assign(new Parcel(), { no: 1 }))
        order.bill.set(Object.assign(new Bill(), { no: 1 }))
      })
      session = db.session()
    })

    /** Everything is as it was made, and can be read. */
    const expectUntouched = async () => {
      const order = await db.session().load(Order, 1, { with: ['items.order', 'notes.order', 'bill.order'] })
      for (const { order: owner } of [order.items.items[0], order.notes.items[0], order.bill.value!])
        expect(owner.value).to.equal(order)
      const other = await db.session().load(Order, 2, { with: ['items', 'notes'] })
      expect([other.items.items.length, other.notes.items.length, other.bill.key]).to.deep.equal([0, 0, null])
      for await (const { message } of db.verify(CLASSES, { settle: 0 })) expect.fail(message)
    }

    const expectKeyKept = async (change: () => unknown) => {
      await change()
      expect(await rejection(() => session.flush())).to.have.property('code', 'SKEIN_2203')
      await expectUntouched()
    }

    it('cannot be set to another or to nothing', async () => {
      for (const to of [2, null]) {
        session = db.session()
        await expectKeyKept(async () => (await session.load(Item, ITEM)).order.set(to))
        session = db.session()
        await expectKeyKept(async () => (await session.load(Note, NOTE)).order.set(to))
        session = db.session()
        await expectKeyKept(async () => (await session.load(Bill, BILL)).order.set(to))
      }
    })

    it('may be set to what it is', async () => {
      const item = await session.load(Item, ITEM)
      item.order.set(await session.load(Order, 1))
      session.at(Order, 1).collection('items').add(ITEM)
      session.at(Order, 1).collection('notes').add(NOTE)
      item.text = 'changed'
      await session.flush()
      await expectUntouched()
      expect((await db.session().load(Item, ITEM)).text).to.equal('changed')
    })

    it('keeps a record from being moved to another collection', async () => {
      await expectKeyKept(async () => {
        const [item, other] = [await session.load(Item, ITEM), await session.load(Order, 2)]
        other.items.add(item)
      })
      for (const [name, key] of [['items', ITEM] as const, ['notes', NOTE] as const]) {
        session = db.session()
        await expectKeyKept(() => session.at(Order, 2).collection(name).add(key))
      }
      session = db.session()
      await expectKeyKept(async () => (await session.load(Order, 2)).bill.set(BILL))
    })

    it('keeps a record from being taken out of its collection', async () => {
      for (const name of ['items', 'notes'] as const) {
        session = db.session()
        await expectKeyKept(async () => {
          const { [name]: members } = await session.load(Order, 1, { with: ['items', 'notes'] })
          members.remove(members.items[0])
        })
      }
      for (const [name, key] of [['items', ITEM] as const, ['notes', NOTE] as const]) {
        session = db.session()
        await expectKeyKept(() => session.at(Order, 1).collection(name).remove(key))
      }
      session = db.session()
      await expectKeyKept(async () => (await session.load(Order, 1)).bill.set(null))
    })

    it('lets a record be taken out of a collection that deletes what leaves it', async () => {
      const order = await session.load(Order, 1, { with: ['parcels'] })
      order.parcels.remove(order.parcels.items[0])
      await session.flush()
      expect(await db.session().find(Parcel, 'order:1:parcel:1')).to.equal(null)
      await expectUntouched()
    })

    it('forbids deleting what it points to, unless its record is deleted, too', async () => {
      const error = await rejection(() => session.delete(Order, 1))
      expect(error).to.be.instanceOf(RestrictedError)
      expect((error as Error).message).to.contain('order is part of its key')
      await expectUntouched()
      const next = db.session()
      next.remove(await next.load(Item, ITEM))
      next.remove(await next.load(Note, NOTE))
      next.remove(await next.load(Bill, BILL))
      next.remove(await next.load(Order, 1))
      await next.flush()
      for (const each of CLASSES.slice(1))
        expect(
          (await db.client.query(db.model.entity(each).namespace, db.model.entity(each).set).results()).length,
        ).to.equal(0)
      expect(await db.session().find(Order, 1)).to.equal(null)
    })

    it('stays though what it points to is not there', async () => {
      const item = Object.assign(new Item(), { no: 1 })
      item.order.set(9)
      const note = Object.assign(new Note(), { no: 1 })
      note.order.set(9)
      expect(await rejection(() => session.save(item))).to.be.instanceOf(Error)
      expect(await rejection(() => db.session().save(note))).to.be.instanceOf(Error)
      for (const each of [
        await db.session().find(Item, 'order:9:item:1'),
        await db.session().find(Note, 'order:9:note:1'),
      ])
        expect(each === null || each.order.key === 9).to.equal(true)
      for await (const finding of db.verify(CLASSES, { settle: 0, repair: true }))
        expect(finding).to.include({ kind: 'danglingKey', repair: 'none', state: 'found' })
    })
  })
}
