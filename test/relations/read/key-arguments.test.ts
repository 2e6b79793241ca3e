import 'reflect-metadata'
import { expect } from 'chai'
import {
  Bin,
  collection,
  Embeddable,
  Key,
  keysOf,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  ref,
  type Database,
  type SkeinError,
} from 'skein'
import { MODES } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { useDatabase } from '../../use-database.js'

@Record({ set: 'ka_user', key: 'user:{userId}' })
class User {
  @Bin() userId!: string
  @ManyToMany(() => User) following = collection<User>()
  @ManyToOne(() => User) boss = ref<User>()
}
@Embeddable({ key: '{regionId}:{storeId}', parent: 'regionId' })
class Store {
  @Bin() regionId!: string
  @Bin() storeId!: string
}
@Embeddable()
class Line {
  @Key() id!: string
}
@Record({ set: 'ka_region' })
class Region {
  @Key() id!: string
  @OneToMany(() => Store, { strategy: 'consolidate' }) stores = collection<Store>()
  @OneToMany(() => Line, { strategy: 'consolidate', eager: false }) lines = collection<Line>()
}

for (const mode of MODES) {
  describe(`a key that is given (${mode})`, () => {
    let db: Database
    useDatabase(mode, [User, Region], (opened) => ({ db } = opened))
    beforeEach(() =>
      db.withSession(async (session) => {
        session.create(User, { userId: 'a' })
        session.create(User, { userId: 'b' })
        const region = session.create(Region, { id: 'r' })
        region.stores.add(Object.assign(new Store(), { storeId: 's' }))
        region.lines.add(Object.assign(new Line(), { id: '5' }))
      }),
    )
    const codeOf = async (work: () => unknown): Promise<string> => ((await rejection(work)) as SkeinError).code

    it('may be its parts wherever a session asks for it', async () => {
      const session = db.session()
      const parts = { regionId: 'r', storeId: 's' }
      expect((await session.loadPart(Store, parts)).storeId).to.equal('s')
      expect(await session.findPart(Store, { ...parts, storeId: 'x' })).to.equal(null)
      expect((await session.load(User, { userId: 'a' })).userId).to.equal('a')
      expect(
        (await session.findMany(User, [{ userId: 'a' }, { userId: 'x' }])).map((user) => user?.userId),
      ).to.deep.equal(['a', undefined])
      expect(await session.at(User, { userId: 'a' }).collection('following').count()).to.equal(0)
      expect((await db.read(User, [{ userId: 'b' }]))[0]?.userId).to.equal('b')
      expect(await session.delete(User, { userId: 'b' })).to.equal(true)
    })

    it('to a relation as its parts is refused with the call that makes a key of them', async () => {
      const parts = { userId: 'b' } as never
      const user = await db.session().load(User, 'user:a')
      expect(await codeOf(() => user.following.add(parts))).to.equal('SKEIN_2408')
      expect(await codeOf(() => user.following.contains(parts))).to.equal('SKEIN_2408')
      expect(await codeOf(() => user.boss.set(parts))).to.equal('SKEIN_2408')
      expect(user.boss.key).to.equal(null)
      const given = db.withSession(async (session) => (await session.load(User, 'user:a')).boss.set(parts))
      expect(((await rejection(() => given)) as Error).message)
        .to.include('plain object')
        .and.include('keysOf(User).of(parts)')
      // Text that the template did not print: the advice must not be parts, which are refused here.
      const bare = db.withSession(async (session) => (await session.load(User, 'user:a')).boss.set('b'))
      expect(((await rejection(() => bare)) as Error).message)
        .to.include('keysOf(User).of({ userId })')
        .and.not.include('Give its parts')
      await db.withSession(async (session) => {
        const found = await session.load(User, 'user:a')
        found.boss.set(keysOf(User).of(parts))
        found.following.add(keysOf(User).of(parts))
      })
      expect((await db.session().load(User, 'user:a')).boss.key).to.equal('user:b')
    })

    it('of another type is refused by a consolidated collection as by any other', async () => {
      const session = db.session()
      for (const region of [session.at(Region, 'r'), await db.session().load(Region, 'r', { with: ['lines'] })]) {
        const lines = 'collection' in region ? region.collection('lines') : region.lines
        for (const wrong of [5, 5n, Buffer.from('5'), null, ''] as never[]) {
          expect(await codeOf(() => lines.get(wrong))).to.equal('SKEIN_2101')
          expect(await codeOf(() => lines.getMany(['5', wrong]))).to.equal('SKEIN_2101')
          expect(await codeOf(() => lines.contains(wrong))).to.equal('SKEIN_2101')
          expect(await codeOf(() => lines.indexOf(wrong))).to.equal('SKEIN_2101')
          expect(await codeOf(() => lines.remove(wrong))).to.equal('SKEIN_2101')
        }
        expect((await lines.get('5'))?.id).to.equal('5')
      }
      const stores = session.at(Region, 'r').collection('stores')
      expect(await codeOf(() => stores.get('s'))).to.equal('SKEIN_2103')
      expect((await stores.get({ regionId: 'r', storeId: 's' } as never))?.storeId).to.equal('s')
      expect(session.isDirty()).to.equal(false)
    })
  })
}
