import { expect } from 'chai'
import type { Database, Session } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { Club, DATED_CLASSES, DAY, HOUR, Member, Star } from './dated-models.js'

const START = Date.parse('2024-05-01T00:00:00Z')
const DAYS = ['2024-05-01', '2024-05-11', '2024-05-21']
const dayOf = (i: number): Date => new Date(START + 10 * i * DAY)

/** Ways to get the club whose record is stored, and to add to it. */
const WAYS: { readonly [name: string]: (session: Session) => Promise<Pick<Club, 'members' | 'guests'>> } = {
  'a loaded owner': (session) => session.load(Club, 'c'),
  'an owner that was not read': (session) => {
    const at = session.at(Club, 'c')
    return Promise.resolve({ members: at.collection('members'), guests: at.collection('guests') } as unknown as Club)
  },
}

for (const mode of MODES) {
  describe(`links whose buckets are made in one flush (${mode})`, () => {
    let db: Database
    let namespace: string
    useDatabase(mode, DATED_CLASSES, (opened) => ({ db, namespace } = opened))

    const stored = async (set: string, key: string | number): Promise<{ [bin: string]: unknown }> =>
      (await db.client.get({ ns: namespace, set, key })).bins
    const verify = async (): Promise<string[]> => {
      const findings: string[] = []
      for await (const { kind, property, state } of db.verify(DATED_CLASSES, { settle: 0 }))
        findings.push(`${kind} ${property} ${state}`)
      return findings
    }

    beforeEach(() =>
      db.withSession((session) => {
        session.create(Club, { id: 'c' })
        for (const id of [0, 1, 2, 3]) session.create(Member, { id })
      }),
    )

    for (const [name, clubIn] of Object.entries(WAYS))
      it(`are all stored, on both sides, and listed by ${name}`, async () => {
        await db.withSession(async (session) => {
          const { members } = await clubIn(session)
          for (const id of [0, 1, 2]) members.link(id, { at: dayOf(id) })
        })
        expect(await stored('dclub', 'c')).to.deep.include({ subkeys: ['days', 1, DAYS] })
        expect(await db.session().at(Club, 'c').collection('members').keys()).to.deep.equal([0, 1, 2])
        for (const id of [0, 1, 2])
          expect(await db.session().at(Member, id).collection('clubs').keys()).to.deep.equal(['c'])
        await db.withSession(async (session) => {
          const { members } = await clubIn(session)
          members.remove(1)
          members.link(0, { at: dayOf(1) })
          members.link(3, { at: dayOf(4) })
        })
        const { members } = await db.session().load(Club, 'c')
        expect(await members.keys()).to.deep.equal([0, 2, 3])
        expect((await members.attributesOf(0))?.at).to.deep.equal(dayOf(1))
        expect(await verify()).to.deep.equal([])
      })

    it('are listed beside those of another collection, of hours', async () => {
      const hour = Math.floor(Date.now() / HOUR) * HOUR
      await db.withSession(async (session) => {
        const { members, guests } = await session.load(Club, 'c')
        for (const id of [0, 1, 2]) guests.link(id, { at: new Date(hour - id * HOUR) })
        for (const id of [1, 2, 3]) members.link(id, { at: dayOf(id) })
      })
      const club = await db.session().load(Club, 'c')
      expect(await club.guests.keys()).to.deep.equal([0, 1, 2])
      expect(await club.members.keys()).to.deep.equal([1, 2, 3])
      expect(((await stored('dclub', 'c')).guestsIn as unknown[])[2]).to.have.length(3)
      expect(await verify()).to.deep.equal([])
    })

    it('are counted, and stored by several owners at once', async () => {
      await db.withSession((session) => {
        for (const id of ['ada', 'bob', 'eve']) session.create(Star, { id })
      })
      await db.withSession(async (session) => {
        const ada = await session.load(Star, 'ada')
        ada.name = 'Ada'
        ada.fans.add('bob', 'eve')
        ada.followers.add('bob', 'eve')
        ;(await session.load(Star, 'bob')).fans.add('ada', 'eve')
        const member = await session.load(Member, 1)
        const clubs = ['d', 'e', 'f'].map((id) => session.create(Club, { id }))
        for (const [i, club] of clubs.entries()) member.clubs.link(club, { at: dayOf(i) })
      })
      const ada = await db.session().load(Star, 'ada')
      expect([ada.name, ada.fanCount, await ada.fans.count(), await ada.followers.count()]).to.deep.equal([
        'Ada',
        2,
        2,
        2,
      ])
      expect(await db.session().at(Member, 1).collection('clubs').keys()).to.deep.equal(['d', 'e', 'f'])
      expect(await verify()).to.deep.equal([])
    })

    const inTransaction = async (): Promise<void> => {
      const link = async (session: Session, ids: readonly number[]): Promise<void> => {
        const { members } = await session.load(Club, 'c')
        for (const id of ids) members.link(id, { at: dayOf(id) })
        await session.flush()
      }
      const failed = db.transaction(async (session) => {
        await link(session, [0, 1])
        throw new Error('not now')
      })
      expect(await failed.catch((error: Error) => error.message)).to.equal('not now')
      expect(await db.session().at(Club, 'c').collection('members').count()).to.equal(0)
      await db.transaction(async (session) => {
        await link(session, [0, 1])
        await link(session, [2, 3])
      })
      expect(await db.session().at(Club, 'c').collection('members').keys()).to.deep.equal([0, 1, 2, 3])
      expect(await verify()).to.deep.equal([])
    }
    if (mode === 'sc') it('are rolled back together with a transaction, or stored by all of its flushes', inTransaction)
  })
}
