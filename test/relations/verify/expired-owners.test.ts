import { expect } from 'chai'
import {
  Bin,
  Companion,
  Embeddable,
  Key,
  ManyToMany,
  OneToMany,
  Record,
  Sharded,
  collection,
  type Database,
} from 'skein'
import { MODES, need, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'eo_tag' })
class Tag {
  @Key() id!: string
}

@Embeddable()
class Line {
  @Key() id!: string
  @Bin() at!: Date
}

/** Expires, and has members and children in companions that do not. */
@Record({ set: 'eo_cart', ttl: 1000 })
class Cart {
  @Key() id!: string
  @Sharded({ by: 'hash', shards: 3, subkeys: 'tagsIn' }) @ManyToMany(() => Tag) tags = collection<Tag>()
  @Companion({ subkeys: 'seenIn' }) @ManyToMany(() => Tag) seen = collection<Tag>()
  @Sharded({ by: 'hash', shards: 2, when: {}, subkeys: 'grownIn' }) @ManyToMany(() => Tag) grown = collection<Tag>()
  @Sharded({ by: 'hash', shards: 2, subkeys: 'linesIn' })
  @OneToMany(() => Line, { strategy: 'consolidate' })
  lines = collection<Line>()
  @Sharded({ by: 'day', on: 'at', subkeys: 'daysIn' })
  @OneToMany(() => Line, { strategy: 'consolidate' })
  days = collection<Line>()
}

const SETS = ['tags', 'seen', 'grown', 'lines', 'days'].map((name) => `eo_cart_${name}`)
const line = (id: string): Line => Object.assign(new Line(), { id, at: new Date(0) })

for (const mode of MODES) {
  describe(`companions of an owner that has expired (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, [Cart, Tag], (opened) => ({ db, server, namespace } = opened))
    const companions = async (): Promise<number[]> =>
      Promise.all(SETS.map(async (set) => (await db.client.query(namespace, set).results()).length))

    it('stay, and are found and deleted by verify, which leaves those of others', async function () {
      const { clock } = need(this, server.embedded, 'only the embedded server has a clock that can be moved')
      const make = (id: string): Promise<unknown> =>
        db.withSession((session) => {
          const cart = session.create(Cart, { id })
          for (const name of ['tags', 'seen', 'grown'] as const) cart[name].add('a')
          for (const name of ['lines', 'days'] as const) cart[name].add(line('a'))
        })
      await db.withSession((session) => void session.create(Tag, { id: 'a' }))
      await make('old')
      await db.session().at(Cart, 'old').collection('grown').shard(2)
      await clock.advance(2000)
      await make('new')
      expect(await db.session().find(Cart, 'old')).to.equal(null)
      expect(await companions()).to.deep.equal([2, 2, 2, 2, 2])
      const found: string[] = []
      for await (const { kind, property, key, state } of db.verify(Cart, { settle: 0, repair: true }))
        found.push(`${kind} ${property} ${String(key)} ${state}`)
      const expected = ['tags', 'seen', 'grown', 'grown', 'lines', 'days'].map(
        (name) => `companionWithoutRoot ${name} old repaired`,
      )
      expect(found).to.have.members(expected)
      expect(await companions()).to.deep.equal([1, 1, 0, 1, 1])
    })
  })
}
