import { expect } from 'chai'
import {
  Bin,
  CountOf,
  Embeddable,
  Index,
  Key,
  type Collection,
  type Database,
  type Finding,
  type Ref,
  type Session,
} from 'skein'
import { need, type Mode, type TestServer } from '../../server.js'

@Embeddable()
export class Since {
  @Bin() year!: number
}

/** A user whose collections are counted, wherever they keep their members. */
export abstract class CountedUser {
  @Key() id!: string
  @Index() @CountOf('followers') followerCount = 0
  @CountOf('follows', { name: 'nfollows' }) followCount = 0
  @CountOf('friends') friendCount = 0
  @CountOf('listings') listingCount = 0
  abstract follows: Collection<CountedUser>
  abstract followers: Collection<CountedUser>
  abstract friends: Collection<CountedUser, Since>
  abstract listings: Collection<CountedListing>
}

export abstract class CountedListing {
  @Key() id!: string
  abstract agent: Ref<CountedUser>
}

/** Each count and the collection that it counts. */
export const COUNTS = [
  ['followerCount', 'followers'],
  ['nfollows', 'follows'],
  ['friendCount', 'friends'],
  ['listingCount', 'listings'],
] as const

/** Classes that keep their members in one way. */
interface CountedClasses {
  readonly User: new () => CountedUser
  readonly Listing: new () => CountedListing
  /** Names the counts that are not the number of stored members. */
  readonly drift: () => Promise<readonly string[]>
  /** True where a count is written after the change that it counts, so that a crash between both leaves it to verify. */
  readonly mayDrift?: boolean
  /** True where counts are spread over shards, which no condition of a query sees. */
  readonly isSharded?: boolean
}

interface Opened {
  readonly db: Database
  readonly server: TestServer
  readonly namespace: string
}

export const make = <T extends object>(entity: T, values: object): T => Object.assign(entity, values)

/** Findings about counts, as text. */
export async function wrongCounts(
  db: Database,
  { User, Listing }: Pick<CountedClasses, 'User' | 'Listing'>,
  repair: boolean,
): Promise<string[]> {
  const found: Finding[] = []
  for await (const finding of db.verify([User, Listing], { repair, settle: 0 })) found.push(finding)
  return found
    .filter(({ kind }) => kind === 'wrongCount')
    .map(({ key, property, state }) => `${String(key)} ${property} ${state}`)
    .sort()
}

