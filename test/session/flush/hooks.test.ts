import 'reflect-metadata'
import { expect } from 'chai'
import {
  AfterDelete,
  AfterLoad,
  AfterSave,
  BeforeDelete,
  BeforeSave,
  Bin,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  collection,
  ref,
  type Session,
  type SkeinError,
} from 'skein'
import { Person } from '../models.js'
import { inEachMode } from '../modes.js'
import { rejection } from '../rejection.js'

let calls: string[] = []
let during: { [hook: string]: ((entity: Thing) => unknown) | undefined } = {}

async function note(hook: string, thing: Thing): Promise<void> {
  calls.push(`${hook} ${thing.name}`)
  await during[hook]?.(thing)
}

abstract class Hooked {
  @BeforeSave() first(): void {
    calls.push('base')
  }
}

@Record({ set: 'thing' })
class Thing extends Hooked {
  @Key() id!: string
  @Bin() name!: string
  @Bin() slug?: string

  @BeforeSave() beforeSave(): Promise<void> {
    this.slug = this.name.toLowerCase()
    return note('beforeSave', this)
  }
  @AfterSave() afterSave(): Promise<void> {
    return note('afterSave', this)
  }
  @AfterLoad() afterLoad(): Promise<void> {
    return note('afterLoad', this)
  }
  @BeforeDelete() beforeDelete(): Promise<void> {
    return note('beforeDelete', this)
  }
  @AfterDelete() afterDelete(): Promise<void> {
    return note('afterDelete', this)
  }
}

@Record({ set: 'hookShelf' })
class Shelf {
  @Key() id!: string
  @Bin() name?: string
  @OneToMany(() => Book, 'shelf', { strategy: 'keyList', onDelete: 'cascade' }) books = collection<Book>()
  @OneToMany(() => Book, 'guest') guests = collection<Book>()
  leave?: () => void
  stay?: () => void

  @BeforeSave() beforeSave(): void {
    this.leave?.()
  }
  @BeforeDelete() beforeDelete(): void {
    this.stay?.()
  }
}

/** Each takes all others along, and is taken along by each. */
@Record({ set: 'hookPeer' })
class Peer {
  @Key() id!: string
  @ManyToMany(() => Peer, 'peers', { onDelete: 'cascade' }) peers = collection<Peer>()
  stay?: () => void

  @BeforeDelete() beforeDelete(): void {
    this.stay?.()
  }
}

@Record({ set: 'hookBook' })
class Book {
  @Key() id!: string
  @ManyToOne(() => Shelf, 'books') shelf = ref<Shelf>()
  @ManyToOne(() => Shelf, 'guests') guest = ref<Shelf>()
}

