import { expect } from 'chai'
import { Bin, collection, Counter, Embeddable, Embedded, Key, OneToMany, Record, type Database } from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Profile {
  @Bin() name?: string
  @Bin({ type: 'int' }) level: number = 1
  @Counter() hits = 0
}

@Embeddable()
class Device {
  @Key() id!: string
  @Bin() name?: string
  @Bin() os?: string
}

@Record({ set: 'una_player' })
class Player {
  @Key() id!: string
  @Bin({ type: { map: 'int' } }) scores?: Map<string, number>
  @Bin({ type: { map: { map: 'int' } } }) nested?: Map<string, Map<string, number>>
  @Bin({ type: { map: 'int', key: 'bytes' } }) seals?: Map<Uint8Array, number>
  @Embedded(() => Profile) profile?: Profile
  @Embedded(() => Profile, { as: 'map' }) profiles?: Map<string, Profile>
  @OneToMany(() => Device, { strategy: 'consolidate' }) devices = collection<Device>()
}

const bytes = (...each: number[]): Uint8Array => Uint8Array.from(each)

for (const mode of MODES) {
  describe(`an answer about unsent changes (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Player], (opened) => ({ db } = opened))

    it('is the same before and after the flush that makes the record', async () => {
      const session = db.session()
      const player = session.at(Player, 'new', { create: true })
      player.map('scores').put('z', 1)
      player.map('nested').at('a').increment('x', 2)
      player.map('seals').put(bytes(255), 3)
      player.map('profile').put('name', 'n')
      player.map('profiles').put('main', Object.assign(new Profile(), { name: 'm' }))
      const profile = player.map('profile')
      const answers = async (): Promise<unknown> => ({
        sizes: [
          await player.map('scores').size(),
          await player.map('nested').size(),
          await player.map('nested').at('a').size(),
          await player.map('seals').size(),
          await profile.size(),
          await player.map('profiles').at('main').size(),
        ],
        keys: await player.map('scores').keys(),
        rank: await player.map('scores').rankOf('z'),
        first: await player.map('seals').byIndex({ offset: 0, count: 1 }),
        fields: await profile.keys(),
        hasHits: await profile.has('hits'),
        level: await profile.get('level'),
      })
      const before = await answers()
      expect(before).to.deep.include({
        sizes: [1, 1, 1, 1, 1, 3],
        fields: ['name'],
        hasHits: false,
        level: undefined,
      })
      await session.flush()
      expect(await answers()).to.deep.equal(before)
    })

    it('takes the last of several entries under the same bytes', async () => {
      await db.session().save(Object.assign(new Player(), { id: 'a' }))
      for (const isLoaded of [false, true]) {
        const session = db.session()
        if (isLoaded) await session.load(Player, 'a')
        const seals = session.at(Player, 'a').map('seals')
        seals.putMany([
          [bytes(1, 2), 1],
          [bytes(3), 5],
          [bytes(1, 2), 2],
        ])
        expect([await seals.size(), await seals.get(bytes(1, 2))]).to.deep.equal([2, 2])
        await session.flush()
        expect([await seals.size(), await seals.get(bytes(1, 2))]).to.deep.equal([2, 2])
      }
    })

    it('has no field of a part or child that null was put into, nor has the record afterwards', async () => {
      const profile = (): Profile => Object.assign(new Profile(), { name: 'n' })
      for (const isLoaded of [false, true]) {
        const player = Object.assign(new Player(), { id: 'a', profile: profile() })
        player.profiles = new Map([['main', profile()]])
        player.devices.add(Object.assign(new Device(), { id: 'd', name: 'n', os: 'o' }))
        await db.session().upsert(player)
        const session = db.session()
        const loaded = isLoaded ? await session.load(Player, 'a', { with: ['devices'] }) : undefined
        const at = session.at(Player, 'a')
        at.map('profile').put('name', null as never)
        at.map('profiles').at('main').put('name', undefined)
        at.child('devices', 'd').putMany([
          ['name', 'again'],
          ['os', 'p'],
          ['name', undefined],
        ])
        const answers = async (): Promise<unknown> => [
          await at.map('profile').has('name'),
          await at.map('profiles').at('main').keys(),
          await at.child('devices', 'd').getMany(['name', 'os']),
        ]
        const expected = [false, ['hits', 'level'], new Map([['os', 'p']])]
        expect(await answers()).to.deep.equal(expected)
        if (loaded !== undefined)
          expect([
            loaded.profile!.name,
            loaded.profiles!.get('main')!.name,
            loaded.devices.items[0].name,
          ]).to.deep.equal([undefined, undefined, undefined])
        await session.flush()
        expect(await answers()).to.deep.equal(expected)
        expect(session.isDirty()).to.equal(false)
        expect(await db.session().at(Player, 'a').map('profile').keys()).to.deep.equal(['hits', 'level'])
      }
    })
  })
}
