import { expect } from 'chai'
import type { Database, Finding, SkeinError } from 'skein'
import type { EmbeddedServer } from 'skein/embedded'
import { ALL_FAULTS } from '../faults/faults.js'
import { isNamedServer, type TestServer } from '../server.js'
import { useDatabase } from '../use-database.js'
import { told } from './during-splits.js'
import { Board, GROWING_PART_CLASSES, Thread, Writer, remark, score, thread } from './growing-part-models.js'

const PLAYERS = Array.from({ length: 10 }, (_, i) => i)
const SHOWN = [...PLAYERS].reverse()

/** Changes of the number of shards; -1 is the owner's own record. */
const COURSES = [
  { from: -1, to: 3 },
  { from: 2, to: 4 },
  { from: 3, to: 2 },
  { from: 2, to: -1 },
] as const

describe('a split of consolidated children in a namespace with transactions', function () {
  this.timeout(60_000)
  let db: Database
  let other: Database
  let server: TestServer
  let namespace: string
  useDatabase('sc', GROWING_PART_CLASSES, (opened) => ({ db, server, namespace } = opened))
  before(async () => {
    other = await server.open({ namespace, entities: GROWING_PART_CLASSES })
  })
  afterEach(() => server.embedded?.faults.clear())
  after(() => other?.close())

  const scores = (of: Database, id: string) => of.session().at(Thread, id).collection('scores')
  const move = (of: Database, id: string, to: number): Promise<void> =>
    to < 0 ? scores(of, id).merge() : scores(of, id).shard(to)
  const players = async (of: Database, id: string): Promise<number[]> =>
    (await scores(of, id).page({ count: 100 })).map(({ player }) => player)
  const prepare = async (id: string, from: number): Promise<void> => {
    const made = thread(id)
    made.scores.add(...PLAYERS.map((player) => score(player, 100 - player, `name ${player}`)))
    await db.session().save(made)
    if (from > 0) await scores(db, id).shard(from)
  }

  for (const { from, to } of COURSES)
    it(`is one transaction, from ${from} to ${to} shards`, async () => {
      await prepare('t', from)
      const { splits, transactions } = await told(() => move(db, 't', to))
      expect(splits.map(({ how, reason }) => `${how} ${reason}`)).to.deep.equal(['transaction call'])
      const writes = 1 + Math.max(from, to, 0)
      expect(transactions.map(({ state, writes }) => ({ state, writes }))).to.deep.equal([
        { state: 'committed', writes },
      ])
      expect(await players(other, 't')).to.deep.equal(SHOWN)
      const named = await scores(other, 't').by('named').page({ count: 100 })
      expect(named.map(({ player }) => player)).to.deep.equal(PLAYERS)
      expect(await scores(other, 't').get(3)).to.deep.include({ points: 97, name: 'name 3' })
      const companions = await db.client.query(namespace, 'gpthread_scores').results()
      expect(companions).to.have.length(Math.max(to, 0))
      for (const { bins } of companions) expect(bins['_sk.shards']).to.equal(to)
      const found: Finding[] = []
      for await (const finding of db.verify(Thread, { settle: 0 })) found.push(finding)
      expect(found).to.deep.equal([])
    })

  it('goes on in steps where a companion of an earlier owner is in the way', async () => {
    await db.client.put({ ns: namespace, set: 'gpthread_scores', key: 't:1' }, { '_sk.shards': 7 })
    await prepare('t', -1)
    const { splits } = await told(() => scores(db, 't').shard(4))
    expect(splits.map(({ how }) => how)).to.deep.equal(['steps'])
    expect(await players(other, 't')).to.deep.equal(SHOWN)
  })

  it('shows all children or says that it cannot, while a record has not heard of the commit', async function () {
    if (isNamedServer) this.skip()
    const { faults, clock } = server.embedded as EmbeddedServer
    let turn = 0
    let refusals = 0
    // Reading takes seconds where it cannot be told: by default it is one record of two moves.
    for (const { from, to } of ALL_FAULTS ? COURSES : COURSES.slice(1, 3)) {
      const records = 1 + Math.max(from, to)
      const skips = ALL_FAULTS ? [...Array(records).keys()] : [records - 1]
      for (const skip of skips) {
        const id = `t${turn++}`
        await prepare(id, from)
        await scores(other, id).count()
        await faults.add({ namespace, kind: 'txn-roll-forward', skip, answer: 9 })
        await move(db, id, to).catch(() => undefined)
        const where = `from ${from} to ${to}, record ${skip}`
        const seen = await players(other, id).catch((error: SkeinError) => error.code)
        if (seen === 'SKEIN_3302') refusals++
        else expect(seen, where).to.deep.equal(SHOWN)
        await faults.clear()
        await clock.advance(30)
        expect(await players(other, id), where).to.deep.equal(SHOWN)
        await move(db, id, to)
        expect(await players(other, id), where).to.deep.equal(SHOWN)
      }
    }
    expect(refusals).to.be.above(0)
  })

  it('comes first where a flush that adds children of new entities finds the record full', async () => {
    const add = (of: readonly number[]): Promise<unknown> =>
      db.withSession(async (session) => {
        const { notes } = await session.load(Board, 'b')
        for (const i of of) {
          const note = remark(`n${i}`, 'x'.repeat(100_000))
          note.author.set(session.persist(Object.assign(new Writer(), { id: i })))
          notes.add(note)
        }
      })
    await db.session().save(Object.assign(new Board(), { id: 'b' }))
    const { splits } = await told(async () => {
      await add([0, 1, 2, 3])
      await add([4, 5, 6, 7])
      await add([8, 9, 10, 11])
    })
    expect(splits.map(({ how, reason }) => `${how} ${reason}`)).to.deep.equal(['transaction tooLarge'])
    expect(await other.session().at(Board, 'b').collection('notes').count()).to.equal(12)
  })
})
