import { expect } from 'chai'
import { Bin, Index, Key, ManyToMany, OneToMany, Record, Sharded, collection, open, type Database } from 'skein'
import { startEmbedded, type EmbeddedServer } from 'skein/embedded'
import { isNamedServer, MODES, patient } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

const unique = `qd${process.pid}${Date.now() % 1e6}`

@Record({ set: `${unique}u` })
class User {
  @Key() id!: string
  @Bin({ type: 'int' }) age = 0
  @Index({ name: `${unique}f` })
  @Sharded({ by: 'hash', shards: 3, when: {} })
  @ManyToMany(() => User)
  follows = collection<User>()
  @Sharded({ by: 'hash', shards: 3, when: {}, subkeys: 'tagsIn' }) @OneToMany(() => Tag) tags = collection<Tag>()
}

@Record({ set: `${unique}t` })
class Tag {
  @Key() id!: number
}

const NAMES = ['ann', 'bea', 'cem', 'dan', 'eve', 'fay']
const idsOf = (found: readonly User[]): string[] => found.map(({ id }) => id).sort()
const fill = (db: Database): Promise<unknown> =>
  db.withSession((session) => {
    for (const [i, id] of [...NAMES, 'star', 'moon'].entries()) session.create(User, { id, age: i })
    for (const id of NAMES) session.at(User, id).collection('follows').add('star')
    session.create(Tag, { id: 1 })
  })
const followsOf = (db: Database, id: string) => db.session().at(User, id).collection('follows')

for (const mode of MODES) {
  describe(`whereHas on collections that are sharded on demand (${mode})`, () => {
    let db: Database
    useDatabase(mode, [User, Tag], (opened) => ({ db } = opened))
    beforeEach(() => fill(db))

    it('finds owners before and after a split, each once', async () => {
      const query = db.query(User).whereHas('follows', 'star')
      expect(idsOf(await query.toArray())).to.deep.equal(NAMES)
      for (const id of NAMES.slice(0, 3)) await followsOf(db, id).shard(id === 'ann' ? 5 : 2)
      expect(idsOf(await query.toArray())).to.deep.equal(NAMES)
      expect(await query.count()).to.equal(6)
      expect((await query.keys()).length).to.equal(6)
      expect(idsOf(await query.where({ age: { gte: 2 } }).toArray())).to.deep.equal(NAMES.slice(2))
      expect(idsOf(await query.orderBy('age').limit(2).toArray())).to.deep.equal(['ann', 'bea'])
      expect(idsOf(await db.session().query(User).whereHasAny('follows', ['star', 'moon']).toArray())).to.deep.equal(
        NAMES,
      )
      await db.withSession((session) => void session.at(User, 'ann').collection('follows').remove('star'))
      expect(idsOf(await query.toArray())).to.deep.equal(NAMES.slice(1))
      await followsOf(db, 'bea').merge()
      expect(idsOf(await query.toArray())).to.deep.equal(NAMES.slice(1))
      expect(await db.query(User).whereHas('follows', 'moon').toArray()).to.deep.equal([])
    })

    it('reads both sets by a scan where there is no index, and says so', async () => {
      await db.withSession((session) => {
        session.at(User, 'ann').collection('tags').add(1)
        session.at(User, 'bea').collection('tags').add(1)
      })
      await db.session().at(User, 'bea').collection('tags').shard(2)
      const query = db.query(User).whereHas('tags', 1)
      expect(((await rejection(() => query.toArray())) as { code?: string }).code).to.equal('SKEIN_2511')
      expect(idsOf(await query.scan().toArray())).to.deep.equal(['ann', 'bea'])
      const text = String(db.query(User).whereHas('follows', 'star').explain())
      expect(text).to.include(`${unique}f `).and.to.include(`${unique}f_shards`)
    })

    it('is neither paged without an order nor changed in bulk', async () => {
      const query = db.query(User).whereHas('follows', 'star')
      await db.session().at(User, 'bea').collection('follows').shard(2)
      expect(idsOf(await query.orderBy('id').page({ count: 9 }))).to.deep.equal([
        'ann',
        'bea',
        'cem',
        'dan',
        'eve',
        'fay',
      ])
      expect(((await rejection(() => query.delete())) as { code?: string }).code).to.equal('SKEIN_2510')
      expect(((await rejection(() => query.page({ count: 2 }))) as { code?: string }).code).to.equal('SKEIN_2510')
    })

    it('misses nobody and shows nobody twice while others split, split again and merge', async () => {
      let isOver = false
      const moving = (async () => {
        for (let turn = 0; turn < 4; turn++)
          await Promise.all(
            NAMES.map(async (id, i) => {
              await followsOf(db, id).shard(2 + ((turn + i) % 3))
              if ((turn + i) % 2 === 0) await followsOf(db, id).merge()
            }),
          )
      })().finally(() => (isOver = true))
      while (!isOver) expect(idsOf(await db.query(User).whereHas('follows', 'star').toArray())).to.deep.equal(NAMES)
      await moving
    })
  })
}

describe(`whereHas while members move${isNamedServer ? ' (skipped: only the embedded server has faults)' : ''}`, () => {
  let server: EmbeddedServer
  let db: Database
  let hasty: Database
  before(async function () {
    if (isNamedServer) this.skip()
    server = await startEmbedded({ namespaces: ['ap:ap'] })
    const openOne = (attempts: number): Promise<Database> =>
      open({ hosts: server.hosts, ...patient({ namespace: 'ap', entities: [User, Tag], retry: { attempts } }) })
    ;[db, hasty] = await Promise.all([openOne(5), openOne(1)])
    await db.indexes.sync()
    await fill(db)
  })
  after(async () => {
    for (const each of [db, hasty]) await each?.close()
    await server?.stop()
  })

  it('agrees with the collection, also where a split and a removal were cut off', async () => {
    const cutOff = async (skip: number, work: () => Promise<unknown>): Promise<void> => {
      await server.faults.add({ namespace: 'ap', skip, drop: true, times: 1_000_000 })
      await work().catch(() => undefined)
      await server.faults.clear()
    }
    let removedOnTheMove = 0
    for (let skip = 4; skip < 14; skip++)
      for (let then = 1; then < 7; then += 1) {
        await followsOf(db, 'ann').merge()
        await db.withSession((session) => void session.at(User, 'ann').collection('follows').add('star'))
        await cutOff(skip, () => followsOf(hasty, 'ann').shard(3))
        await cutOff(then, () =>
          hasty.withSession((session) => void session.at(User, 'ann').collection('follows').remove('star')),
        )
        const isMember = await followsOf(db, 'ann').contains('star')
        const { bins } = await db.client.get({ ns: 'ap', set: `${unique}u`, key: 'ann' })
        if (!isMember && Object.keys(bins).some((name) => name.startsWith('_sk.m'))) removedOnTheMove++
        const found = idsOf(await db.query(User).whereHas('follows', 'star').toArray())
        expect(found, `${skip}, ${then}`).to.deep.equal(isMember ? NAMES : NAMES.slice(1))
      }
    expect(removedOnTheMove).to.be.above(0)
  })
})
