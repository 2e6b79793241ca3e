import { expect } from 'chai'
import type { Database, Finding } from 'skein'
import { hashShard } from '#src/keys/index.js'
import { MODES, need, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { expectMended, findingsOf } from './mends.js'
import {
  Agent,
  Club,
  COMPANION_CLASSES,
  Listing,
  SHARDS,
  User,
  agent,
  club,
  listing,
  person,
  user,
} from '../write/companion-models.js'

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => `u${i}`)

for (const mode of MODES) {
  describe(`verifying companion records (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, COMPANION_CLASSES, (opened) => ({ db, server, namespace } = opened))

    beforeEach(async () => {
      await db.withSession((session) => {
        for (const id of ['ada', ...names(9)]) session.persist(user(id))
        for (const id of [1, 2]) session.persist(agent(id))
        for (const id of ['a', 'b', 'c']) session.persist(listing(id))
        for (const id of [1, 2]) session.persist(person(id))
        session.persist(club('chess'))
      })
      await db.withSession((session) => {
        session
          .at(User, 'ada')
          .collection('followers')
          .add(...names(9))
        session.at(Agent, 1).collection('listings').add('a', 'b')
        session.at(Agent, 1).collection('kept').add('c')
        session.at(Club, 'chess').collection('members').link(1, { role: 'chair' })
        session.at(Club, 'chess').collection('members').link(2, { role: 'guest' })
      })
    })

    const verify = (repair = false): Promise<Finding[]> => findingsOf(db, COMPANION_CLASSES, repair)
    const shown = (findings: readonly Finding[]): string[] =>
      findings.map(({ kind, className, property, key, otherKey, state }) =>
        [kind, `${className}.${property}`, key, otherKey, state].join(' '),
      )
    const keyOf = (set: string, key: string | number): never => ({ ns: namespace, set, key }) as never
    const put = (set: string, key: string | number, bins: object): Promise<unknown> =>
      db.client.put(keyOf(set, key), bins as never)
    const binOf = async (set: string, key: string | number, bin: string): Promise<unknown> =>
      ((await db.client.get(keyOf(set, key))).bins as { [bin: string]: unknown })[bin]

    const mends = (expected: readonly string[]): Promise<void> =>
      expectMended(expected, async (repair) => shown(await verify(repair)))

    it('finds nothing where nothing is wrong', async () => {
      expect(shown(await verify())).to.deep.equal([])
    })

    it('finds a link that only one of two companions has, and keys without a record', async () => {
      const shard = hashShard('u3', SHARDS)
      const followers = (await binOf('cuser_followers', `ada:${shard}`, 'followers')) as string[]
      await put('cuser_followers', `ada:${shard}`, { followers: [...followers.filter((id) => id !== 'u3'), 'ghost'] })
      await put('cagent_kept', 1, { kept: ['c', 'gone'] })
      const isThere = hashShard('ghost', SHARDS) === shard
      await mends([
        'oneSidedLink User.followers ada u3',
        'danglingKey Agent.kept 1 gone',
        isThere ? 'danglingKey User.followers ada ghost' : 'misplacedMember User.followers ada ghost',
      ])
    })

    it('finds a key that is twice in the list of a companion or of a record, and leaves it there once', async () => {
      const shard = `ada:${hashShard('u3', SHARDS)}`
      const followers = (await binOf('cuser_followers', shard, 'followers')) as string[]
      await put('cuser_followers', shard, { followers: [...followers, 'u3'].sort() })
      await put('cagent_kept', 1, { kept: ['c', 'c', 'c'] })
      await mends(['duplicateMember User.followers ada u3', 'duplicateMember Agent.kept 1 c'])
      expect(await db.session().at(User, 'ada').collection('followers').count()).to.equal(9)
    })

    it('finds a child that is missing in the companion of its owner, also where that has none yet', async () => {
      await put('clisting', 'c', { id: 'c', agent: 2 })
      await mends(['missingLink Agent.listings 2 c'])
      expect(await db.session().at(Agent, 2).collection('listings').keys()).to.deep.equal(['c'])
    })

    it('finds a member in the wrong shard, in two, and one that is still in the record of its owner', async () => {
      const right = hashShard('u3', SHARDS)
      const wrong = (right + 1) % SHARDS
      const list = async (shard: number): Promise<string[]> =>
        (await binOf('cuser_followers', `ada:${shard}`, 'followers').catch(() => [])) as string[]
      await put('cuser_followers', `ada:${right}`, { followers: (await list(right)).filter((id) => id !== 'u3') })
      const here = names(9).find((id) => hashShard(id, SHARDS) !== wrong && id !== 'u3')!
      await put('cuser_followers', `ada:${wrong}`, {
        followers: [...(await list(wrong)), 'u3', here],
        '_sk.root': 'ada',
        '_sk.shards': SHARDS,
        '_sk.shard': wrong,
      })
      await put('cagent', 2, { listings: ['c'] })
      await put('clisting', 'c', { id: 'c', agent: 2 })
      await verify(true)
      expect(shown(await verify())).to.deep.equal([])
      expect(await db.session().at(User, 'ada').collection('followers').keys()).to.deep.equal(names(9))
      expect(await list(right)).to.include('u3')
      expect(await list(wrong)).not.to.include.members(['u3'])
      expect(await db.session().at(Agent, 2).collection('listings').keys()).to.deep.equal(['c'])
    })

    it('moves all members out of the record of an owner in one run, and the owner says how they are stored', async function () {
      const { clock } = need(this, server.embedded, 'only the embedded server lets time pass')
      await put('cuser', 'old', { id: 'old', followers: names(9) })
      for (const id of names(9)) await put('cuser_follows', id, { follows: ['ada', 'old'] })
      await put('cagent', 9, { id: 9 })
      await put('clisting', 'c', { id: 'c', agent: 9 })
      await put('clisting', 'd', { id: 'd', agent: 9 })
      await clock.advance(10)
      const found: string[] = []
      for await (const { kind, state } of db.verify([User, Listing], { repair: true })) found.push(`${kind} ${state}`)
      expect(found.filter((each) => each === 'misplacedMember repaired')).to.have.length(9)
      expect(await binOf('cuser', 'old', 'subkeys')).to.deep.equal(['hash-shards', SHARDS])
      expect(await binOf('cagent', 9, 'subkeys')).to.deep.equal(['hash-shards', SHARDS])
      expect(await db.session().at(User, 'old').collection('followers').keys()).to.deep.equal(names(9))
      expect(await db.session().at(Agent, 9).collection('listings').keys()).to.deep.equal(['c', 'd'])
      expect(shown(await verify())).to.deep.equal([])
    })

    it('moves the attributes of a link along', async () => {
      const right = hashShard(2, SHARDS)
      const wrong = (right + 2) % SHARDS
      const members = (await binOf('cclub_members', `chess:${right}`, 'members')) as { [key: string]: unknown }
      const kept = new Map(
        Object.entries(members)
          .filter(([key]) => key !== '2')
          .map(([key, value]) => [Number(key), value]),
      )
      await put('cclub_members', `chess:${right}`, { members: kept })
      await put('cclub_members', `chess:${wrong}`, {
        members: new Map([[2, { role: 'guest' }]]),
        '_sk.root': 'chess',
        '_sk.shards': SHARDS,
        '_sk.shard': wrong,
      })
      const findings = shown(await verify(true))
      expect(findings).to.include('misplacedMember Club.members chess 2 repaired')
      expect(shown(await verify())).to.deep.equal([])
      expect((await db.session().at(Club, 'chess').collection('members').attributesOf(2))?.role).to.equal('guest')
    })

    it('finds companions whose owner is gone', async () => {
      await db.client.remove(keyOf('cagent', 1), { durableDelete: mode === 'sc' } as never)
      await put('clisting', 'a', { agent: null })
      await put('clisting', 'b', { agent: null })
      const findings = shown(await verify(true))
      expect(findings.filter((each) => each.startsWith('companionWithoutRoot')).length).to.be.above(1)
      expect(shown(await verify())).to.deep.equal([])
      for (const set of ['cagent_kept', 'cagent_listings'])
        expect(await db.client.query(namespace, set).results()).to.have.length(0)
    })

    it('finds a companion that is closed although its owner is there', async () => {
      await put('cagent_kept', 1, { '_sk.deleting': true })
      const session = db.session()
      session.at(Agent, 1).collection('kept').add('a')
      await session.flush().then(
        () => expect.fail('it is closed'),
        (error: { cause?: { code?: string } }) => expect(error.cause?.code).to.equal('SKEIN_3301'),
      )
      await mends(['staleMarker Agent.kept 1 '])
      await session.flush()
      expect(await db.session().at(Agent, 1).collection('kept').keys()).to.deep.equal(['a', 'c'])
    })
  })
}
