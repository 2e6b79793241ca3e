import { expect } from 'chai'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import {
  Bin,
  collection,
  Companion,
  compileModel,
  Embeddable,
  Key,
  ManyToMany,
  OneToMany,
  Record,
  Sharded,
} from 'skein'
import type { Database, EntityClass, WarningEvent } from 'skein'
import { expectProblem } from '../../model/problems-of.js'
import { sharedServer } from '../../shared-server.js'

@Embeddable()
class Line {
  @Key() id!: string
  @Bin() text!: string
  @Bin() at?: Date
}

/** Warnings of a database that is opened with these classes. */
const warningsOf = (...classes: EntityClass[]): Promise<WarningEvent[]> => warningsWhile(() => undefined, ...classes)

async function warningsWhile(work: (db: Database) => unknown, ...classes: EntityClass[]): Promise<WarningEvent[]> {
  const server = await sharedServer()
  const heard: WarningEvent[] = []
  const listen = (event: unknown): void => void heard.push(event as WarningEvent)
  subscribe('skein:warning', listen)
  try {
    const db = await server.open({ namespace: server.namespaces[0], entities: classes })
    await work(db)
    await db.close()
  } finally {
    unsubscribe('skein:warning', listen)
  }
  return heard
}

describe('the expected size of a collection', () => {
  it('causes a warning when the database is opened, with the shards that it would take', async () => {
    @Record({ set: 'big_user' })
    class User {
      @Key() id!: string
      @ManyToMany(() => User, 'followers', { owner: true }) follows = collection<User>()
      @ManyToMany(() => User, 'follows', { expect: { p99: 300_000, bytes: 15 } }) followers = collection<User>()
      @OneToMany(() => Line, { strategy: 'consolidate', expect: { p99: 2_000, bytes: 100 } }) lines = collection<Line>()
    }
    const [followers, lines, ...others] = await warningsOf(User)
    expect(others).to.deep.equal([])
    expect(followers).to.deep.include({
      warning: 'collectionSize',
      class: 'User',
      set: 'big_user',
      property: 'followers',
      bin: 'followers',
      size: 4_500_000,
      limit: 131_072,
    })
    expect(followers.message).to.include('300000 members of 15 bytes: 4500000 bytes in one record')
    expect(followers.message).to.include('in 35 shards each would have 128572 bytes')
    expect(followers.message).to.include("Put @Sharded({ by: 'hash', shards: 35 }) on User.followers.")
    expect(lines.message).to.include('in 2 shards each would have 100000 bytes')
    expect(lines.message).to.include("Put @Sharded({ by: 'hash', shards: 2 }) on User.lines.")
  })

  it('is compared with the shards that the class has, and the warning says what to change', async () => {
    const expect300k = { expect: { p99: 300_000, bytes: 15 } }
    const parts = { strategy: 'consolidate', expect: { p99: 2_000, bytes: 100 } } as const
    @Record({ set: 'spread_user' })
    class User {
      @Key() id!: string
      @Companion() @ManyToMany(() => User, expect300k) beside = collection<User>()
      @Sharded({ by: 'hash', shards: 8, subkeys: 'fewIn' }) @ManyToMany(() => User, expect300k) few = collection<User>()
      @Sharded({ by: 'hash', shards: 35, subkeys: 'enoughIn' })
      @ManyToMany(() => User, expect300k)
      enough = collection<User>()
      @Sharded({ by: 'hash', shards: 35, when: { bytes: 100_000 }, subkeys: 'soonIn' })
      @ManyToMany(() => User, expect300k)
      soon = collection<User>()
      @Sharded({ by: 'hash', shards: 8, when: { bytes: 100_000 }, subkeys: 'laterIn' })
      @ManyToMany(() => User, expect300k)
      later = collection<User>()
      @Sharded({ by: 'day', on: 'at', subkeys: 'daysIn' }) @OneToMany(() => Line, parts) days = collection<Line>()
      @OneToMany(() => Line, { ...parts, cap: { keep: 1_500, by: 'last' } }) capped = collection<Line>()
      @OneToMany(() => Line, { ...parts, cap: { keep: 100, by: 'last' } }) short = collection<Line>()
    }
    const warnings = await warningsOf(User)
    expect(warnings.map(({ property }) => property)).to.have.members(['beside', 'few', 'later', 'capped'])
    const text = warnings.map(({ message }) => message).join('\n')
    expect(text).to.include("Replace @Companion on User.beside by @Sharded({ by: 'hash', shards: 35 }).")
    expect(text).to.include('4500000 bytes in 8 shards')
    expect(text).to.include("Raise the shards of User.few: @Sharded({ by: 'hash', shards: 35 }).")
    expect(text).to.include("Raise the shards of User.later: @Sharded({ by: 'hash', shards: 35, when: … }).")
    expect(text).to.include(
      "Let the cap of User.capped keep fewer, or replace it by @Sharded({ by: 'hash', shards: 2 }).",
    )
  })

  it('causes a warning that advises buckets of time or several owners where no number of shards is enough', async () => {
    const most = { expect: { p99: 100_000_000, bytes: 15 } }
    const parts = { strategy: 'consolidate', expect: { p99: 10_000_000, bytes: 100 } } as const
    @Record({ set: 'vast_user' })
    class User {
      @Key() id!: string
      @ManyToMany(() => User, most) links = collection<User>()
      @Sharded({ by: 'hash', shards: 4096 }) @ManyToMany(() => User, most) spread = collection<User>()
      @OneToMany(() => Line, parts) lines = collection<Line>()
      @OneToMany(() => Line, { ...parts, cap: { keep: 9_000_000, by: 'last' } }) capped = collection<Line>()
      @ManyToMany(() => User, { expect: { p99: 4096, bytes: 131_072 } }) just = collection<User>()
    }
    const warnings = await warningsOf(User)
    const messages = new Map(warnings.map(({ property, message }) => [property, message]))
    const owners =
      "or divide it among several owners, such as one for each month: @Record({ key: '{id}:{month|YYYY-MM}' })."
    for (const [property, advice] of [
      ['links', "Keep User.links by time, @Sharded({ by: 'day', … })"],
      ['spread', "Keep User.spread by time, @Sharded({ by: 'day', … })"],
      ['lines', "Keep User.lines by time, @Sharded({ by: 'day', … })"],
      ['capped', 'Let the cap of User.capped keep fewer'],
    ])
      expect(messages.get(property)).to.include(`${advice}, ${owners}`).and.not.include('shards: ')
    expect(messages.get('links')).to.include('even in 4096 shards, the most there can be, each would have 366211 bytes')
    expect(messages.get('just')).to.include("Put @Sharded({ by: 'hash', shards: 4096 }) on User.just.")
  })

  it('causes none where the collection fits one record', async () => {
    @Record({ set: 'small_user' })
    class User {
      @Key() id!: string
      @OneToMany(() => Line, { strategy: 'consolidate', expect: { p99: 1_000, bytes: 131 } }) lines = collection<Line>()
    }
    expect(await warningsOf(User)).to.deep.equal([])
  })

  it('is refused where it is not a size, and where nothing is stored in the record', () => {
    for (const given of [5, null, {}, { p99: 0, bytes: 1 }, { p99: 1.5, bytes: 1 }, { p99: 10 }]) {
      @Record({ set: 'odd' })
      class Odd {
        @Key() id!: string
        @OneToMany(() => Line, { strategy: 'consolidate', expect: given as never }) lines = collection<Line>()
      }
      expectProblem([Odd], 'SKEIN_1049', 'Odd.lines', /not a valid value for the option 'expect'/, /p99: 300_000/)
    }
  })

  it('shows in describe', () => {
    @Record({ set: 'shown' })
    class Shown {
      @Key() id!: string
      @ManyToMany(() => Shown, { expect: { p99: 7, bytes: 3 } }) links = collection<Shown>()
    }
    expect(compileModel([Shown], { namespace: 'test' }).describe()).to.include('expected: 7 × 3 bytes')
  })
})

