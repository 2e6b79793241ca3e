import { expect } from 'chai'
import { Key, ManyToMany, ManyToOne, Record, collection, ref, type Database } from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

@Record({ set: 'wc-user' })
class User {
  @Key() id!: number
  @ManyToMany(() => User, 'followers', { owner: true }) follows = collection<User>()
  @ManyToMany(() => User, 'follows') followers = collection<User>()
  @ManyToOne(() => User) boss = ref<User>()
}

@Record({ set: 'wc-robot' })
class Robot {
  @Key() id!: number
}

for (const mode of MODES) {
  describe(`entities of another class than the relation's (${mode})`, () => {
    let db: Database
    useDatabase(mode, [User, Robot], (opened) => ({ db } = opened))

    const refused = (promise: Promise<unknown>, property: string): Promise<void> =>
      promise.then(
        () => expect.fail('it was stored'),
        (error: unknown) => {
          expect(error).to.have.property('code', 'SKEIN_2408')
          expect(error).to.have.property('details').that.includes({ className: 'User', property, key: 1 })
          expect(error)
            .to.have.property('message')
            .that.matches(/is of User, and was given a Robot/)
        },
      )

    it('are refused in a collection before anything is sent', async () => {
      const session = db.session()
      const user = session.create(User, { id: 1 })
      const follows: unknown = user.follows
      ;(follows as { add(one: object): void }).add(session.create(Robot, { id: 5 }))
      await refused(session.flush(), 'follows')
      expect(await db.session().find(User, 1)).to.equal(null)
    })

    const setBoss = (user: User, boss: unknown): void => user.boss.set(boss as User)

    it('are refused in a reference before anything is sent', async () => {
      const user = Object.assign(new User(), { id: 1 })
      setBoss(user, Object.assign(new Robot(), { id: 5 }))
      await refused(db.session().save(user), 'boss')
      expect(await db.session().find(User, 1)).to.equal(null)
    })

    it('are refused at once by a reference of a session, which stays as it was', async () => {
      const session = db.session()
      const user = session.create(User, { id: 1 })
      user.boss.set(2)
      for (const wrong of [Object.assign(new Robot(), { id: 5 }), { id: 5 }]) {
        expect(() => setBoss(user, wrong)).to.throw(/^User 1: boss is of User, and was given a (Robot|plain object)/)
        expect(user.boss.key).to.equal(2)
      }
      await session.flush()
      expect((await db.session().load(User, 1)).boss.key).to.equal(2)
    })
  })
}
