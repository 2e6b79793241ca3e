import { expect } from 'chai'
import {
  Bin,
  CountOf,
  Key,
  ManyToMany,
  ManyToOne,
  Record,
  Sharded,
  SkeinError,
  collection,
  ref,
  type Database,
} from 'skein'
import { MODES, type TestServer } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { setClock } from '../../../set-clock.js'
import { storedBins } from '../../../stored-bins.js'
import { useDatabase } from '../../../use-database.js'

const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Lists visits by the day on which they were made, and in six hours each at the other end. */
@Record({ set: 'dlperson' })
class Person {
  @Key() id!: string
  @Sharded({ by: 'day', subkeys: 'visitedIn' }) @ManyToMany(() => Person, { through: () => Visit }) visited =
    collection<Person, Visit>()
  @Sharded({ by: 'hour', every: 6, subkeys: 'visitorsIn' })
  @ManyToMany(() => Person, { through: () => Visit })
  visitors = collection<Person, Visit>()
  @CountOf('visitors') visitorCount = 0
  @Sharded({ by: 'day', subkeys: 'staysIn' }) @ManyToMany(() => Place, { through: () => Stay }) stays = collection<
    Place,
    Stay
  >()
}

@Record({ set: 'dlplace' })
class Place {
  @Key() id!: string
  @ManyToMany(() => Person, { through: () => Stay, strategy: 'secondaryIndex' }) guests = collection<Person, Stay>()
}

@Record({ set: 'dlstay', key: '{who}@{at}' })
class Stay {
  @ManyToOne(() => Person, 'stays') who = ref<Person>()
  @ManyToOne(() => Place, 'guests') at = ref<Place>()
}

@Record({ set: 'dlvisit', key: '{from}>{to}' })
class Visit {
  @ManyToOne(() => Person, 'visited') from = ref<Person>()
  @ManyToOne(() => Person, 'visitors') to = ref<Person>()
  @Bin() text?: string
}

/** Noon of yesterday, and two days before. */
const LATELY = new Date(Date.now() - DAY).setUTCHours(12, 30)
const LONG_AGO = LATELY - 2 * DAY

const CLASSES = [Person, Visit, Place, Stay]
const idsOf = (found: readonly Person[]): string[] => found.map(({ id }) => id)
const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)

