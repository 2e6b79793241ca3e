import { expect } from 'chai'
import type { Database } from 'skein'
import { clockAhead } from '../../clock-ahead.js'
import { MODES, type TestServer } from '../../server.js'
import { rejection } from '../../session/rejection.js'
import { addFault, untilHit } from '../../until-hit.js'
import { storedBins } from '../../stored-bins.js'
import { useDatabase } from '../../use-database.js'
import { Board, Card, Club, DATED_CLASSES, DAY, HOUR, Member, Pin, Star } from './dated-models.js'

const START = Date.parse('2024-05-01T00:00:00Z')
const idsOf = <K>(found: readonly { readonly id: K }[]): K[] => found.map(({ id }) => id)
const codeOf = async (work: () => Promise<unknown>): Promise<unknown> =>
  ((await rejection(work)) as { code?: string }).code
const today = (): string => new Date().toISOString().slice(0, 10)

for (const mode of MODES) {
  describe(`links by date (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, DATED_CLASSES, (opened) => ({ db, server, namespace } = opened))

    const stored = (set: string, key: string | number) => storedBins(db, namespace, set, key)
    const recordsOf = async (set: string): Promise<number> => (await db.client.query(namespace, set).results()).length
    const rowsOf = async (work: () => Promise<unknown>): Promise<number> => (await server.commands.during(work)).rows
    const verify = async (repair = false): Promise<string[]> => {
      const findings: string[] = []
      for await (const { kind, property, state } of db.verify(DATED_CLASSES, { repair, settle: 0 }))
        findings.push(`${kind} ${property} ${state}`)
      return findings
    }
    const stars = (ids: readonly string[]): Promise<unknown> =>
      db.withSession((session) => {
        for (const id of ids) session.create(Star, { id })
      })
    /** A club with ten members, two each day from START on. */
    const fill = async (): Promise<Club> => {
      const session = db.session()
      const club = session.create(Club, { id: 'c' })
      for (let i = 0; i < 10; i++)
        club.members.link(session.create(Member, { id: i }), {
          at: new Date(START + Math.floor(i / 2) * DAY + i * HOUR),
        })
      await session.flush()
      return club
    }

    it('are in the record of the day on which they were made, and the owner lists the days', async () => {
      await stars(['ada', 'bob', 'eve'])
      await db.withSession((session) => void session.at(Star, 'ada').collection('fans').add('bob', 'eve'))
      const day = today()
      expect(await stored('dstar', 'ada')).to.deep.include({ fansIn: ['days', 1, [day]], fanCount: 2 })
      expect(await stored('dstar_fans', `ada:${day}`)).to.deep.include({ fans: ['bob', 'eve'], '_sk.root': 'ada' })
      const { fans } = await db.session().load(Star, 'ada')
      expect(await fans.count()).to.equal(2)
      expect(await fans.contains('bob')).to.equal(true)
      expect(await fans.contains('ada')).to.equal(false)
      expect(await fans.keys()).to.deep.equal(['bob', 'eve'])
      expect(idsOf(await fans.load())).to.deep.equal(['bob', 'eve'])
      expect(idsOf(await fans.last(1))).to.deep.equal(['eve'])
      const hour = { from: new Date(Date.now() - HOUR), to: new Date(Date.now() + HOUR) }
      expect(idsOf(await fans.window(hour))).to.deep.equal(['bob', 'eve'])
      expect(await fans.window({ from: new Date(START), to: new Date(START + DAY) })).to.deep.equal([])
    })

    it('take one command for a member of a day that has one', async () => {
      await stars(['ada', 'bob', 'eve'])
      await db.withSession((session) => void session.at(Star, 'ada').collection('fans').add('bob'))
      const add = (): Promise<unknown> =>
        db.withSession((session) => void session.at(Star, 'ada').collection('fans').add('eve'))
      // The count is one more; in a transaction both records are looked at before.
      if (mode === 'ap') expect(await rowsOf(add)).to.equal(2)
      else await add()
      expect((await db.session().load(Star, 'ada')).fanCount).to.equal(2)
      await db.withSession(
        (session) => void session.create(Board, { id: 'b' }).pins.add(session.create(Pin, { id: 1 })),
      )
      await db.withSession((session) => void session.create(Pin, { id: 2 }))
      expect(
        await rowsOf(() => db.withSession((session) => void session.at(Board, 'b').collection('pins').add(2))),
      ).to.equal(1)
    })

    it('are taken out wherever they are, with one batch of questions and one write', async () => {
      const club = await fill()
      expect(await recordsOf('dclub_members')).to.equal(5)
      await db.withSession((session) => void session.at(Club, 'c').collection('members').remove(3))
      const { members } = await db.session().load(Club, 'c')
      expect(await members.contains(3)).to.equal(false)
      expect(await members.count()).to.equal(9)
      expect(await stored('dmember_clubs', '3:2024-05-02')).to.deep.include({ clubs: {} })
      club.members.remove(4)
      expect(await club.members.count()).to.equal(8)
      await stars(['ada', 'bob'])
      await db.withSession((session) => void session.at(Star, 'ada').collection('fans').add('bob'))
      await db.withSession((session) => void session.at(Star, 'ada').collection('fans').remove('bob'))
      expect((await db.session().load(Star, 'ada', { with: ['fans'] })).fans.items).to.deep.equal([])
      expect((await db.session().load(Star, 'ada')).fanCount).to.equal(0)
      await db.withSession((session) => void session.at(Star, 'ada').collection('fans').remove('bob'))
      expect((await db.session().load(Star, 'ada')).fanCount).to.equal(0)
    })

    it('with a date of their own are found by it exactly, in the buckets that matter', async () => {
      await fill()
      const { members } = await db.session().load(Club, 'c')
      expect(await members.count()).to.equal(10)
      const window = { from: new Date(START + DAY + 3 * HOUR), to: new Date(START + 2 * DAY + 5 * HOUR) }
      let found: readonly Member[] = []
      expect(await rowsOf(async () => (found = await members.window(window)))).to.equal(1 + 2 + 2)
      expect(idsOf(found)).to.deep.equal([3, 4])
      expect(await rowsOf(async () => (found = await members.last(3)))).to.be.at.most(1 + 1 + 2 + 3)
      expect(idsOf(found)).to.deep.equal([7, 8, 9])
      expect(idsOf(await members.first(3))).to.deep.equal([0, 1, 2])
      expect(idsOf(await members.last(100))).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
      expect(await members.last(0)).to.deep.equal([])
      expect((await members.attributesOf(5))?.at.getTime()).to.equal(START + 2 * DAY + 5 * HOUR)
      const page = await members.page({ count: 4 })
      expect(idsOf(page)).to.deep.equal([0, 1, 2, 3])
      expect(idsOf(await members.page({ count: 4, after: page.next! }))).to.deep.equal([4, 5, 6, 7])
      const streamed: number[] = []
      for await (const { id } of members.stream()) streamed.push(id)
      expect(streamed.sort((a, b) => a - b)).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    })

    it('show unsent changes in windows and among the last', async () => {
      await fill()
      const session = db.session()
      const { members } = await session.load(Club, 'c')
      const late = session.create(Member, { id: 77 })
      members.link(late, { at: new Date(START + 9 * DAY) })
      members.remove(9)
      expect(idsOf(await members.last(2))).to.deep.equal([8, 77])
      const from = new Date(START + 4 * DAY)
      expect(idsOf(await members.window({ from, to: new Date(START + 10 * DAY) }))).to.deep.equal([8, 77])
      expect(idsOf(await members.window({ from, to: new Date(START + 5 * DAY) }))).to.deep.equal([8])
    })

    it('keep both sides in step, each in its own buckets', async () => {
      await fill()
      const member = await db.session().load(Member, 6, { with: ['clubs'] })
      expect(idsOf(member.clubs.items)).to.deep.equal(['c'])
      expect(await stored('dmember', 6)).to.deep.include({ subkeys: ['days', 7, ['2024-05-02']] })
      await db.withSession(async (session) => {
        const other = session.create(Club, { id: 'd' })
        const six = await session.load(Member, 6)
        six.clubs.link(other, { at: new Date(START + 20 * DAY), how: 'asked' })
      })
      const { members } = await db.session().load(Club, 'd', { with: ['members'] })
      expect(idsOf(members.items)).to.deep.equal([6])
      expect((await members.attributesOf(6))?.how).to.equal('asked')
      await db.session().delete(Member, 6)
      expect(await db.session().at(Club, 'd').collection('members').count()).to.equal(0)
      expect(await db.session().at(Club, 'c').collection('members').keys()).to.deep.equal([0, 1, 2, 3, 4, 5, 7, 8, 9])
      expect(await verify()).to.deep.equal([])
    })

    it('may have numbers of any type beside their date', async () => {
      await db.withSession((session) => {
        const club = session.create(Club, { id: 'doubles' })
        session.create(Member, { id: 71 })
        club.guests.link(71, { at: new Date(), weight: 2 })
      })
      const club = await db.session().load(Club, 'doubles', { with: ['guests'] })
      expect((await club.guests.attributesOf(71))?.weight).to.equal(2)
    })

    it('are counted where one is removed that another session adds meanwhile', async function () {
      await stars(['ada', 'bob', 'eve'])
      const change = (work: 'add' | 'remove', id: string): Promise<unknown> =>
        db.withSession((session) => void session.at(Star, 'ada').collection('fans')[work](id))
      await change('add', 'bob')
      const late = await addFault(this, server, { namespace, set: 'dstar_fans', kind: 'write', delay: 300 })
      const removal = change('remove', 'eve')
      await untilHit(late, removal)
      await change('add', 'eve')
      await removal
      const { fans, fanCount } = await db.session().load(Star, 'ada')
      expect(fanCount).to.equal(await fans.count())
    })

    it('change their attributes in place, and their date only within its bucket', async () => {
      await fill()
      const session = db.session()
      const { members } = await session.load(Club, 'c', { with: ['members'] })
      const link = (await members.attributesOf(2))!
      link.how = 'late'
      link.at = new Date(START + DAY + 23 * HOUR)
      await session.flush()
      expect((await db.session().at(Club, 'c').collection('members').attributesOf(2))?.how).to.equal('late')
      expect((await db.session().at(Member, 2).collection('clubs').attributesOf('c'))?.how).to.equal('late')
      link.at = new Date(START + 2 * DAY)
      expect(await codeOf(() => session.flush())).to.equal('SKEIN_2426')
      const other = db.session()
      ;(await other.load(Club, 'c')).members.add(other.create(Member, { id: 50 }))
      expect(await codeOf(() => other.flush())).to.equal('SKEIN_2426')
      const none = db.session()
      const guests = (await none.load(Club, 'c')).guests
      guests.link(1, { at: new Date(START) })
      expect(await codeOf(() => none.flush())).to.equal('SKEIN_2426')
    })

    it('are of one day each: a member that comes again on another day is shown once, with the newest date', async () => {
      await fill()
      await db.withSession(async (session) => {
        const { members } = await session.load(Club, 'c')
        members.link(1, { at: new Date(START + 30 * DAY) })
      })
      const { members } = await db.session().load(Club, 'c')
      expect(await members.keys()).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
      expect(idsOf(await members.last(2))).to.deep.equal([9, 1])
      expect((await members.attributesOf(1))?.at.getTime()).to.equal(START + 30 * DAY)
      await db.withSession((session) => void session.at(Club, 'c').collection('members').remove(1))
      expect(await db.session().at(Club, 'c').collection('members').contains(1)).to.equal(false)
      expect(await db.session().at(Member, 1).collection('clubs').count()).to.equal(0)
    })

    it('expire with their buckets, one ttl after the end of their time', async () => {
      await db.withSession((session) => {
        const { guests } = session.create(Club, { id: 'g' })
        guests.link(session.create(Member, { id: 1 }), { at: new Date() })
      })
      const [record] = await db.client.query(namespace, 'dclub_guests').results()
      const end = (Math.floor(Date.now() / HOUR) + 1) * HOUR + 2 * DAY
      const left = record.ttl - (await clockAhead(db, namespace, mode))
      expect(Math.abs(Date.now() + left * 1000 - end)).to.be.below(60_000)
      const { guests } = await db.session().load(Club, 'g')
      expect(idsOf(await guests.last(5))).to.deep.equal([1])
    })

    it('list children, which may move to another parent, and cascade', async () => {
      await db.withSession((session) => {
        for (const id of ['a', 'b']) session.create(Board, { id })
        for (let i = 0; i < 6; i++) session.create(Card, { id: i }).board.set('a')
      })
      expect(await db.session().at(Board, 'a').collection('cards').keys()).to.deep.equal([0, 1, 2, 3, 4, 5])
      await db.withSession(async (session) => {
        const card = await session.load(Card, 2)
        card.board.set('b')
        session.at(Board, 'b').collection('cards').add(3)
        ;(await session.load(Board, 'a')).cards.remove(4)
      })
      expect(await db.session().at(Board, 'a').collection('cards').keys()).to.deep.equal([0, 1, 5])
      expect(await db.session().at(Board, 'b').collection('cards').keys()).to.deep.equal([2, 3])
      expect(await verify()).to.deep.equal([])
      await db.session().delete(Board, 'a')
      expect(await db.session().findMany(Card, [0, 1, 2, 3, 4, 5])).to.satisfy((found: readonly (Card | null)[]) =>
        found.every((card, i) => (card === null) === [0, 1, 5].includes(i)),
      )
      expect(await recordsOf('dboard_cards')).to.equal(1)
    })

    it('delete orphans, and all members with their owner', async () => {
      await db.withSession((session) => {
        const { pins } = session.create(Board, { id: 'a' })
        for (let i = 0; i < 5; i++) pins.add(session.create(Pin, { id: i }))
      })
      await db.withSession(async (session) => {
        const { pins } = await session.load(Board, 'a')
        pins.remove(await session.load(Pin, 3))
      })
      expect(await db.session().find(Pin, 3)).to.equal(null)
      expect(await db.session().at(Board, 'a').collection('pins').keys()).to.deep.equal([0, 1, 2, 4])
      await db.session().delete(Board, 'a')
      expect(await recordsOf('dpin')).to.equal(0)
      expect(await recordsOf('dboard_pins')).to.equal(0)
    })

    it('are found from the other side by an index', async () => {
      await stars(['ada', 'bob', 'eve'])
      await db.withSession((session) => {
        session.at(Star, 'bob').collection('follows').add('ada', 'eve')
      })
      expect(await db.session().at(Star, 'ada').collection('followers').keys()).to.deep.equal(['bob'])
      expect(idsOf(await db.query(Star).whereHas('followers', 'bob').toArray()).sort()).to.deep.equal(['ada', 'eve'])
      await db.session().delete(Star, 'bob')
      expect(await db.session().at(Star, 'ada').collection('followers').count()).to.equal(0)
      expect(await verify()).to.deep.equal([])
    })

    it('are planned before anything is sent, and the plan speaks of buckets', async () => {
      await fill()
      await stars(['ada', 'bob'])
      const session = db.session()
      session.at(Star, 'ada').collection('fans').add('bob')
      const plan = String(await session.explain())
      expect(plan)
        .to.include(`ada:${today()}`)
        .and.to.include('and created')
        .and.to.include('if it is a bucket of one day')
      const other = db.session()
      other.at(Club, 'c').collection('members').remove(3)
      expect(String(await other.explain())).to.include('c:2024-05-02')
    })
  })
}
