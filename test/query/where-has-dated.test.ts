import { expect } from 'chai'
import {
  Bin,
  Embeddable,
  Index,
  Key,
  ManyToMany,
  Record,
  Sharded,
  SkeinError,
  collection,
  inc,
  type Database,
} from 'skein'
import { MODES } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

const unique = `qd${process.pid}${Date.now() % 1e6}`
const dayOf = (day: number): Date => new Date(Date.UTC(2026, 9, day))

@Embeddable()
class Since {
  @Bin() at!: Date
}

@Record({ set: `${unique}u` })
class User {
  @Key() id!: number
  @Bin({ type: 'int' }) points = 0
  @Index()
  @Sharded({ by: 'day', on: 'at' })
  @ManyToMany(() => User, { attributes: () => Since })
  friends = collection<User, Since>()
  @Index()
  @Sharded({ by: 'hour', subkeys: 'seenIn' })
  @ManyToMany(() => User)
  seen = collection<User>()
}

for (const mode of MODES) {
  describe(`which owners have a member in several buckets of time (${mode})`, () => {
    let db: Database
    useDatabase(mode, [User], (opened) => ({ db } = opened), { emptied: 'once' })

    before(async () => {
      await db.withSession((session) => {
        for (let id = 0; id < 10; id++) session.create(User, { id })
      })
      for (const day of [1, 2, 3])
        await db.withSession(async (session) => {
          for (const id of [1, 2, 3, 4, 5]) {
            const user = await session.load(User, id)
            user.friends.link(9, { at: dayOf(day + id) })
            user.seen.add(9)
          }
        })
    })

    const owners = [1, 2, 3, 4, 5]

    it('is answered with each owner once, also in pages that are sorted', async () => {
      const found = db.query(User).whereHas('friends', 9)
      expect((await found.keys()).sort()).to.deep.equal(owners)
      expect(await found.count()).to.equal(5)
      expect((await found.limit(5).toArray()).map(({ id }) => id).sort()).to.deep.equal(owners)
      const sorted = found.orderBy('id', 'desc')
      const pages: number[][] = []
      let after: string | undefined
      do {
        const page = await sorted.page({ count: 2, ...(after === undefined ? {} : { after }) })
        pages.push(page.map(({ id }) => id))
        after = page.next
      } while (after !== undefined)
      expect(pages).to.deep.equal([[5, 4], [3, 2], [1]])
    })

    it('is neither paged without an order nor changed in bulk: an owner would come once for each bucket', async () => {
      for (const name of ['friends', 'seen'] as const)
        for (const found of [db.query(User).whereHas(name, 9), db.scan(User).whereHas(name, 9)])
          for (const work of [
            () => found.page({ count: 2 }),
            () => found.update({ points: inc(1) }),
            () => found.update({ points: inc(1) }, { dryRun: true }),
            () => found.delete(),
          ]) {
            const refused = await rejection(work)
            expect(refused).to.be.instanceOf(SkeinError).with.property('code', 'SKEIN_2510')
            expect(refused).to.have.property('message').that.includes(`User.${name}`).and.includes('orderBy')
          }
      const managed = db.session().query(User).whereHas('friends', 9)
      expect(await rejection(() => managed.page({ count: 2 }))).to.have.property('code', 'SKEIN_2510')
      expect(await db.scan(User).sum('points')).to.equal(0)
      expect(await db.scan(User).count()).to.equal(10)
    })

    it('is changed one by one, each owner once', async () => {
      await db.withSession(async (session) => {
        for await (const user of session.query(User).whereHas('friends', 9)) user.points += 1
      })
      expect(await db.scan(User).sum('points')).to.equal(5)
    })
  })
}