inEachMode(
  'hooks',
  (bed) => {
    beforeEach(() => {
      calls = []
      during = {}
    })

    const thing = (name: string): Thing => Object.assign(new Thing(), { id: bed().fresh(), name })

    async function stored(...names: string[]): Promise<{ session: Session; things: Thing[] }> {
      const session = bed().db.session()
      const things = names.map((name) => session.persist(thing(name)))
      await session.flush()
      calls = []
      return { session, things }
    }

    it('run around a save, base class first, and what they change is stored', async () => {
      const one = thing('Ada')
      await bed().db.session().save(one)
      expect(calls).to.deep.equal(['base', 'beforeSave Ada', 'afterSave Ada'])
      calls = []
      expect((await bed().db.session().load(Thing, one.id)).slug).to.equal('ada')
      expect(calls).to.deep.equal(['afterLoad Ada'])
    })

    it('run in the documented order: deletes before saves, everything before, everything after', async () => {
      const { session, things } = await stored('A', 'B', 'C')
      things[2].name = 'C2'
      session.remove(things[0])
      session.persist(thing('D'))
      await session.flush()
      expect(calls).to.deep.equal([
        'beforeDelete A',
        'base',
        'beforeSave C2',
        'base',
        'beforeSave D',
        'afterSave C2',
        'afterSave D',
        'afterDelete A',
      ])
    })

    it('do not run for what has not changed', async () => {
      const { session, things } = await stored('A')
      await session.save(things[0])
      await session.flush()
      expect(calls).to.deep.equal([])
    })

    it('take along what they change, persist and remove, each with its own hooks, once', async () => {
      const { session, things } = await stored('A', 'B', 'C')
      const added = thing('D')
      during['beforeSave'] = (entity) => {
        if (entity.name !== 'A2') return
        things[1].name = 'B2'
        session.remove(things[2])
        session.persist(added)
      }
      things[0].name = 'A2'
      await session.flush()
      expect(calls.filter((call) => call !== 'base')).to.deep.equal([
        'beforeSave A2',
        'beforeDelete C',
        'beforeSave B2',
        'beforeSave D',
        'afterSave A2',
        'afterSave B2',
        'afterSave D',
        'afterDelete C',
      ])
      const found = await bed()
        .db.session()
        .findMany(
          Thing,
          [...things, added].map(({ id }) => id),
        )
      expect(found.map((one) => one && one.slug)).to.deep.equal(['a2', 'b2', null, 'd'])
    })

    it('that throw before stop the flush, and nothing is sent', async () => {
      const { session, things } = await stored('A')
      const person = session.create(Person, { id: bed().fresh(), name: 'Ada' })
      const error = new Error('no')
      during['beforeSave'] = () => Promise.reject(error)
      things[0].name = 'A2'
      expect(await rejection(() => session.flush())).to.equal(error)
      expect(await bed().db.session().find(Person, person.id)).to.equal(null)
      during = {}
      await session.flush()
      expect((await bed().db.session().load(Thing, things[0].id)).name).to.equal('A2')
    })

    it('that throw after do not undo what is written, and the others still run', async () => {
      const { session, things } = await stored('A', 'B')
      const error = new Error('late')
      during['afterSave'] = (entity) => entity.name === 'A2' && Promise.reject(error)
      things[0].name = 'A2'
      things[1].name = 'B2'
      expect(await rejection(() => session.flush())).to.equal(error)
      expect(calls).to.include('afterSave B2')
      expect(session.isDirty()).to.equal(false)
      expect((await bed().db.session().load(Thing, things[0].id)).name).to.equal('A2')
    })

    it('that throw after do not hide why a record was not written', async () => {
      const { session, things } = await stored('A', 'B')
      await bed().db.session().delete(Thing, things[1].id)
      during['afterSave'] = () => Promise.reject(new Error('late'))
      things[0].name = 'A2'
      things[1].name = 'B2'
      expect(await rejection(() => session.flush())).to.have.property('code', 'SKEIN_4001')
    })

    it('that send something through their own session are refused instead of waiting for themselves', async () => {
      const { session, things } = await stored('A', 'B')
      for (const send of [
        () => session.flush(),
        () => session.save(things[1]),
        () => session.delete(things[1]),
        () => session.upsert(things[1]),
      ]) {
        during['beforeSave'] = send
        things[0].name += '!'
        expect(await rejection(() => session.flush()), String(send)).to.have.property('code', 'SKEIN_2308')
        during = {}
        await session.refresh(things[0])
        session.persist(things[1])
        await session.refresh(things[1])
      }
    })

    it('that have waited for something are refused in the same way', async () => {
      const { session, things } = await stored('A', 'B')
      for (const send of [
        () => session.flush(),
        () => session.save(things[1]),
        () => session.delete(things[1]),
        () => session.delete(Thing, things[1].id),
        () => session.upsert(things[1]),
        () => session.refresh(things[0]),
        () => session.verify(things[0]),
        () => session.close(),
      ]) {
        for (const hook of ['beforeSave', 'afterSave']) {
          during[hook] = async () => {
            await bed().db.session().load(Thing, things[1].id)
            await send()
          }
          things[0].name += '!'
          expect(await rejection(() => session.flush()), String(send)).to.have.property('code', 'SKEIN_2308')
          during = {}
          await session.flush()
        }
      }
    })

    it('may send something once they have ended, and through other sessions at any time', async () => {
      const { session, things } = await stored('A', 'B')
      const other = bed().db.session()
      const people = [1, 2].map((n) => Object.assign(new Person(), { id: bed().fresh(), name: `P${n}` }))
      let later: Promise<unknown> | undefined
      let ended: () => void = () => {}
      const end = new Promise<void>((resolve) => (ended = resolve))
      during['beforeSave'] = async (thing) => {
        if (thing !== things[0]) return
        await other.save(people[0])
        await other.save(people[1])
        later = end.then(() => session.save(things[1]))
      }
      things[0].name = 'A2'
      await session.flush()
      things[1].name = 'B2'
      ended()
      await later
      const found = await bed()
        .db.session()
        .loadMany(
          Person,
          people.map(({ id }) => id),
        )
      expect(found.map(({ name }) => name)).to.deep.equal(['P1', 'P2'])
      expect((await bed().db.session().load(Thing, things[1].id)).name).to.equal('B2')
    })

    it('of another session that their own flush waits for are refused too', async () => {
      const { session, things } = await stored('A')
      const other = bed().db.session()
      const inner = thing('B')
      during['beforeSave'] = (entity) => (entity === inner ? session.flush() : other.save(inner))
      things[0].name = 'A2'
      expect(await rejection(() => session.flush())).to.have.property('code', 'SKEIN_2308')
    })

    it('leave nothing behind of a call that was refused', async () => {
      const { session, things } = await stored('A')
      const [kept, never] = [1, 2].map((n) => Object.assign(new Person(), { id: bed().fresh(), name: `P${n}` }))
      session.persist(kept)
      const codes: unknown[] = []
      during['beforeSave'] = async () => {
        for (const send of [() => session.save(never), () => session.upsert(never), () => session.delete(kept)])
          codes.push(((await rejection(send)) as SkeinError).code)
      }
      things[0].name = 'A2'
      await session.flush()
      expect(codes).to.deep.equal(['SKEIN_2308', 'SKEIN_2308', 'SKEIN_2308'])
      const found = await bed().db.session().findMany(Person, [kept.id, never.id])
      expect(found.map((one) => one && one.name)).to.deep.equal(['P1', null])
    })

    it('that remove what is being saved have its delete hooks run, and it is deleted', async () => {
      const { session, things } = await stored('A')
      during['beforeSave'] = (entity) => session.remove(entity)
      things[0].name = 'A2'
      await session.flush()
      expect(calls).to.deep.equal(['base', 'beforeSave A2', 'beforeDelete A2', 'afterDelete A2'])
      expect(await bed().db.session().find(Thing, things[0].id)).to.equal(null)
    })

    it('that remove what is being saved have its cascades followed', async () => {
      const session = bed().db.session()
      const shelf = session.create(Shelf, { id: bed().fresh() })
      const book = session.create(Book, { id: bed().fresh() })
      shelf.books.add(book)
      await session.flush()
      shelf.leave = () => session.remove(shelf)
      shelf.name = 'old'
      await session.save(shelf)
      expect(await bed().db.read(Shelf, [shelf.id])).to.deep.equal([null])
      expect(await bed().db.read(Book, [book.id])).to.deep.equal([null])
    })

    it('that keep what is being deleted keep what it would have taken along or detached', async () => {
      const session = bed().db.session()
      const shelf = session.create(Shelf, { id: bed().fresh() })
      const [book, guest] = [bed().fresh(), bed().fresh()].map((id) => session.create(Book, { id }))
      shelf.books.add(book)
      shelf.guests.add(guest)
      await session.flush()
      shelf.stay = () => void session.persist(shelf)
      expect(await session.delete(shelf)).to.equal(false)
      await session.flush()
      const found = await bed()
        .db.session()
        .load(Shelf, shelf.id, { with: ['books', 'guests'] })
      expect(found.books.items.map(({ id }) => id)).to.deep.equal([book.id])
      expect(found.guests.items.map(({ id }) => id)).to.deep.equal([guest.id])
    })

    it('that keep what is being deleted keep all that it reaches on many ways', async () => {
      const session = bed().db.session()
      const peers = Array.from({ length: 16 }, () => session.create(Peer, { id: bed().fresh() }))
      peers.forEach((peer, i) => peer.peers.add(...peers.slice(i + 1)))
      await session.flush()
      const [first] = peers
      first.stay = () => void session.persist(first)
      expect(await session.delete(first)).to.equal(false)
      const keys = peers.map(({ id }) => id)
      expect((await bed().db.read(Peer, keys)).map((peer) => peer?.id)).to.deep.equal(keys)
    })

    it('that keep what is being deleted have its save hooks run if it has changed', async () => {
      const { session, things } = await stored('A', 'B')
      during['beforeDelete'] = (entity) => void session.persist(entity)
      things[0].name = 'A2'
      for (const one of things) session.remove(one)
      await session.flush()
      expect(calls).to.deep.equal(['beforeDelete A2', 'beforeDelete B', 'base', 'beforeSave A2', 'afterSave A2'])
      const found = await bed()
        .db.session()
        .loadMany(
          Thing,
          things.map(({ id }) => id),
        )
      expect(found.map(({ slug }) => slug)).to.deep.equal(['a2', 'b'])
      expect(session.isDirty()).to.equal(false)
    })

    it('that cannot agree run once each, and the last word counts', async () => {
      const { session, things } = await stored('A')
      during['beforeSave'] = (entity) => session.remove(entity)
      during['beforeDelete'] = (entity) => void session.persist(entity)
      things[0].name = 'A2'
      await session.flush()
      expect(calls).to.deep.equal(['base', 'beforeSave A2', 'beforeDelete A2', 'afterSave A2'])
      expect((await bed().db.read(Thing, [things[0].id]))[0]).to.include({ name: 'A2' })
    })

    it('of a delete by key see the entity', async () => {
      const { things } = await stored('A')
      const session = bed().db.session()
      expect(await session.delete(Thing, things[0].id)).to.equal(true)
      expect(calls).to.deep.equal(['afterLoad A', 'beforeDelete A', 'afterDelete A'])
      expect(await session.delete(Thing, things[0].id)).to.equal(false)
    })

    it('run after a refresh, but not for a lean read', async () => {
      const { session, things } = await stored('A')
      await session.refresh(things[0])
      expect(calls).to.deep.equal(['afterLoad A'])
      await bed().db.read(Thing, [things[0].id])
      expect(calls).to.deep.equal(['afterLoad A'])
    })

    it('do not run for records that were not written', async () => {
      const { session, things } = await stored('A', 'B')
      await bed().db.session().delete(Thing, things[0].id)
      calls = []
      things[0].name = 'A2'
      things[1].name = 'B2'
      await rejection(() => session.flush())
      expect(calls.filter((call) => call.startsWith('after'))).to.deep.equal(['afterSave B2'])
    })

    it('after a load end before anybody is given the entity', async () => {
      const { things } = await stored('A')
      const session = bed().db.session()
      let begun: () => void = () => {}
      const hasBegun = new Promise<void>((resolve) => (begun = resolve))
      during['afterLoad'] = async (entity) => {
        begun()
        await bed().db.session().find(Person, 'nobody')
        expect(await session.load(Thing, entity.id)).to.equal(entity)
        entity.slug = 'ready'
      }
      const loads = [
        session.load(Thing, things[0].id, { only: ['name'] }),
        session.load(Thing, things[0].id),
        hasBegun.then(() => session.load(Thing, things[0].id)),
        hasBegun.then(() => session.find(Thing, things[0].id, { only: ['slug'] })),
        hasBegun.then(async () => (await session.findMany(Thing, [things[0].id]))[0]),
      ].map((load) => load.then((entity) => entity?.slug))
      expect(await Promise.all(loads)).to.deep.equal(['ready', 'ready', 'ready', 'ready', 'ready'])
      expect(calls).to.deep.equal(['afterLoad A'])
    })

    it('after a load that throw leave the entity out of the session, and run at the next load', async () => {
      const { things } = await stored('A')
      const session = bed().db.session()
      const error = new Error('not now')
      during['afterLoad'] = () => Promise.reject(error)
      expect(await rejection(() => session.load(Thing, things[0].id))).to.equal(error)
      expect(session.isDirty()).to.equal(false)
      during = {}
      expect((await session.load(Thing, things[0].id)).name).to.equal('A')
      expect(calls).to.deep.equal(['afterLoad A', 'afterLoad A'])
    })

    it('count what they change after a load as a change', async () => {
      const { things } = await stored('A')
      during['afterLoad'] = (entity) => (entity.slug = 'from the hook')
      const session = bed().db.session()
      const loaded = await session.load(Thing, things[0].id)
      expect(session.changes(loaded).properties).to.deep.equal(['slug'])
    })
  },
  { entities: [Thing, Person, Shelf, Peer, Book] },
)
