import { expect } from 'chai'
import {
  Bin,
  Counter,
  CreatedAt,
  Embeddable,
  Embedded,
  EntityGoneError,
  Key,
  OneToMany,
  Record,
  SkeinError,
  Version,
  collection,
  type Database,
} from 'skein'
import { MODES, type TestServer } from '../server.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Address {
  @Bin() city?: string
  @Bin() visits?: number
}

@Embeddable()
class Reading {
  @Key() id!: string
  @Bin() celsius!: number
}

@Record({ set: 'rec_user' })
class User {
  @Key() name!: string
  @Bin({ type: { list: 'string' } }) log: string[] = []
  @Bin({ type: { list: 'date' } }) seen: Date[] = []
  @Bin({ type: { set: 'string' } }) tags = new Set<string>()
  @Bin({ type: { map: 'int' } }) scores = new Map<string, number>()
  @Bin({ type: { map: { map: 'int' } } }) stats = new Map<string, Map<string, number>>()
  @Bin({ type: { map: { list: 'int' } } }) series = new Map<string, number[]>()
  @Bin({ type: 'json' }) settings?: unknown
  @Embedded(() => Address) home?: Address
  @Embedded(() => Address, { as: 'map' }) places = new Map<string, Address>()
  @Counter() logins = 0
}

@Record({ set: 'rec_day', key: '{sensor}:{day|YYYY-MM-DD}' })
class SensorDay {
  @Bin() sensor!: string
  @Bin() day!: Date
  @Counter() samples = 0
  @Bin({ type: { list: 'int' } }) values: number[] = []
  @CreatedAt() createdAt?: Date
  @Version() version?: number
  @OneToMany(() => Reading, { strategy: 'consolidate' }) readings = collection<Reading>()
}

function alice(): User {
  return Object.assign(new User(), {
    name: 'alice',
    log: ['a', 'b'],
    tags: new Set(['x']),
    scores: new Map([
      ['bob', 3],
      ['carol', 1],
      ['dave', 4],
    ]),
    logins: 5,
  })
}

