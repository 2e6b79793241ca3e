import 'reflect-metadata'
import { expect } from 'chai'
import {
  Bin,
  collection,
  DeletedAt,
  Embeddable,
  Key,
  keysOf,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  ref,
  type SkeinError,
} from 'skein'
import { inEachMode } from '../modes.js'
import { rejection } from '../rejection.js'

const LONG = 'k'.repeat(64 * 1024 + 1)

@Embeddable()
class Since {
  @Bin() note?: string
}
@Embeddable({ key: '{shelf}:{no}', parent: 'shelf' })
class Book {
  @Bin() shelf!: string
  @Bin() no!: number
}
@Record({ set: 'bi_user' })
class User {
  @Key() id!: string
  @Bin({ type: 'json' }) data?: unknown
  @ManyToOne(() => User, 'kids') parent = ref<User>()
  @OneToMany(() => User, 'parent', { strategy: 'keyList' }) kids = collection<User>()
  @OneToMany(() => Post, 'author', { strategy: 'secondaryIndex' }) posts = collection<Post>()
  @ManyToMany(() => User, 'knownBy', { owner: true, attributes: () => Since }) knows = collection<User, Since>()
  @ManyToMany(() => User, 'knows', { attributes: () => Since }) knownBy = collection<User, Since>()
}
@Record({ set: 'bi_post' })
class Post {
  @Key() id!: string
  @ManyToOne(() => User, 'posts') author = ref<User>()
}
@Record({ set: 'bi_shelf' })
class Shelf {
  @Key() id!: string
  @OneToMany(() => Book, { strategy: 'consolidate' }) books = collection<Book>()
}
@Record({ set: 'bi_bytes' })
class Blob {
  @Key({ type: 'bytes' }) id!: Buffer
}
@Record({ set: 'bi_day', key: '{who}:{at|YYYY-MM-DD}', tenant: true })
class Day {
  @Bin() who!: string
  @Bin() at!: Date
}
@Record({ set: 'bi_gone', tenant: true })
class Gone {
  @Key() id!: string
  @DeletedAt() deletedAt?: Date
}
@Record({ set: 'bi_big', key: '{a}:{n}' })
class Big {
  @Bin() a!: string
  @Bin({ type: 'bigint' }) n!: bigint
}
const make = <T extends object>(made: T, values: Partial<T>): T => Object.assign(made, values)

