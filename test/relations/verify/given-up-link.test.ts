import { expect } from 'chai'
import {
  Key,
  ManyToOne,
  OneToMany,
  OneToOne,
  Record,
  collection,
  ref,
  type Database,
  type EntityClass,
  type Session,
} from 'skein'
import type { FaultOptions } from 'skein/embedded'
import type { TestServer } from '../../server.js'
import { addFault } from '../../until-hit.js'
import { useDatabase } from '../../use-database.js'
import { Access, Doc, Follow, LINKED, Person, User } from '../strategies/link-records/link-models.js'

@Record({ set: 'gl-order' })
class Order {
  @Key() id!: number
  @OneToMany(() => Line, 'order', { onDelete: 'cascade' }) lines = collection<Line>()
  @OneToMany(() => Parcel, 'order', { strategy: 'secondaryIndex', onDelete: 'cascade' }) parcels = collection<Parcel>()
  @OneToOne(() => Invoice, 'order', { onDelete: 'cascade' }) invoice = ref<Invoice>()
}

@Record({ set: 'gl-line', key: '{order}:{no}' })
class Line {
  @Key() no!: number
  @ManyToOne(() => Order, 'lines') order = ref<Order>()
}

@Record({ set: 'gl-parcel', key: '{order}:{no}' })
class Parcel {
  @Key() no!: number
  @ManyToOne(() => Order, 'parcels') order = ref<Order>()
}

@Record({ set: 'gl-invoice', key: '{order}:{no}' })
class Invoice {
  @Key() no!: number
  @OneToOne(() => Order, 'invoice', { owner: true }) order = ref<Order>()
}

const CLASSES: readonly EntityClass[] = [...LINKED, Order, Line, Parcel, Invoice]

interface Kind {
  readonly set: string
  readonly owner: string | number
  /** Stores the owner in another session. */
  readonly other: (session: Session) => object
  /** Makes the owner, and what has its key in its own. */
  readonly make: (session: Session) => Promise<void>
  readonly find: (session: Session) => Promise<object | null>
}

const PERSON = { set: 'lperson', owner: 'new', other: (session: Session) => session.create(Person, { id: 'new' }) }
const ORDER = { set: 'gl-order', owner: 1, other: (session: Session) => session.create(Order, { id: 1 }) }

const KINDS: Readonly<globalThis.Record<string, Kind>> = {
  'a link that lists find, from a new end': {
    ...PERSON,
    make: async (session) => void session.create(Person, { id: 'new' }).follows.add(await session.load(Person, 'old')),
    find: (session) => session.find(Follow, 'new:old'),
  },
  'a link that lists find, to a new end': {
    ...PERSON,
    make: async (session) =>
      void (await session.load(Person, 'old')).follows.add(session.create(Person, { id: 'new' })),
    find: (session) => session.find(Follow, 'old:new'),
  },
  'a link that an index finds at the other end': {
    set: 'luser',
    owner: 1,
    other: (session) => session.create(User, { id: 1 }),
    make: async (session) => void session.create(User, { id: 1 }).docs.add(await session.load(Doc, 'old')),
    find: (session) => session.find(Access, 'a:1:old'),
  },
  'a link that an index finds': {
    set: 'ldoc',
    owner: 'new',
    other: (session) => session.create(Doc, { id: 'new' }),
    make: async (session) => void session.create(Doc, { id: 'new' }).users.add(await session.load(User, 7)),
    find: (session) => session.find(Access, 'a:7:new'),
  },
  'a child of a list': {
    ...ORDER,
    make: (session) => {
      session.create(Order, { id: 1 }).lines.add(Object.assign(new Line(), { no: 5 }))
      return Promise.resolve()
    },
    find: (session) => session.find(Line, '1:5'),
  },
  'a child by index': {
    ...ORDER,
    make: (session) => {
      session.create(Order, { id: 1 }).parcels.add(Object.assign(new Parcel(), { no: 5 }))
      return Promise.resolve()
    },
    find: (session) => session.find(Parcel, '1:5'),
  },
  'a partner': {
    ...ORDER,
    make: (session) => {
      session.create(Order, { id: 1 }).invoice.set(Object.assign(new Invoice(), { no: 5 }))
      return Promise.resolve()
    },
    find: (session) => session.find(Invoice, '1:5'),
  },
}

describe('a record whose key contains an owner that could not be created (ap)', () => {
  let db: Database
  let server: TestServer
  useDatabase('ap', CLASSES, (opened) => ({ db, server } = opened))
  beforeEach(() =>
    db.withSession((session) => {
      session.create(Person, { id: 'old' })
      session.create(User, { id: 7 })
      session.create(Doc, { id: 'old' })
    }),
  )
  afterEach(() => server.embedded?.faults.clear())

  const findings = async (repair = false): Promise<string[]> => {
    const found: string[] = []
    for await (const { kind, message } of db.verify(CLASSES, { settle: 0, repair })) found.push(`${kind}: ${message}`)
    return found
  }
  const failing = async (session: Session): Promise<void> => {
    const failed = await session.flush().catch((error: unknown) => error)
    expect(failed).to.be.instanceOf(Error)
  }

  for (const [name, { set, owner, other, make, find }] of Object.entries(KINDS)) {
    const refused: FaultOptions = { kind: 'write', set, key: owner, answer: 22 }

    it(`is not there, ${name} whose create is refused, and is stored by the next flush`, async function () {
      const session = db.session()
      await make(session)
      await addFault(this, server, refused)
      await failing(session)
      expect(await findings()).to.deep.equal([])
      expect(await find(db.session())).to.equal(null)
      await session.flush()
      expect(await findings()).to.deep.equal([])
      expect(await find(db.session())).not.to.equal(null)
    })

    it(`is not there, ${name} that somebody else has stored`, async () => {
      const session = db.session()
      await make(session)
      await db.withSession((another) => void other(another))
      await failing(session)
      expect(await findings()).to.deep.equal([])
      expect(await find(db.session())).to.equal(null)
    })

    it(`can be read by verify, ${name}, where the process ends before it is rolled back`, async function () {
      const session = db.session()
      await make(session)
      await addFault(this, server, refused)
      // Nothing is deleted any more: the next process finds what the first has left.
      await addFault(this, server, { kind: 'delete', answer: 22, times: 10 })
      await failing(session)
      await server.embedded!.faults.clear()
      const found = await findings(true)
      expect(found.filter((each) => each.startsWith('unreadable'))).to.deep.equal([])
      if (name.startsWith('a link')) expect(await findings()).to.deep.equal([])
      await db.withSession((another) => void other(another))
      await findings(true)
      expect(await findings()).to.deep.equal([])
    })
  }
})