for (const mode of MODES) {
  describe(`a handle on a record (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [User, SensorDay], (opened) => ({ db, server } = opened))

    const stored = (): Promise<User> => db.session().load(User, 'alice')

    it('changes lists, sets, maps and counters of one record by one command and reads nothing', async () => {
      await db.session().save(alice())
      const session = db.session()
      const user = session.at(User, 'alice')
      user.list('log').append('c', 'd')
      user.list('log').remove('a')
      user.set('tags').add('y')
      user.map('scores').put('erin', 9)
      user.map('scores').increment('bob', 2)
      user.map('scores').remove('carol')
      user.counter('logins').add(2)
      const { commands } = await server.commands.during(() => session.flush())
      expect(commands).to.equal(1)
      const { log, tags, scores, logins } = await stored()
      expect(log).to.deep.equal(['b', 'c', 'd'])
      expect([...tags]).to.deep.equal(['x', 'y'])
      expect([...scores]).to.deep.equal([
        ['bob', 5],
        ['dave', 4],
        ['erin', 9],
      ])
      expect(logins).to.equal(7)
      expect(session.isDirty()).to.equal(false)
    })

    it('makes nested maps and lists where they are missing', async () => {
      await db.session().save(alice())
      const session = db.session()
      const user = session.at(User, 'alice')
      user.map('stats').at('accolades').increment('jokes', 2)
      user.map('series').at('week').append(1, 2)
      user.map('home').put('city', 'Bern')
      user.map('home').increment('visits')
      await session.flush()
      const { stats, series, home } = await stored()
      expect(stats.get('accolades')?.get('jokes')).to.equal(2)
      expect(series.get('week')).to.deep.equal([1, 2])
      expect(home).to.include({ city: 'Bern', visits: 1 })
    })

    it('never brings a removed part of a map back as a fragment', async () => {
      await db.session().save(alice())
      const session = db.session()
      session.at(User, 'alice').map('places').at('gone').put('city', 'Bern')
      expect(await session.flush().catch((error: unknown) => error)).to.be.instanceOf(SkeinError)
      expect((await stored()).places.size).to.equal(0)
    })

    it('answers questions by one command, whatever their number, with unsent changes applied', async () => {
      await db.session().save(alice())
      const user = db.session().at(User, 'alice')
      user.list('log').append('c')
      user.map('scores').put('erin', 9)
      user.map('stats').at('accolades').increment('jokes')
      user.set('tags').remove('x')
      user.counter('logins').add(1)
      const { commands } = await server.commands.during(async () => {
        const answers = await Promise.all([
          user.list('log').size(),
          user.list('log').last(2),
          user.list('log').contains('c'),
          user.list('log').indexOf('b'),
          user.map('scores').top(2),
          user.map('scores').rankOf('dave'),
          user.map('scores').indexOf('dave'),
          user.map('scores').getMany(['bob', 'nobody', 'erin']),
          user.map('scores').get('carol'),
          user.map('scores').get('nobody'),
          user.map('stats').at('accolades').get('jokes'),
          user.set('tags').has('x'),
          user.counter('logins').value(),
        ])
        expect(answers).to.deep.equal([
          3,
          ['b', 'c'],
          true,
          1,
          [
            ['erin', 9],
            ['dave', 4],
          ],
          2,
          2,
          new Map([
            ['bob', 3],
            ['erin', 9],
          ]),
          1,
          undefined,
          1,
          false,
          6,
        ])
      })
      expect(commands).to.equal(1)
      expect((await stored()).log).to.deep.equal(['a', 'b'])
    })

    it('shows its changes in a loaded entity, and the entity its own in the answers, and sends each once', async () => {
      const session = db.session()
      const user = await session.save(alice())
      const handle = session.at(user)
      handle.list('log').append('c')
      handle.map('scores').increment('bob')
      handle.counter('logins').add(1)
      expect(user.log).to.deep.equal(['a', 'b', 'c'])
      expect(user.scores.get('bob')).to.equal(4)
      expect(user.logins).to.equal(6)
      user.log.push('d')
      user.tags.add('z')
      expect(await handle.list('log').byIndex({ count: 9 })).to.deep.equal(['a', 'b', 'c', 'd'])
      expect(await handle.set('tags').members()).to.deep.equal(['x', 'z'])
      expect(session.changes(user).properties).to.have.members(['log', 'scores', 'logins', 'tags'])
      await session.save(user)
      const { log, scores, logins, tags } = await stored()
      expect(log).to.deep.equal(['a', 'b', 'c', 'd'])
      expect(scores.get('bob')).to.equal(4)
      expect(logins).to.equal(6)
      expect([...tags]).to.deep.equal(['x', 'z'])
      expect(session.isDirty()).to.equal(false)
    })

    it('shows changes made before a load in the entity that is loaded after them', async () => {
      await db.session().save(alice())
      const session = db.session()
      session.at(User, 'alice').list('log').append('c')
      const user = await session.load(User, 'alice')
      expect(user.log).to.deep.equal(['a', 'b', 'c'])
      await session.flush()
      expect((await stored()).log).to.deep.equal(['a', 'b', 'c'])
    })

    it('loses nothing when many sessions change one record', async () => {
      await db.session().save(alice())
      await Promise.all(
        Array.from({ length: 20 }, async (_, i) => {
          const session = db.session()
          const user = session.at(User, 'alice')
          user.counter('logins').add(1)
          user.map('stats').at('accolades').increment('jokes')
          user.set('tags').add(`t${i}`)
          user.list('log').append(`l${i}`)
          await session.flush()
        }),
      )
      const { logins, stats, tags, log } = await stored()
      expect([logins, stats.get('accolades')?.get('jokes'), tags.size, log.length]).to.deep.equal([25, 20, 21, 22])
    })

    it('refuses a change of a record that is missing and creates nothing', async () => {
      const session = db.session()
      session.at(User, 'nobody').list('log').append('x')
      expect(await session.flush().catch((error: unknown) => error)).to.be.instanceOf(EntityGoneError)
      expect(await db.session().find(User, 'nobody')).to.equal(null)
    })

    it('creates the record for many first writers at once where it is asked to', async () => {
      const key = { sensor: 's1', day: new Date('2026-11-17') }
      const { commands } = await server.commands.during(() =>
        Promise.all(
          Array.from({ length: 10 }, async (_, i) => {
            const session = db.session()
            const day = session.at(SensorDay, key, { create: true })
            day.counter('samples').add(1)
            day.list('values').append(i)
            day.collection('readings').add(Object.assign(new Reading(), { id: `r${i}`, celsius: i }))
            await session.flush()
          }),
        ),
      )
      expect(commands).to.be.at.most(10)
      const day = await db.session().load(SensorDay, key)
      expect(day).to.include({ sensor: 's1', samples: 10, version: 10 })
      expect(day.createdAt).to.be.instanceOf(Date)
      expect(day.values.toSorted((a, b) => a - b)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
      expect(await day.readings.count()).to.equal(10)
    })

    it('shows what it would create before it is stored', async () => {
      const session = db.session()
      const day = session.at(SensorDay, { sensor: 's2', day: new Date('2026-11-17') }, { create: true })
      day.list('values').append(3, 1)
      day.counter('samples').add(2)
      expect(await day.list('values').byIndex({ count: 5 })).to.deep.equal([3, 1])
      expect(await day.counter('samples').value()).to.equal(2)
      expect(session.isDirty()).to.equal(true)
    })

    it('does not show in load and find what it would create, and load says that a flush creates it', async () => {
      const key = { sensor: 's3', day: new Date('2026-11-17') }
      const session = db.session()
      session.at(SensorDay, key, { create: true }).counter('samples').add(2)
      expect(await session.find(SensorDay, key)).to.equal(null)
      const error: unknown = await session.load(SensorDay, key).catch((caught: unknown) => caught)
      expect(error).to.have.property('code', 'SKEIN_3001')
      expect((error as SkeinError).message).to.include('Flush first')
      await session.flush()
      expect((await session.load(SensorDay, key)).samples).to.equal(2)
    })

    it('refuses wrong names, kinds and values before anything is sent', async () => {
      const user = db.session().at(User, 'alice')
      expect(() => user.counter('log' as never))
        .to.throw(SkeinError)
        .with.property('code', 'SKEIN_2330')
      expect(() => user.list('tags' as never))
        .to.throw(SkeinError)
        .with.property('code', 'SKEIN_2330')
      expect(() => user.list('log').append(1 as never))
        .to.throw(SkeinError)
        .with.property('code', 'SKEIN_2201')
      expect(() => user.counter('logins').add(0.5))
        .to.throw(SkeinError)
        .with.property('code', 'SKEIN_2331')
      expect(() => user.map('home').put('town' as never, 'x' as never))
        .to.throw(SkeinError)
        .with.property('code', 'SKEIN_2330')
    })
  })
}
