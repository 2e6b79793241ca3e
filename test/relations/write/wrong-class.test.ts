import { expect } from 'chai'
import { Bin, Embeddable, Key, ManyToMany, ManyToOne, OneToMany, Record, collection, ref, type Database } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Embeddable()
class Since {
  @Bin({ type: 'int' }) year!: number
}

@Embeddable()
class Note {
  @Key() id!: number
  @Bin() text!: string
}

@Record({ set: 'wc-user' })
class User {
  @Key() id!: number
  @ManyToMany(() => User, 'followers', { owner: true }) follows = collection<User>()
  @ManyToMany(() => User, 'follows') followers = collection<User>()
  @ManyToMany(() => User, 'knownBy', { owner: true, attributes: () => Since }) knows = collection<User, Since>()
  @ManyToMany(() => User, 'knows', { attributes: () => Since }) knownBy = collection<User, Since>()
  @ManyToMany(() => User, { through: () => Visit }) visits = collection<User, Visit>()
  @ManyToOne(() => User, 'staff') boss = ref<User>()
  @OneToMany(() => User, 'boss') staff = collection<User>()
  @OneToMany(() => User) marked = collection<User>()
  @ManyToOne(() => User, 'pupils') teacher = ref<User>()
  @OneToMany(() => User, 'teacher', { strategy: 'secondaryIndex' }) pupils = collection<User>()
  @OneToMany(() => Note, { strategy: 'consolidate' }) notes = collection<Note>()
}
const COLLECTIONS = ['follows', 'followers', 'knows', 'visits', 'staff', 'marked', 'pupils', 'notes'] as const

@Record({ set: 'wc-visit', key: '{guest}:{host}' })
class Visit {
  @ManyToOne(() => User, 'visits') guest = ref<User>()
  @ManyToOne(() => User) host = ref<User>()
  @Bin({ type: 'int' }) year?: number
}

/** A collection, as a program sees it that does not check types. */
interface Loose {
  add(...members: unknown[]): void
  remove(...members: unknown[]): void
  link(member: unknown, attributes: object): void
  contains(member: unknown): Promise<boolean>
}

@Record({ set: 'wc-robot' })
class Robot {
  @Key() id!: number
}

for (const mode of MODES) {
  describe(`entities of another class than the relation's (${mode})`, () => {
    let db: Database
    useDatabase(mode, [User, Visit, Robot], (opened) => ({ db } = opened))

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
      const user = Object.assign(new User(), { id: 1 })
      const follows: unknown = user.follows
      ;(follows as Loose).add(Object.assign(new Robot(), { id: 5 }))
      await refused(db.session().save(user), 'follows')
      expect(await db.session().find(User, 1)).to.equal(null)
    })

    for (const name of COLLECTIONS) {
      it(`are refused at once by ${name} of a session, which stays as it was`, async () => {
        await db.session().save(Object.assign(new User(), { id: 1 }))
        const session = db.session()
        const user = await session.load(User, 1)
        const members = user[name] as unknown as Loose
        const robot = Object.assign(new Robot(), { id: 5 })
        const right = name === 'notes' ? Object.assign(new Note(), { id: 1, text: 'x' }) : 2
        const message = new RegExp(`^User 1: ${name} is of (User|Note), and was given a Robot`)
        expect(() => members.add(right, robot))
          .to.throw(message)
          .with.property('code', 'SKEIN_2408')
        expect(() => members.remove(robot)).to.throw(message)
        if (name === 'knows' || name === 'visits') expect(() => members.link(robot, { year: 1 })).to.throw(message)
        const answer: unknown = await members.contains(robot).catch((error: unknown) => error)
        expect(answer).to.have.property('code', 'SKEIN_2408')
        expect(session.isDirty()).to.equal(false)
      })

      it(`stand beside keys of another type, which ${name} refuses at once, too`, async () => {
        await db.session().save(Object.assign(new User(), { id: 1 }))
        const session = db.session()
        const members = (await session.load(User, 1))[name] as unknown as Loose
        for (const wrong of ['two', 1.5, NaN, null, undefined, true]) {
          const code = name === 'notes' ? 'SKEIN_2421' : 'SKEIN_2101'
          expect(() => members.add(wrong))
            .to.throw()
            .with.property('code', code)
          expect(() => members.remove(wrong))
            .to.throw()
            .with.property('code', 'SKEIN_2101')
        }
        expect(session.isDirty()).to.equal(false)
      })
    }

    it('are refused by a new entity when a session takes it in', () => {
      const user = Object.assign(new User(), { id: 1 })
      const notes: unknown = user.notes
      ;(notes as Loose).add(Object.assign(new Robot(), { id: 5 }))
      expect(() => db.session().persist(user)).to.throw(/notes is of Note, and was given a Robot/)
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
      session.create(User, { id: 2 })
      const user = session.create(User, { id: 1 })
      user.boss.set(2)
      for (const wrong of [Object.assign(new Robot(), { id: 5 }), { id: 5 }]) {
        expect(() => setBoss(user, wrong)).to.throw(/^User 1: boss is of User, and was given a (Robot|plain object)/)
        expect(user.boss.key).to.equal(2)
      }
      for (const wrong of ['two', 1.5, undefined])
        expect(() => setBoss(user, wrong))
          .to.throw()
          .with.property('code', 'SKEIN_2101')
      expect(user.boss.key).to.equal(2)
      await session.flush()
      expect((await db.session().load(User, 1)).boss.key).to.equal(2)
    })
  })
}
