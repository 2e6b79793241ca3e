import { expect } from 'chai'
import { open, type Database } from 'skein'
import { startEmbedded, type EmbeddedServer } from 'skein/embedded'
import { PATIENT } from '../../server.js'
import { User, user, type Follow } from './models.js'
import { ALL } from './models.js'

/** Conditions on links that differ in what they ask of the server. */
const CONDITIONS: readonly object[] = [
  { kind: 'friend' },
  { kind: { ne: 'friend' } },
  { kind: { in: ['work', 'none'] } },
  { kind: { startsWith: 'f' } },
  { kind: { contains: 'or' } },
  { since: null },
  { since: { gte: new Date('2024-02-01') } },
  { since: { lt: new Date('2024-02-01') } },
  { tags: { has: 'a' } },
  { tags: { hasAny: ['a', 'b'] } },
  { tags: { hasAll: ['a', 'b'] } },
  { kind: 'friend', tags: { has: 'b' } },
]

describe('conditions on the attributes of links', () => {
  let newest: EmbeddedServer
  let older: EmbeddedServer
  const databases: Database[] = []
  before(async () => {
    newest = await startEmbedded({ namespaces: ['test:ap'] })
    older = await startEmbedded({ namespaces: ['test:ap'], build: '8.0' })
    for (const { hosts } of [newest, older])
      databases.push(await open({ ...PATIENT, hosts, namespace: 'test', entities: ALL }))
    for (const db of databases) await store(db)
  })
  after(async () => {
    for (const db of databases) await db.close()
    for (const server of [newest, older]) await server?.stop()
  })

  it('mean the same where the server checks them and where it is too old for that', async () => {
    for (const where of CONDITIONS) {
      const [there, here] = await Promise.all(
        databases.map((db) => db.session().walk(User, 'ann').out('follows', { where }).keys()),
      )
      expect([...there].sort(), JSON.stringify(where)).to.deep.equal([...here].sort())
    }
    const [there, here] = databases.map((db) =>
      String(
        db
          .session()
          .walk(User, 'ann')
          .out('follows', { where: { kind: 'x' } })
          .explain(),
      ),
    )
    expect(there).to.include('at the server')
    expect(here).to.include('attributes, here')
  })

  it('leave links out at the server: what is sent does not grow with links that do not match', async () => {
    const [db] = databases
    const bytes: number[] = []
    for (const id of ['few', 'many']) {
      const walk = db
        .session()
        .walk(User, id)
        .out('follows', { where: { kind: 'friend' } })
      let keys: readonly string[] = []
      bytes.push((await newest.commands.during(async () => (keys = await walk.keys()))).bytesOut)
      expect([...keys].sort()).to.deep.equal(['f0', 'f1'])
    }
    expect(bytes[1] - bytes[0]).to.be.below(64)
  })

  it('see what the session has changed and not sent', async () => {
    const session = databases[0].session()
    const ann = await session.load(User, 'ann')
    ;(await ann.follows.attributesOf('u0'))!.kind = 'new'
    expect(
      await session
        .walk(ann)
        .out('follows', { where: { kind: 'new' } })
        .keys(),
    ).to.deep.equal(['u0'])
    await session.close()
  })

  it('find nothing where there are no links, and refuse a bin that holds none', async () => {
    const [db] = databases
    const walk = (id: string) =>
      db
        .session()
        .walk(User, id)
        .out('follows', { where: { kind: 'friend' } })
        .keys()
    expect([await walk('u0'), await walk('nobody')]).to.deep.equal([[], []])
    const { Key } = await import('aerospike').then((client) => client.default)
    await db.client.put(new Key('test', 'walk_user', 'broken'), { id: 'broken', follows: 'text' })
    const error: unknown = await walk('broken').catch((reason: unknown) => reason)
    expect(error).to.have.property('code', 'SKEIN_3101')
  })
})

async function store(db: Database): Promise<void> {
  await db.withSession((session) => {
    const ann = session.persist(user('ann', 'Bern'))
    const kinds = ['friend', 'work', 'family']
    for (let i = 0; i < 8; i++) {
      const values: Follow = {
        kind: kinds[i % 3],
        ...(i % 2 === 0 && { since: new Date(2024, i) }),
        ...(i % 4 !== 0 && { tags: ['a', 'b'].slice(0, i % 4) }),
      }
      ann.follows.link(session.persist(user(`u${i}`, 'Bern')), values)
    }
    const [f0, f1, other] = ['f0', 'f1', 'other'].map((id) => session.persist(user(id, 'Bern')))
    for (const [id, count] of [
      ['few', 1],
      ['many', 500],
    ] as const) {
      const from = session.persist(user(id, 'Bern'))
      for (const friend of [f0, f1]) from.follows.link(friend, { kind: 'friend' })
      for (let i = 0; i < count; i++)
        from.follows.link(i === 0 ? other : session.persist(user(`${id}${i}`, 'Bern')), { kind: 'work' })
    }
  })
}
