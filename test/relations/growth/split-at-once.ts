import { expect } from 'chai'
import type { Database, SkeinError } from 'skein'
import type { EmbeddedServer } from 'skein/embedded'
import { ALL_FAULTS } from '../../faults/faults.js'
import { isNamedServer, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { told } from './during-splits.js'

/** Changes of the number of shards; -1 is the owner's own record. */
export const COURSES = [
  { from: -1, to: 3 },
  { from: 2, to: 4 },
  { from: 3, to: 2 },
  { from: 2, to: -1 },
] as const

/** Members of one owner, which are split and merged. */
interface SplitMembers {
  /** Classes of the database. */
  readonly entities: readonly (new () => object)[]
  /** Set of the companions. */
  readonly set: string
  /** The collection of an owner. */
  readonly of: (db: Database, id: string) => { shard(shards: number): Promise<void>; merge(): Promise<void> }
  /** Stores an owner with its members. */
  readonly store: (db: Database, id: string) => Promise<unknown>
  /** Members as a question shows them, and as they are expected. */
  readonly shown: (db: Database, id: string) => Promise<readonly unknown[]>
  readonly expected: readonly unknown[]
  /** Courses whose commit does not reach a record, unless all faults are asked for: reading takes seconds where it cannot be told. */
  readonly lateCommits: readonly { readonly from: number; readonly to: number }[]
  /** Looks at more than the members after a move. */
  readonly check: (opened: SplitDatabases, id: string, to: number) => Promise<void>
}

export interface SplitDatabases {
  readonly db: Database
  /** Another process, which has not heard of the moves. */
  readonly other: Database
  readonly server: TestServer
  readonly namespace: string
}

/** Tests of splits in one transaction that hold for members of any kind; returns the databases of the suite around it. */
export function testSplitsAtOnce(members: SplitMembers): () => SplitDatabases {
  const { entities, set, of, store, shown, expected, lateCommits, check } = members
  let opened: SplitDatabases
  useDatabase('sc', entities, ({ db, server, namespace }) => (opened = { ...opened, db, server, namespace }))
  before(async () => {
    const { server, namespace } = opened
    opened = { ...opened, other: await server.open({ namespace, entities }) }
  })
  afterEach(() => opened.server.embedded?.faults.clear())
  after(() => opened?.other?.close())

  const move = (id: string, to: number): Promise<void> =>
    to < 0 ? of(opened.db, id).merge() : of(opened.db, id).shard(to)
  const prepare = async (id: string, from: number): Promise<void> => {
    await store(opened.db, id)
    if (from > 0) await of(opened.db, id).shard(from)
  }

  for (const { from, to } of COURSES)
    it(`is one transaction, from ${from} to ${to} shards`, async () => {
      const { db, other, namespace } = opened
      await prepare('p', from)
      const { splits, transactions } = await told(() => move('p', to))
      expect(splits.map(({ how, reason }) => `${how} ${reason}`)).to.deep.equal(['transaction call'])
      expect(transactions.map(({ state, writes }) => ({ state, writes }))).to.deep.equal([
        { state: 'committed', writes: 1 + Math.max(from, to, 0) },
      ])
      expect(await shown(other, 'p')).to.deep.equal(expected)
      const companions = await db.client.query(namespace, set).results()
      expect(companions).to.have.length(Math.max(to, 0))
      for (const { bins } of companions) expect(bins['_sk.shards']).to.equal(to)
      await check(opened, 'p', to)
    })

  it('goes on in steps where a companion of an earlier owner is in the way', async () => {
    const { db, other, namespace } = opened
    await db.client.put({ ns: namespace, set, key: 'p:1' }, { '_sk.shards': 7 })
    await prepare('p', -1)
    const { splits } = await told(() => of(db, 'p').shard(4))
    expect(splits.map(({ how }) => how)).to.deep.equal(['steps'])
    expect(await shown(other, 'p')).to.deep.equal(expected)
  })

  it('shows all members or says that it cannot, while a record has not heard of the commit', async function () {
    if (isNamedServer) this.skip()
    const { other, server, namespace } = opened
    const { faults, clock } = server.embedded as EmbeddedServer
    let turn = 0
    let refusals = 0
    for (const { from, to } of ALL_FAULTS ? COURSES : lateCommits) {
      const records = 1 + Math.max(from, to)
      for (const skip of ALL_FAULTS ? [...Array(records).keys()] : [to < 0 ? 0 : records - 1]) {
        const id = `p${turn++}`
        await prepare(id, from)
        await shown(other, id)
        await faults.add({ namespace, kind: 'txn-roll-forward', skip, answer: 9 })
        await move(id, to).catch(() => undefined)
        const where = `from ${from} to ${to}, record ${skip}`
        const seen = await shown(other, id).catch((error: SkeinError) => error.code)
        if (seen === 'SKEIN_3302') refusals++
        else expect(seen, where).to.deep.equal(expected)
        await faults.clear()
        await clock.advance(30)
        expect(await shown(other, id), where).to.deep.equal(expected)
        await move(id, to)
        expect(await shown(other, id), where).to.deep.equal(expected)
      }
    }
    expect(refusals).to.be.above(0)
  })

  return () => opened
}
