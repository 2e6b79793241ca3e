import { expect } from 'chai'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { Bin, collection, compileModel, Embeddable, Key, ManyToMany, OneToMany, Record } from 'skein'
import type { EntityClass, WarningEvent } from 'skein'
import { expectProblem } from '../model/problems-of.js'
import { sharedServer } from '../shared-server.js'

@Embeddable()
class Line {
  @Key() id!: string
  @Bin() text!: string
}

/** Warnings of a database that is opened with these classes. */
async function warningsOf(...classes: EntityClass[]): Promise<WarningEvent[]> {
  const server = await sharedServer()
  const heard: WarningEvent[] = []
  const listen = (event: unknown): void => void heard.push(event as WarningEvent)
  subscribe('skein:warning', listen)
  try {
    await (await server.open({ namespace: server.namespaces[0], entities: classes })).close()
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
    expect(lines.message).to.include('in 2 shards each would have 100000 bytes').and.include('cap')
  })

  it('causes none where the collection fits one record', async () => {
    @Record({ set: 'small_user' })
    class User {
      @Key() id!: string
      @OneToMany(() => Line, { strategy: 'consolidate', expect: { p99: 1_000, bytes: 131 } }) lines = collection<Line>()
    }
    expect(await warningsOf(User)).to.deep.equal([])
  })

  it('is refused where it is no size, and where nothing is stored in the record', () => {
    for (const given of [5, null, {}, { p99: 0, bytes: 1 }, { p99: 1.5, bytes: 1 }, { p99: 10 }]) {
      @Record({ set: 'odd' })
      class Odd {
        @Key() id!: string
        @OneToMany(() => Line, { strategy: 'consolidate', expect: given as never }) lines = collection<Line>()
      }
      expectProblem([Odd], 'SKEIN_1049', 'Odd.lines', /no value for the option 'expect'/, /p99: 300_000/)
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
