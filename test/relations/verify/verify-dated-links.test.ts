import Aerospike from 'aerospike'
import { expect } from 'chai'
import type { Database } from 'skein'
import { MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { Board, Card, Club, DATED_CLASSES, DAY, Member, Star } from '../buckets/dated-models.js'

const START = Date.parse('2024-05-01T00:00:00Z')
const today = (): string => new Date().toISOString().slice(0, 10)
const { lists, maps } = Aerospike

for (const mode of MODES) {
  describe(`verify of links by date (${mode})`, () => {
    let db: Database
    let namespace: string
    useDatabase(mode, DATED_CLASSES, (opened) => ({ db, namespace } = opened))

    const verify = async (repair = false): Promise<string[]> => {
      const findings: string[] = []
      for await (const { kind, property, state } of db.verify(DATED_CLASSES, { repair, settle: 0 }))
        findings.push(`${kind} ${property} ${state}`)
      return findings.sort()
    }
    /** Each is found, then repaired, and then there is nothing. Repairs change buckets without counting, so counts are looked at on their own. */
    const mends = async (...expected: string[]): Promise<void> => {
      const links = (findings: readonly string[]): string[] => findings.filter((each) => !each.startsWith('wrongCount'))
      expect(links(await verify())).to.deep.equal(expected.map((each) => `${each} found`))
      expect(links(await verify(true))).to.deep.equal(expected.map((each) => `${each} repaired`))
      expect(await verify()).to.deep.equal([])
    }
    const key = (set: string, id: string | number): Aerospike.Key => new Aerospike.Key(namespace, set, id)

    const drop = (record: Aerospike.Key): Promise<unknown> =>
      db.client.remove(record, new Aerospike.RemovePolicy({ durableDelete: mode === 'sc' }))

    const clubs = (): Promise<unknown> =>
      db.withSession((session) => {
        const club = session.create(Club, { id: 'c' })
        for (let i = 0; i < 4; i++)
          club.members.link(session.create(Member, { id: i }), { at: new Date(START + i * DAY) })
      })

    it('puts a link back into the bucket of its date, where one side lost it', async () => {
      await clubs()
      await db.client.operate(key('dclub_members', 'c:2024-05-02'), [maps.removeByKey('members', 1 as never)])
      await drop(key('dclub_members', 'c:2024-05-03'))
      await mends('oneSidedLink members', 'oneSidedLink members')
      const { members } = await db.session().load(Club, 'c')
      expect((await members.last(10)).map(({ id }) => id)).to.deep.equal([0, 1, 2, 3])
      expect((await db.session().load(Club, 'c')).memberCount).to.equal(4)
    })

    it('takes a link out of the bucket that has it, where the side that counts has none', async () => {
      await clubs()
      await db.client.operate(key('dmember_clubs', '2:2024-05-02'), [maps.removeByKey('clubs', 'c')])
      await mends('oneSidedLink members')
      expect(await db.session().at(Club, 'c').collection('members').keys()).to.deep.equal([0, 1, 3])
      expect((await db.session().load(Club, 'c')).memberCount).to.equal(3)
    })

    it('takes keys out that lead nowhere, and lists children whose own bin says so', async () => {
      await db.withSession((session) => {
        for (const id of ['ada', 'bob', 'eve']) session.create(Star, { id })
        session.create(Board, { id: 'b' })
        for (let i = 0; i < 3; i++) session.create(Card, { id: i }).board.set('b')
      })
      await db.withSession((session) => void session.at(Star, 'ada').collection('fans').add('bob', 'eve'))
      await drop(key('dstar', 'eve'))
      await db.client.operate(key('dboard_cards', `b:${today()}`), [lists.removeByValue('cards', 1)])
      expect(await verify()).to.deep.equal(['danglingKey fans found', 'missingLink cards found'])
      // Repairs change buckets without counting.
      const counted = ['danglingKey fans repaired', 'missingLink cards repaired', 'wrongCount fanCount repaired']
      expect(await verify(true)).to.deep.equal(counted)
      expect(await verify()).to.deep.equal([])
      const ada = await db.session().load(Star, 'ada')
      expect([await ada.fans.keys(), ada.fanCount]).to.deep.equal([['bob'], 1])
      expect(await db.session().at(Board, 'b').collection('cards').keys()).to.deep.equal([0, 1, 2])
    })

    it('moves members that the class kept in the record of their owner before', async () => {
      await db.withSession((session) => {
        for (const id of ['ada', 'bob']) session.create(Star, { id })
        for (const id of [1, 2]) session.create(Member, { id })
        session.create(Club, { id: 'old' })
      })
      await db.client.operate(key('dstar', 'ada'), [lists.append('fans', 'bob')])
      for (const id of [1, 2]) {
        await db.client.operate(key('dclub', 'old'), [maps.put('members', id as never, { at: START + id * DAY })])
        await db.client.operate(key('dmember', id), [maps.put('clubs', 'old', { at: START + id * DAY })])
      }
      await verify(true)
      expect(await verify()).to.deep.equal([])
      expect(await db.session().at(Star, 'ada').collection('fans').keys()).to.deep.equal(['bob'])
      const club = await db.session().load(Club, 'old')
      expect((await club.members.last(5)).map(({ id }) => id)).to.deep.equal([1, 2])
      expect((await db.client.get(key('dclub', 'old'))).bins.subkeys).to.deep.equal([
        'days',
        1,
        ['2024-05-02', '2024-05-03'],
      ])
    })

    it('deletes buckets whose owner is gone', async () => {
      await clubs()
      await drop(key('dclub', 'c'))
      await verify(true)
      expect(await verify()).to.deep.equal([])
      expect(await db.client.query(namespace, 'dclub_members').results()).to.deep.equal([])
      expect(await db.session().at(Member, 1).collection('clubs').count()).to.equal(0)
    })
  })
}
