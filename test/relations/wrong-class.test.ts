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

    it('are refused in a reference before anything is sent', async () => {
      const session = db.session()
      const user = session.create(User, { id: 1 })
      const boss: unknown = user.boss
      ;(boss as { set(one: object): void }).set(Object.assign(new Robot(), { id: 5 }))
      await refused(session.save(user), 'boss')
      expect(await db.session().find(User, 1)).to.equal(null)
    })
  })
}
