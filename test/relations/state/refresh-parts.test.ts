import { expect } from 'chai'
import { Bin, Embeddable, Key, ManyToMany, ManyToOne, OneToMany, Record, collection, ref, type Database } from 'skein'
import { MODES } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { useDatabase } from '../../use-database.js'

@Embeddable()
class Dish {
  @Key() id!: string
  @Bin() price?: number
  @Bin() note?: string
  @ManyToOne(() => Guest) cook = ref<Guest>()
}

@Record({ set: 'refresh-menu' })
class Menu {
  @Key() id!: number
  @OneToMany(() => Dish, { strategy: 'consolidate' }) dishes = collection<Dish>()
  @OneToMany(() => Dish, { strategy: 'consolidate', sortKey: ['price'], eager: false }) specials = collection<Dish>()
}

@Embeddable()
class Booking {
  @Bin() seats!: number
  @Bin() note?: string
}

@Record({ set: 'refresh-guest' })
class Guest {
  @Key() id!: number
  @ManyToMany(() => Table, 'guests', { owner: true, attributes: () => Booking }) tables = collection<Table, Booking>()
}

@Record({ set: 'refresh-table' })
class Table {
  @Key() id!: string
  @ManyToMany(() => Guest, 'tables', { attributes: () => Booking }) guests = collection<Guest, Booking>()
}

const dish = (id: string, price: number): Dish => Object.assign(new Dish(), { id, price })

for (const mode of MODES) {
  describe(`what is stored inside a record, and a refresh of it (${mode})`, () => {
    let db: Database
    let namespace: string
    useDatabase(mode, [Menu, Guest, Table], (opened) => ({ db, namespace } = opened))
    beforeEach(async () => {
      await db.withSession(async (session) => {
        const menu = session.create(Menu, { id: 1 })
        menu.dishes.add(dish('a', 1), dish('b', 2))
        menu.specials.add(dish('a', 1), dish('b', 2))
        const guest = session.create(Guest, { id: 1 })
        guest.tables.link(session.create(Table, { id: 'x' }), { seats: 2 })
        guest.tables.link(session.create(Table, { id: 'y' }), { seats: 3 })
      })
    })

    it('leaves all as it was when a child or the attributes of a link cannot be read', async () => {
      const session = db.session()
      const [menu, guest] = [await session.load(Menu, 1), await session.load(Guest, 1)]
      const a = (await menu.dishes.get('a'))!
      const x = (await guest.tables.attributesOf('x'))!
      a.note = 'mine'
      const broken = (set: string, bins: object): Promise<unknown> =>
        db.client.put({ ns: namespace, set, key: 1 }, bins as never)
      await broken('refresh-menu', { dishes: { a: { id: 'a', price: 5 }, b: { id: 'b', price: 'much' } } })
      await broken('refresh-guest', { tables: { x: { seats: 9, note: 8 } } })
      for (const entity of [menu, guest])
        expect(await rejection(() => session.refresh(entity))).to.have.property('code', 'SKEIN_3101')
      expect(a).to.deep.include({ price: 1, note: 'mine' })
      expect(await menu.dishes.get('b')).to.have.property('price', 2)
      expect(x).to.deep.include({ seats: 2 })
      expect([session.isDirty(menu), session.isDirty(guest)]).to.deep.equal([true, false])
    })

    for (const property of ['dishes', 'specials'] as const) {
      const stored = async (id: string): Promise<Dish | null> => db.session().at(Menu, 1).collection(property).get(id)

      it(`keeps the instances of children, so that a change of one is still saved (${property})`, async () => {
        const session = db.session()
        const menu = await session.load(Menu, 1)
        const a = (await menu[property].get('a'))!
        a.note = 'lost'
        await session.refresh(menu)
        expect(a.note).to.equal(undefined)
        expect(await menu[property].get('a')).to.equal(a)
        expect(session.isDirty()).to.equal(false)
        a.price = 5
        expect(session.isDirty(menu)).to.equal(true)
        await session.flush()
        expect(await stored('a')).to.deep.include({ price: 5 })
      })

      it(`brings children up to date, so that a change that was a conflict can be repeated (${property})`, async () => {
        const session = db.session()
        const menu = await session.load(Menu, 1)
        const [a, b] = await menu[property].getMany(['a', 'b'])
        await db.withSession(async (other) => {
          const children = other.at(Menu, 1).collection(property)
          const changed = (await children.get('b'))!
          changed.price = 9
          changed.cook.set(1)
          children.remove('a')
        })
        a!.note = 'here'
        b!.note = 'here'
        expect(await session.flush().catch((error: unknown) => error)).to.have.property('code', 'SKEIN_3004')
        const { cook } = b!
        await session.refresh(menu)
        expect(b).to.include({ price: 9, note: undefined, cook })
        expect(cook.key).to.equal(1)
        expect((await cook.load())?.id).to.equal(1)
        b!.note = 'again'
        await session.flush()
        expect(await stored('b')).to.deep.include({ price: 9, note: 'again' })
      })

      it(`drops a child that is gone: its changes are not sent until it is added again (${property})`, async () => {
        const session = db.session()
        const menu = await session.load(Menu, 1)
        const a = (await menu[property].get('a'))!
        await db.withSession(async (other) => other.at(Menu, 1).collection(property).remove('a'))
        await session.refresh(menu)
        a.price = 5
        expect(session.isDirty()).to.equal(false)
        expect(await menu[property].get('a')).to.equal(null)
        menu[property].add(a)
        await session.flush()
        expect(await stored('a')).to.deep.include({ price: 5 })
      })
    }

    const storedSeats = async (table: string): Promise<(number | undefined)[]> => [
      (await db.session().at(Guest, 1).collection('tables').attributesOf(table))?.seats,
      (await db.session().at(Table, table).collection('guests').attributesOf(1))?.seats,
    ]

    it('keeps the attributes of links, so that a change of them is still saved on both sides', async () => {
      const session = db.session()
      const guest = await session.load(Guest, 1)
      const booking = (await guest.tables.attributesOf('x'))!
      await db.withSession(async (other) => {
        const theirs = (await other.at(Guest, 1).collection('tables').attributesOf('x'))!
        theirs.note = 'window'
      })
      booking.seats = 99
      await session.refresh(guest)
      expect(booking).to.deep.include({ seats: 2, note: 'window' })
      expect(await guest.tables.attributesOf('x')).to.equal(booking)
      expect(session.isDirty()).to.equal(false)
      booking.seats = 7
      await session.flush()
      expect(await storedSeats('x')).to.deep.equal([7, 7])
    })

    it('drops the attributes of a link that is gone', async () => {
      const session = db.session()
      const guest = await session.load(Guest, 1)
      const booking = (await guest.tables.attributesOf('x'))!
      await db.withSession(async (other) => other.at(Guest, 1).collection('tables').remove('x'))
      await session.refresh(guest)
      booking.seats = 7
      expect(session.isDirty()).to.equal(false)
      expect(await guest.tables.attributesOf('x')).to.equal(null)
      guest.tables.link('x', booking)
      await session.flush()
      expect(await storedSeats('x')).to.deep.equal([7, 7])
    })
  })
}