for (const mode of MODES) {
  describe(`link records by date (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, CLASSES, (opened) => ({ db, server, namespace } = opened))
    beforeEach(() =>
      db.withSession((session) => {
        for (const id of ['ada', 'bob', 'cem', 'eve']) session.create(Person, { id })
      }),
    )
    afterEach(async () => {
      const findings: string[] = []
      for await (const { message } of db.verify(CLASSES, { settle: 0 })) findings.push(message)
      expect(findings).to.deep.equal([])
    })

    const visit = (from: string, text: string): Promise<unknown> =>
      db.withSession((session) => session.at(Person, 'ada').collection('visitors').link(from, { text }))

    const visitAda = async (): Promise<void> => {
      for (const [from, at] of [
        ['cem', LONG_AGO],
        ['bob', LATELY],
        ['eve', LATELY],
      ] as const) {
        const setBack = setClock(() => at)
        await visit(from, `from ${from}`).finally(setBack)
      }
    }

    it('are not listed by one end when the other, which finds them by an index, is gone', async () => {
      const setBack = setClock(() => LONG_AGO)
      const stay = (place: string): Promise<unknown> =>
        db.withSession((session) => session.at(Person, 'bob').collection('stays').link(place, {}))
      await db.withSession((session) => {
        for (const id of ['inn', 'camp']) session.create(Place, { id })
      })
      await stay('inn').finally(setBack)
      const session = db.session()
      const [bob, camp] = [await session.load(Person, 'bob'), await session.load(Place, 'camp')]
      bob.stays.link(camp, {})
      await db.session().delete(Place, 'camp')
      expect(await rejection(() => session.flush())).to.be.instanceOf(SkeinError)
      expect(await db.session().at(Person, 'bob').collection('stays').keys()).to.deep.equal(['inn'])
      expect(await db.session().find(Stay, { who: 'bob', at: 'camp' })).to.equal(null)
    })

    it('are listed by both ends in the bucket of the time at which they were made', async () => {
      await visitAda()
      const [old, late] = [LONG_AGO, LATELY].map(dayOf)
      expect(await storedBins(db, namespace, 'dlperson', 'cem')).to.deep.include({ visitedIn: ['days', 1, [old]] })
      expect(await storedBins(db, namespace, 'dlperson_visited', `cem:${old}`)).to.deep.include({
        visited: ['cem>ada'],
      })
      expect(await storedBins(db, namespace, 'dlperson_visited', `bob:${late}`)).to.deep.include({
        visited: ['bob>ada'],
      })
      const ada = await db.session().load(Person, 'ada', { with: ['visitors'] })
      expect(idsOf(ada.visitors.items).sort()).to.deep.equal(['bob', 'cem', 'eve'])
      expect(ada.visitorCount).to.equal(3)
      expect([...(await ada.visitors.keys())].sort()).to.deep.equal(['bob', 'cem', 'eve'])
      expect(await ada.visitors.count()).to.equal(3)
      expect(await ada.visitors.contains('cem')).to.equal(true)
      expect((await ada.visitors.linkOf('cem'))?.text).to.equal('from cem')
    })

    it('show what they lead to, in windows of time and from the newest, and read no other bucket for it', async () => {
      await visitAda()
      const { visitors } = await db.session().load(Person, 'ada')
      let found: readonly Person[] = []
      const { rows } = await server.commands.during(async () => (found = await visitors.last(1)))
      expect(idsOf(found)).to.deep.equal(['eve'])
      // The owner, the newest bucket, the link and its other end.
      expect(rows).to.equal(4)
      expect(idsOf(await visitors.first(1))).to.deep.equal(['cem'])
      expect(idsOf(await visitors.last(5))).to.deep.equal(['cem', 'bob', 'eve'])
      const before = { from: new Date(LONG_AGO - DAY), to: new Date(LONG_AGO + DAY) }
      expect(idsOf(await visitors.window(before))).to.deep.equal(['cem'])
      const lately = { from: new Date(LATELY), to: new Date(LATELY + HOUR) }
      expect(idsOf(await visitors.window(lately))).to.deep.equal(['bob', 'eve'])
    })

    it('show those that are not sent yet', async () => {
      await visitAda()
      const session = db.session()
      const ada = await session.load(Person, 'ada')
      ada.visitors.unlink('eve')
      ada.visitors.link(session.create(Person, { id: 'new' }), { text: 'hello' })
      expect(idsOf(await ada.visitors.last(2))).to.deep.equal(['bob', 'new'])
      const soon = { from: new Date(Date.now() - HOUR), to: new Date(Date.now() + HOUR) }
      expect(idsOf(await ada.visitors.window(soon)))
        .to.include('new')
        .and.not.to.include('eve')
      await session.flush()
      expect(idsOf(await (await db.session().load(Person, 'ada')).visitors.last(2)).sort()).to.deep.equal([
        'bob',
        'new',
      ])
    })

    it('are deleted with an end, or when they are unlinked, off every bucket', async () => {
      await visitAda()
      await db.withSession((session) => session.at(Person, 'cem').collection('visited').unlink('ada'))
      expect(await db.session().find(Visit, { from: 'cem', to: 'ada' })).to.equal(null)
      expect((await db.session().load(Person, 'ada')).visitorCount).to.equal(2)
      await db.session().delete(Person, 'bob')
      const { visitors } = await db.session().load(Person, 'ada')
      expect(await visitors.keys()).to.deep.equal(['eve'])
      await db.session().delete(Person, 'ada')
      expect(await db.client.query(namespace, 'dlvisit').results()).to.deep.equal([])
      expect(await db.client.query(namespace, 'dlperson_visitors').results()).to.deep.equal([])
      expect(await db.session().at(Person, 'eve').collection('visited').count()).to.equal(0)
    })
  })
}