describe('the warning of a record that has grown large', () => {
  it('names the decorator that helps its collection', async () => {
    @Record({ set: 'grown_post' })
    class Post {
      @Key() id!: number
      @Bin() text?: string
      @OneToMany(() => Line, { strategy: 'consolidate' }) lines = collection<Line>()
      @Companion() @OneToMany(() => Line, { strategy: 'consolidate' }) beside = collection<Line>()
      @Sharded({ by: 'hash', shards: 1, subkeys: 'spreadIn' })
      @OneToMany(() => Line, { strategy: 'consolidate' })
      spread = collection<Line>()
      @Sharded({ by: 'day', on: 'at', subkeys: 'daysIn' })
      @OneToMany(() => Line, { strategy: 'consolidate' })
      days = collection<Line>()
    }
    const warnings = await warningsWhile(async (db) => {
      await db.truncate(Post)
      await db.withSession((session) => {
        session.create(Post, { id: 1 })
        session.create(Post, { id: 2 })
      })
      for (const name of ['lines', 'beside', 'spread', 'days'] as const)
        await db.withSession((session) => {
          const line = Object.assign(new Line(), { id: 'l', text: 'x'.repeat(140_000), at: new Date() })
          session.at(Post, 1).collection(name).add(line)
        })
      await db.withSession(async (session) => {
        ;(await session.load(Post, 2)).text = 'x'.repeat(140_000)
      })
    }, Post)
    expect(warnings.map(({ warning, bin }) => `${warning} ${bin}`)).to.deep.equal(
      ['lines', 'beside', 'spread', 'days', 'text'].map((bin) => `recordSize ${bin}`),
    )
    const [lines, beside, spread, days, text] = warnings.map(({ message }) => message)
    expect(lines).to.include("Put @Sharded({ by: 'hash', shards: 8 }) on Post.lines.")
    expect(beside).to.include("Replace @Companion on Post.beside by @Sharded({ by: 'hash', shards: 8 }).")
    expect(spread).to.include("Raise the shards of Post.spread: @Sharded({ by: 'hash', shards: 2 }).")
    expect(days).to.include("Keep Post.days in shorter buckets: by: 'hour'")
    expect(text).to.include('Put a date in the key')
  })
})
