import { expect } from 'chai'
import { Bin, Embeddable, Embedded, Key, Record, type Database } from 'skein'
import { MODES, type TestServer } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Line {
  @Bin() product!: string
  @Bin({ type: 'int' }) quantity: number = 0
}

@Embeddable()
class Place {
  @Bin() city?: string
}

@Embeddable()
class Device {
  @Bin() os!: string
  @Bin({ type: 'int' }) uses: number = 0
  @Bin() active: boolean = true
  @Embedded(() => Place) place?: Place
  @Embedded(() => Line, { as: 'array' }) lines: Line[] = []
  @Embedded(() => Line, { as: 'map' }) byCode = new Map<string, Line>()
}

@Record({ set: 'mit_user' })
class User {
  @Key() id!: string
  @Embedded(() => Device, { as: 'map' }) devices = new Map<string, Device>()
  @Embedded(() => Place) home?: Place
  @Bin({ type: { map: 'int' } }) scores = new Map<string, number>()
}

const line = (product: string, quantity: number): Line => Object.assign(new Line(), { product, quantity })
const device = (os: string, values: Partial<Device> = {}): Device => Object.assign(new Device(), { os, ...values })

for (const mode of MODES) {
  describe(`parts of a map by conditions (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [User], (opened) => ({ db, server } = opened))

    beforeEach(() =>
      db.session().save(
        Object.assign(new User(), {
          id: 'alice',
          devices: new Map([
            ['laptop', device('linux', { uses: 3, place: Object.assign(new Place(), { city: 'Bern' }) })],
            ['phone', device('android', { uses: 9, lines: [line('case', 1), line('cable', 4)] })],
            ['tablet', device('android', { active: false, byCode: new Map([['p', line('pen', 2)]]) })],
          ]),
        }),
      ),
    )

    it('are selected and counted, one command each', async () => {
      const devices = db.session().at(User, 'alice').map('devices')
      const found = await devices.where({ os: 'android', active: true }).select()
      expect(found).to.have.length(1)
      expect(found[0]).to.be.instanceOf(Device)
      expect(found[0].uses).to.equal(9)
      expect(await devices.where({ uses: { gte: 3 } }).count()).to.equal(2)
      expect(await devices.where({ place: { city: 'Bern' } }).count()).to.equal(1)
      expect(await devices.where((d) => d.os.eq('linux').or(d.active.eq(false))).count()).to.equal(2)
      expect((await devices.where({}).select()).map(({ os }) => os)).to.deep.equal(['linux', 'android', 'android'])
      const { rows } = await server.commands.during(() => devices.where({ os: 'linux' }).count())
      expect(rows).to.equal(1)
      expect(await db.session().at(User, 'nobody').map('devices').where({}).select()).to.deep.equal([])
    })

    it('are set, incremented and removed by one command, and only they', async () => {
      const session = db.session()
      const devices = session.at(User, 'alice').map('devices')
      devices.where({ os: 'android' }).set({ active: true })
      devices.where({ uses: { gt: 5 } }).increment('uses', 2)
      devices.where({ os: 'linux' }).remove()
      expect(await devices.where({ active: true }).count(), 'before it is sent').to.equal(2)
      const { rows } = await server.commands.during(() => session.flush())
      expect(rows).to.equal(1)
      const { devices: stored } = await db.session().load(User, 'alice')
      expect([...stored].map(([key, { uses, active }]) => [key, uses, active])).to.deep.equal([
        ['phone', 11, true],
        ['tablet', 0, true],
      ])
      expect(stored.get('phone')!.lines).to.have.length(2)
    })

    it('are reached in lists and maps inside the parts', async () => {
      const session = db.session()
      const devices = session.at(User, 'alice').map('devices')
      expect(
        await devices
          .where({ os: 'android' })
          .at('lines')
          .where({ quantity: { gt: 1 } })
          .count(),
      ).to.equal(1)
      expect(await devices.where({}).at('byCode').where({ product: 'pen' }).count()).to.equal(1)
      devices.where({}).at('byCode').where({ product: 'pen' }).increment('quantity', 5)
      await session.flush()
      const { devices: stored } = await db.session().load(User, 'alice')
      expect(stored.get('tablet')!.byCode.get('p')!.quantity).to.equal(7)
    })

    it('lose nothing when many writers change different ones', async () => {
      await Promise.all(
        ['linux', 'android'].flatMap((os) =>
          Array.from({ length: 8 }, () =>
            db.withSession((session) => session.at(User, 'alice').map('devices').where({ os }).increment('uses')),
          ),
        ),
      )
      const { devices } = await db.session().load(User, 'alice')
      expect([...devices.values()].map(({ uses }) => uses)).to.deep.equal([11, 17, 8])
    })

    it('leave nothing stale in a loaded entity that could be written back', async () => {
      const session = db.session()
      const alice = await session.load(User, 'alice')
      session.at(User, 'alice').map('devices').where({ os: 'android' }).set({ active: false })
      await session.flush()
      alice.devices = new Map()
      const error = (await rejection(() => session.flush())) as { code?: string }
      expect(error.code).to.equal('SKEIN_2202')
      const again = await db.session().load(User, 'alice')
      expect([...again.devices.values()].map(({ active }) => active)).to.deep.equal([true, false, false])
    })

    it('are refused for a single part and for a map of values', async () => {
      const alice = db.session().at(User, 'alice')
      const asked: [string, () => unknown][] = [
        ['SKEIN_2330', () => (alice.map('home') as never as { where(c: object): object }).where({ city: 'x' })],
        ['SKEIN_2330', () => (alice.map('scores') as never as { where(c: object): object }).where({ city: 'x' })],
        ['SKEIN_2310', () => alice.map('devices').where({ colour: 'red' } as never)],
      ]
      for (const [code, ask] of asked) {
        const error = (await rejection(() => Promise.resolve().then(ask))) as { code?: string }
        expect(error.code).to.equal(code)
      }
    })
  })
}