inEachMode(
  'bad input',
  (bed) => {
    const codeOf = async (work: () => unknown): Promise<string> => {
      const error = (await rejection(work)) as SkeinError
      expect(error.message.length, error.message.slice(0, 200)).to.be.lessThan(500)
      return error.code
    }

    it('of a key, a part of one, a tenant or a part id of more than 64 KiB is refused before it is sent', async () => {
      const { db } = bed()
      const session = db.session()
      const calls: (() => unknown)[] = [
        () => session.find(User, LONG),
        () => session.load(User, LONG),
        () => session.findMany(User, ['a', LONG]),
        () => session.delete(User, LONG),
        () => session.save(make(new User(), { id: LONG })),
        () => db.read(User, [LONG]),
        () => session.at(User, LONG).collection('kids').count(),
        () => session.find(Blob, Buffer.alloc(64 * 1024 + 1, 1)),
        () => session.find(Big, { a: LONG, n: 1n }),
        () => session.find(Big, { a: '::'.repeat(20_000), n: 1n }),
        () => session.find(Big, `${LONG}:1`),
        () => keysOf(Big).of({ a: LONG, n: 1n }),
        () => session.findPart(Book, `${LONG}:1`),
        () => keysOf(Book).recordOf(`${LONG}:1`),
        () => db.session({ tenant: LONG }),
        () => db.withSession((other) => other.find(Day, 'x'), { tenant: LONG }),
        () => db.sweep(Day, { tenant: LONG }),
        () => db.verify(Day, { tenant: LONG }).next(),
        () => db.purge(Gone, { tenant: LONG, olderThan: new Date() }),
        () => db.read(Day, ['x:2024-05-01'], { tenant: LONG }),
        () => db.query(Day, { tenant: LONG }).toArray(),
      ]
      for (const call of calls) expect(await codeOf(call), String(call)).to.equal('SKEIN_2101')
      const user = make(new User(), { id: bed().fresh() })
      user.parent.set(LONG)
      expect(await codeOf(() => db.session().save(user))).to.equal('SKEIN_2101')
      const parent = make(new User(), { id: bed().fresh() })
      parent.kids.add(LONG)
      expect(await codeOf(() => db.session().save(parent))).to.equal('SKEIN_2101')
      const linked = make(new User(), { id: bed().fresh() })
      linked.knows.link(LONG, new Since())
      expect(await codeOf(() => db.session().save(linked))).to.equal('SKEIN_2101')
      const shelf = make(new Shelf(), { id: bed().fresh() })
      shelf.books.add(make(new Book(), { shelf: LONG, no: 1 }))
      // Its id would lead to another record, which is said first.
      expect(await codeOf(() => db.session().save(shelf))).to.equal('SKEIN_2424')
    })

    it('of a long key passes where open() allows it', async () => {
      const db = await bed().open({ entities: [Blob], limits: { keyBytes: 100_000 } })
      expect(await db.session().find(Blob, Buffer.from(LONG))).to.equal(null)
      const small = await bed().open({ entities: [Blob], limits: { keyBytes: 10 } })
      expect(await codeOf(() => small.session().find(Blob, Buffer.alloc(11)))).to.equal('SKEIN_2101')
    })

    it('of digits and escapes by the thousand in a key is refused as no key of the template', async () => {
      for (const key of [`a:${'9'.repeat(60_000)}`, `${'%'.repeat(60_000)}:1`, ':'.repeat(60_000)])
        expect(await codeOf(() => bed().db.session().find(Big, key))).to.equal('SKEIN_2103')
    })

    it('of ids, cursors, tenants and dates of another type is an error of its own', async () => {
      const { db } = bed()
      const session = db.session()
      for (const id of [null, undefined, 5, true, 5n, Symbol('x')])
        expect(await codeOf(() => session.findPart(Book, id as never))).to.equal('SKEIN_2101')
      for (const parts of [{}, [], ['a:1'], { shelf: 'a' }])
        expect(await codeOf(() => session.findPart(Book, parts as never))).to.equal('SKEIN_2102')
      const user = await session.save(make(new User(), { id: bed().fresh() }))
      for (const after of [5, null, {}, ['x'], 'x'.repeat(1e6)])
        expect(await codeOf(() => user.posts.page({ count: 1, after: after as never }))).to.equal('SKEIN_2501')
      for (const tenant of ['', null, {}, NaN, 1.5, true, 'a\0b'])
        expect(await codeOf(() => db.session({ tenant: tenant as never }))).to.equal('SKEIN_2101')
      const [from, to] = [new Date('2024-05-01'), new Date('2024-05-03')]
      const cover = (range: unknown, max?: unknown) => (): unknown =>
        keysOf(Day, { tenant: 'a' }).covering({ who: 'x' }, range as never, max as never)
      expect(cover({ from, to })()).to.deep.equal(['x:2024-05-01', 'x:2024-05-02'])
      expect(await codeOf(cover({ from: '2024', to: '2025' }))).to.equal('SKEIN_2106')
      expect(await codeOf(cover({ from, to: new Date(NaN) }))).to.equal('SKEIN_2106')
      for (const max of [NaN, 0, -1, 1.5, '7', Infinity, 100_001, 1e9])
        expect(await codeOf(cover({ from, to }, max))).to.equal('SKEIN_2106')
      const end = new Date('+010000-01-01')
      expect(cover({ from: new Date('9999-12-31'), to: end })()).to.deep.equal(['x:9999-12-31'])
      expect(await codeOf(cover({ from: end, to: new Date(+end + 1) }))).to.equal('SKEIN_2106')
    })

    it('of a path of very many steps is refused at once', async () => {
      const deep = (steps: number): never => [Array(steps).fill('parent').join('.')] as never
      expect(
        await codeOf(() =>
          bed()
            .db.session()
            .find(User, 'x', { with: deep(100_000) }),
        ),
      ).to.equal('SKEIN_2320')
      expect(
        await codeOf(() =>
          bed()
            .db.session()
            .find(User, 'x', { with: deep(65) }),
        ),
      ).to.equal('SKEIN_2320')
      expect(
        await bed()
          .db.session()
          .find(User, 'x', { with: deep(64) }),
      ).to.equal(null)
      const many = Array(20_000).fill('kids.kids') as never
      expect(await bed().db.session().find(User, 'x', { with: many })).to.equal(null)
    })

    it('of a link with attributes to or from a key called __proto__ is refused', async () => {
      const { db } = bed()
      const [from, to] = [make(new User(), { id: bed().fresh() }), make(new User(), { id: '__proto__' })]
      from.knows.link(to, new Since())
      expect(await codeOf(() => db.session().save(from))).to.equal('SKEIN_2101')
      expect(await db.session().find(User, from.id)).to.equal(null)
      const session = db.session()
      to.knows.remove(from)
      const other = make(new User(), { id: '__proto__' })
      other.knows.link(make(new User(), { id: bed().fresh() }), new Since())
      expect(await codeOf(() => session.save(other))).to.equal('SKEIN_2101')
    })

    it('that another program stored as __proto__ does not become a prototype', async () => {
      const { db, namespace } = bed()
      const id = bed().fresh()
      const foreign = new Map([['__proto__', new Map([['isAdmin', 1]])]])
      const { Key: ClientKey } = (await import('aerospike')).default
      await db.client.put(new ClientKey(namespace, 'bi_user', id), { id, data: [foreign] } as never)
      const [found] = (await db.session().load(User, id)).data as { isAdmin?: number }[]
      expect(found.isAdmin).to.equal(undefined)
      expect(Object.getPrototypeOf(found)).to.equal(Object.prototype)
    })
  },
  { entities: [User, Post, Shelf, Blob, Day, Big, Gone] },
)
