import { expect } from 'chai'
import { Bin, Key, OneToOne, Record, RestrictedError, SkeinError, ref, type Database } from 'skein'
import { MODES, otherNamespace, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'

/** Avatars have a namespace of their own where the server has two. */
function declare(media: string) {
  @Record({ set: 'profile' })
  class Profile {
    @Key() id!: number
    @Bin() name!: string
    @OneToOne(() => Avatar, 'profile', { strategy: 'sharedKey', owner: true, onDelete: 'cascade' }) avatar =
      ref<Avatar>()
    @OneToOne(() => Desk, 'user', { owner: true }) desk = ref<Desk>()
  }

  @Record({ set: 'avatar', namespace: media })
  class Avatar {
    @Key() id!: number
    @Bin() image!: Uint8Array
    @OneToOne(() => Profile, 'avatar', { strategy: 'sharedKey', onDelete: 'restrict' }) profile = ref<Profile>()
  }

  @Record({ set: 'desk' })
  class Desk {
    @Key() id!: string
    @OneToOne(() => Profile, 'desk') user = ref<Profile>()
  }

  @Record({ set: 'badge' })
  class Badge {
    @Key() id!: string
    @OneToOne(() => Desk, { onDelete: 'cascade' }) desk = ref<Desk>()
  }

  return { Profile, Avatar, Desk, Badge }
}

for (const mode of MODES) {
  const { Profile, Avatar, Desk, Badge } = declare(otherNamespace(mode))
  type Profile = InstanceType<typeof Profile>
  type Avatar = InstanceType<typeof Avatar>
  type Desk = InstanceType<typeof Desk>

  const profile = (id: number): Profile => Object.assign(new Profile(), { id, name: `profile ${id}` })
  const desk = (id: string): Desk => Object.assign(new Desk(), { id })
  const picture = (): Avatar => Object.assign(new Avatar(), { image: Uint8Array.of(1, 2, 3) })

  describe(`one to one (${mode})`, () => {
    let server: TestServer
    let db: Database
    useDatabase(mode, [Profile, Avatar, Desk, Badge], (opened) => ({ db, server } = opened))

    describe('by shared key', () => {
      it('gives the new one the key it shares, and stores it in its own namespace', async () => {
        const one = profile(1)
        one.avatar.set(picture())
        await db.session().save(one)
        const found = await db.session().load(Avatar, 1)
        expect([...found.image]).to.deep.equal([1, 2, 3])
        expect(one.avatar.value!.id).to.equal(1)
      })

      it('is read in the same round trip, in both directions', async () => {
        const one = profile(1)
        one.avatar.set(picture())
        await db.session().save(one)
        let found!: Profile
        const seen = await server.commands.during(async () => {
          found = await db.session().load(Profile, 1, { with: ['avatar'] })
        })
        expect(seen).to.deep.include({ commands: 1, rows: 2 })
        expect(found.avatar.value!.profile.value).to.equal(found)
        const back = await db.session().load(Avatar, 1, { with: ['profile'] })
        expect(back.profile.value!.name).to.equal('profile 1')
      })

      it('is not known until it is read, and then may be nothing', async () => {
        await db.session().save(profile(2))
        const found = await db.session().load(Profile, 2)
        expect(found.avatar.isLoaded).to.equal(false)
        expect(found.avatar.key).to.equal(2)
        expect(await found.avatar.load()).to.equal(null)
        expect(found.avatar.key).to.equal(null)
        const along = await db.session().load(Profile, 2, { with: ['avatar'] })
        expect(along.avatar.value).to.equal(null)
      })

      it('is added later', async () => {
        await db.session().save(profile(3))
        const session = db.session()
        const found = await session.load(Profile, 3)
        expect(session.isDirty()).to.equal(false)
        found.avatar.set(picture())
        expect(session.isDirty(found)).to.equal(true)
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        expect(await db.session().find(Avatar, 3)).not.to.equal(null)
      })

      it('refuses another key, and to unlink the stored entity', async () => {
        const session = db.session()
        const one = session.persist(profile(4))
        expect(() => one.avatar.set(Object.assign(picture(), { id: 5 })))
          .to.throw(SkeinError, /Avatar 5 cannot be the avatar of Profile 4/)
          .with.property('code', 'SKEIN_2405')
        one.avatar.set(picture())
        one.avatar.set(null)
        one.avatar.set(picture())
        await session.flush()
        expect(() => one.avatar.set(null))
          .to.throw(SkeinError)
          .with.property('code', 'SKEIN_2406')
      })

      it('goes with its owner, and keeps back a delete where the model says so', async () => {
        const one = profile(1)
        one.avatar.set(picture())
        await db.session().save(one)
        const error = await db
          .session()
          .delete(Avatar, 1)
          .catch((reason: unknown) => reason)
        expect(error).to.be.instanceOf(RestrictedError)
        await db.session().delete(Profile, 1)
        expect(await db.session().find(Avatar, 1)).to.equal(null)
      })
    })

    describe('by a key on both sides', () => {
      const pairs = async (): Promise<string[]> => {
        const session = db.session()
        const profiles = await session.findMany(Profile, [1, 2, 3])
        const desks = await session.findMany(Desk, ['a', 'b', 'c'])
        return [
          ...profiles.flatMap((each) => (each?.desk.key == null ? [] : [`${each.id}>${each.desk.key}`])),
          ...desks.flatMap((each) => (each?.user.key == null ? [] : [`${each.id}>${each.user.key}`])),
        ]
      }
      beforeEach(async () => {
        await db.withSession(async (session) => {
          for (const id of [1, 2, 3]) session.persist(profile(id))
          for (const id of ['a', 'b', 'c']) session.persist(desk(id))
        })
      })

      it('writes both from the owner, from the other and by bare keys', async () => {
        await db.withSession(async (session) => (await session.load(Profile, 1)).desk.set('a'))
        expect(await pairs()).to.deep.equal(['1>a', 'a>1'])
        await db.withSession(async (session) => (await session.load(Desk, 'b')).user.set(2))
        expect(await pairs()).to.deep.equal(['1>a', '2>b', 'a>1', 'b>2'])
        await db.withSession(async (session) => {
          const [three, c] = [await session.load(Profile, 3), await session.load(Desk, 'c')]
          c.user.set(three)
          expect(three.desk.value).to.equal(c)
        })
        expect(await pairs()).to.deep.equal(['1>a', '2>b', '3>c', 'a>1', 'b>2', 'c>3'])
      })

      it('detaches former partners, also those that were never loaded', async () => {
        await db.withSession(async (session) => (await session.load(Profile, 1)).desk.set('a'))
        await db.withSession(async (session) => (await session.load(Profile, 2)).desk.set('b'))
        await db.withSession(async (session) => (await session.load(Profile, 1)).desk.set('b'))
        expect(await pairs()).to.deep.equal(['1>b', 'b>1'])
        await db.withSession(async (session) => (await session.load(Desk, 'a')).user.set(1))
        expect(await pairs()).to.deep.equal(['1>a', 'a>1'])
        await db.withSession(async (session) => (await session.load(Desk, 'a')).user.set(null))
        expect(await pairs()).to.deep.equal([])
      })

      it('links two new ones, and cleans up when either is deleted', async () => {
        const session = db.session()
        const [nine, z] = [profile(9), desk('z')]
        nine.desk.set(z)
        await session.save(nine)
        expect((await db.session().load(Desk, 'z')).user.key).to.equal(9)
        await db.session().delete(Profile, 9)
        expect((await db.session().load(Desk, 'z')).user.key).to.equal(null)
      })

      const pair = (user: number, place: string): Promise<void> =>
        db.withSession(async (session) => (await session.load(Profile, user)).desk.set(place))

      it('leaves a former partner alone that another session has paired anew', async () => {
        await pair(1, 'a')
        const late = db.session()
        const left = await late.load(Desk, 'a')
        await pair(1, 'b')
        left.user.set(null)
        await late.flush()
        expect(late.isDirty()).to.equal(false)
        expect(await pairs()).to.deep.equal(['1>b', 'b>1'])
      })

      it('swaps partners in one flush', async () => {
        await pair(1, 'a')
        await pair(2, 'b')
        const session = db.session()
        const [one, two] = await session.loadMany(Profile, [1, 2])
        one.desk.set('b')
        two.desk.set('a')
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        expect(await pairs()).to.deep.equal(['1>b', '2>a', 'a>2', 'b>1'])
      })

      it('leaves no key of what is deleted by a session that did not see it paired', async () => {
        const late = db.session()
        const [one, b] = [await late.load(Profile, 1), await late.load(Desk, 'b')]
        await pair(1, 'a')
        await pair(2, 'b')
        await late.delete(one)
        await late.delete(b)
        expect(await pairs()).to.deep.equal([])
      })

      it('pairs a stored one with a new one, from either side', async () => {
        await db.withSession(async (session) => (await session.load(Profile, 1)).desk.set('a'))
        await db.withSession(async (session) => (await session.load(Profile, 1)).desk.set(desk('y')))
        await db.withSession(async (session) => (await session.load(Desk, 'b')).user.set(profile(8)))
        const [y, a, b] = await db.session().loadMany(Desk, ['y', 'a', 'b'])
        expect([y, a, b].map(({ user }) => user.key)).to.deep.equal([1, null, 8])
        const [one, eight] = await db.session().loadMany(Profile, [1, 8])
        expect([one, eight].map((each) => each.desk.key)).to.deep.equal(['y', 'b'])
      })

      it('has two sides that agree though a flush failed between them, and the other one is refreshed', async () => {
        const session = db.session()
        const [one, a] = [await session.load(Profile, 1), await session.load(Desk, 'a')]
        one.desk.set(a)
        const exists = session.persist(profile(2))
        await session.flush().catch(() => undefined)
        session.detach(exists)
        await session.refresh(a)
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        expect(await pairs()).to.deep.equal(['1>a', 'a>1'])
      })

      it('does not leave a key of what is gone', async () => {
        const session = db.session()
        const one = await session.load(Profile, 1)
        one.desk.set('missing')
        const error = await session.flush().catch((reason: unknown) => reason)
        expect(error).to.be.instanceOf(SkeinError)
        expect(await pairs()).to.deep.equal([])
      })
    })

    it('one-sided, deletes what it points to when the model says so', async () => {
      const badge = Object.assign(new Badge(), { id: 'x' })
      badge.desk.set(desk('d'))
      await db.session().save(badge)
      await db.session().delete(Badge, 'x')
      expect(await db.session().find(Desk, 'd')).to.equal(null)
    })
  })
}