/** Tests of counts that hold wherever the members are. */
export function testCounts(mode: Mode, classes: CountedClasses, opened: () => Opened): void {
  const { User, Listing, drift } = classes
  const users = (...ids: string[]): Promise<unknown> =>
    opened().db.withSession((session) => ids.forEach((id) => session.create(User, { id })))
  const read = async (id: string): Promise<CountedUser> => (await opened().db.read(User, [id]))[0]!
  const change = (work: (session: Session) => unknown): Promise<unknown> =>
    opened().db.withSession((session) => void work(session))

  it('are kept by every change of lists, links and children, on both sides', async () => {
    await users('a', 'b', 'c')
    const session = opened().db.session()
    const [a, b, c] = await session.loadMany(User, ['a', 'b', 'c'])
    a.follows.add(b, c)
    b.followers.add(c)
    a.friends.link(b, { year: 1999 })
    a.listings.add(make(new Listing(), { id: 'l1' }), make(new Listing(), { id: 'l2' }))
    await session.flush()
    expect(await read('a')).to.include({ followCount: 2, followerCount: 0, friendCount: 1, listingCount: 2 })
    expect(await read('b')).to.include({ followerCount: 2, friendCount: 1 })
    b.listings.add(await session.load(Listing, 'l1'))
    a.follows.remove(b)
    a.friends.remove(b)
    await session.flush()
    expect(await read('a')).to.include({ followCount: 1, friendCount: 0, listingCount: 1 })
    expect(await read('b')).to.include({ followerCount: 1, friendCount: 0, listingCount: 1 })
    await session.refresh(a)
    expect(a.listingCount).to.equal(1)
    expect(session.isDirty()).to.equal(false)
    expect(await drift()).to.deep.equal([])
  })

  it('are those of a new owner that comes with its members', async () => {
    await users('x')
    const a = make(new User(), { id: 'a' })
    a.follows.add('x')
    a.followers.add(make(new User(), { id: 'b' }), make(new User(), { id: 'c' }))
    a.listings.add(make(new Listing(), { id: 'l' }))
    await opened().db.session().save(a)
    expect(await read('a')).to.include({ followCount: 1, followerCount: 2, listingCount: 1 })
    expect(await drift()).to.deep.equal([])
  })

  it('do not change when a member is added that is there, or taken out that is not', async () => {
    await users('a', 'b')
    for (let i = 0; i < 2; i++) await change((session) => session.at(User, 'a').collection('follows').add('b'))
    await change((session) => session.at(User, 'b').collection('follows').remove('a'))
    await change((session) => session.at(User, 'a').collection('friends').link('b', { year: 1 }))
    await change((session) => session.at(User, 'b').collection('friends').link('a', { year: 2 }))
    expect(await read('a')).to.include({ followCount: 1, friendCount: 1 })
    expect(await read('b')).to.include({ followCount: 0, followerCount: 1, friendCount: 1 })
    expect(await drift()).to.deep.equal([])
  })

  it('follow deletes, cascades and deletes in steps', async () => {
    const { db } = opened()
    const fans = Array.from({ length: 12 }, (_, i) => `fan${i}`)
    await users('star', 'other', ...fans)
    await db.withSession((session) => {
      for (const fan of fans) session.at(User, fan).collection('follows').add('star', 'other')
      for (const id of fans) session.create(Listing, { id, agent: 'star' })
    })
    expect(await read('star')).to.include({ followerCount: 12, listingCount: 12 })
    await db.session().delete(Listing, 'fan3')
    expect((await read('star')).listingCount).to.equal(11)
    await db.session().delete(User, 'fan0')
    expect((await read('star')).followerCount).to.equal(11)
    await db.session().delete(User, 'star', { step: 5 })
    expect(await read('fan1')).to.include({ followCount: 1 })
    expect((await read('other')).followerCount).to.equal(11)
    expect(await drift()).to.deep.equal([])
  })

  it('are exact while many add and remove at once', async function () {
    this.timeout(60_000)
    const ids = Array.from({ length: mode === 'sc' ? 4 : 16 }, (_, i) => `u${i}`)
    await users('star', ...ids)
    await Promise.all(
      ids.map(async (id) => {
        for (const how of ['add', 'remove', 'add'] as const)
          await change((session) => session.at(User, id).collection('follows')[how]('star'))
      }),
    )
    expect((await read('star')).followerCount).to.equal(ids.length)
    expect(await drift()).to.deep.equal([])
  })

  it('can be asked for by a query', async function () {
    if (classes.isSharded === true) this.skip()
    const { db } = opened()
    await db.indexes.sync()
    await users('a', 'b', 'c')
    await change((session) => session.at(User, 'c').collection('followers').add('a', 'b'))
    const popular = await db
      .query(User)
      .where({ followerCount: { gt: 1 } })
      .toArray()
    expect(popular.map(({ id }) => id)).to.deep.equal(['c'])
  })

  it('do not drift where a flush fails at any command, unless verify has to put them right', async function () {
    const { db, server, namespace } = opened()
    const { faults, clock } = need(this, server.embedded, 'only the embedded server has faults')
    this.timeout(60_000)
    const limits = { retry: { attempts: 2, deadline: 40, backoff: 1 } }
    const hasty = await server.open({ namespace, entities: [User, Listing], ...limits })
    const isRepaired = classes.mayDrift === true && mode === 'ap'
    try {
      await users('a', 'b', 'c')
      for (let skip = 0; skip < 12; skip++) {
        for (const after of [false, true]) {
          const session = hasty.session()
          const [a, b, c] = await session.loadMany(User, ['a', 'b', 'c'], { with: ['follows', 'listings'] })
          if (a.follows.items.includes(b)) a.follows.remove(b)
          else a.follows.add(b)
          const listing = await session.find(Listing, 'l')
          ;(skip % 2 === 0 ? b : c).listings.add(listing ?? make(new Listing(), { id: 'l' }))
          await faults.add({ namespace, skip, drop: true, after, times: skip % 3 === 0 ? 1_000_000 : 1 })
          await session.flush().catch(() => undefined)
          await faults.clear()
          if (mode === 'sc') await clock.advance(60)
          if (isRepaired && (await drift()).length > 0) await wrongCounts(db, classes, true)
          expect(await drift(), `after ${skip} commands`).to.deep.equal([])
        }
      }
    } finally {
      await hasty.close()
    }
  })
}
