import { expect } from 'chai'
import {
  Bin,
  collection,
  Companion,
  CountOf,
  Embeddable,
  Key,
  OneToMany,
  Record,
  Sharded,
  type Database,
  type Finding,
} from 'skein'
import { MODES, type TestServer } from '../../server.js'
import { problemsOf } from '../../model/problems-of.js'
import { useDatabase } from '../../use-database.js'

@Embeddable()
class Remark {
  @Key() id!: string
  @Bin() at!: Date
  @Bin() text?: string
}

/** Counts its children, which are in shards, in one companion, and by the day; some counts are in shards, too. */
@Record({ set: 'ccp_post' })
class Post {
  @Key() id!: string
  @Bin() title?: string
  @Sharded({ by: 'hash', shards: 2 }) @CountOf('remarks') remarkCount = 0
  @CountOf('drafts') draftCount = 0
  @Sharded({ by: 'hash', shards: 3 }) @CountOf('visits') visitCount = 0
  @Sharded({ by: 'hash', shards: 3 })
  @OneToMany(() => Remark, { strategy: 'consolidate', sortKey: ['at'] })
  remarks = collection<Remark>()
  @Companion({ subkeys: 'draftsIn' }) @OneToMany(() => Remark, { strategy: 'consolidate' }) drafts =
    collection<Remark>()
  @Sharded({ by: 'day', on: 'at', subkeys: 'visitsIn' })
  @OneToMany(() => Remark, { strategy: 'consolidate' })
  visits = collection<Remark>()
}

const remark = (id: string, at = 0): Remark => Object.assign(new Remark(), { id, at: new Date(at) })
const ids = (count: number, from = 0): string[] => Array.from({ length: count }, (_, i) => `r${i + from}`)

for (const mode of MODES) {
  describe(`counts of consolidated children in companions (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, [Post], (opened) => ({ db, server, namespace } = opened))

    const counts = async (): Promise<number[]> => {
      const { remarkCount, draftCount, visitCount } = await db.session().load(Post, 'p')
      return [remarkCount, draftCount, visitCount]
    }
    const findings = async (repair = false): Promise<string[]> => {
      const found: Finding[] = []
      for await (const finding of db.verify(Post, { settle: 0, repair })) found.push(finding)
      return found.map(({ kind, property, state }) => `${kind} ${property} ${state}`)
    }
    const add = (property: 'remarks' | 'drafts' | 'visits', ...added: Remark[]): Promise<unknown> =>
      db.withSession(
        (session) =>
          void session
            .at(Post, 'p')
            .collection(property)
            .add(...added),
      )

    it('are kept with every add and removal, of new owners and stored ones, and what is there counts once', async () => {
      const made = Object.assign(new Post(), { id: 'p' })
      made.remarks.add(...ids(7).map((id) => remark(id)))
      await db.session().save(made)
      expect(await counts()).to.deep.equal([7, 0, 0])
      await add('remarks', ...ids(4, 5).map((id) => remark(id, 5)))
      await add('drafts', ...ids(2).map((id) => remark(id)))
      await add('visits', remark('a', 0), remark('b', 86_400_000), remark('c', 2 * 86_400_000))
      expect(await counts()).to.deep.equal([9, 2, 3])
      await db.withSession(async (session) => {
        const post = await session.load(Post, 'p', { with: ['remarks'] })
        post.title = 'changed along'
        post.remarks.items[0].at = new Date(99)
        post.remarks.remove('r3')
        post.remarks.remove('nobody')
        post.remarks.add(remark('new'))
      })
      expect(await counts()).to.deep.equal([9, 2, 3])
      await db.withSession((session) => {
        session.at(Post, 'p').collection('remarks').remove('r4', 'new')
        session.at(Post, 'p').collection('drafts').remove('r0')
      })
      expect(await counts()).to.deep.equal([7, 1, 3])
      expect(await findings()).to.deep.equal([])
    })

    it('never drift while many add and remove at once', async () => {
      await db.session().save(Object.assign(new Post(), { id: 'p' }))
      await Promise.all(
        ids(12).map(async (id) => {
          for (const change of ['add', 'remove', 'add'] as const) {
            const session = db.session()
            const { [change]: make } = { add: () => remark(id), remove: () => id }
            session.at(Post, 'p').collection('drafts')[change](make())
            for (let isDone = false; !isDone;)
              isDone = await session.flush().then(
                () => true,
                () => false,
              )
          }
        }),
      )
      expect(await counts()).to.deep.equal([0, 12, 0])
      expect(await findings()).to.deep.equal([])
    })

    it('are found wrong by verify, and counted again', async () => {
      await db.session().save(Object.assign(new Post(), { id: 'p' }))
      await add('remarks', ...ids(5).map((id) => remark(id)))
      await db.client.put({ ns: namespace, set: 'ccp_post', key: 'p' }, { remarkCount: 3 })
      expect(await findings()).to.deep.equal(['wrongCount remarkCount found'])
      expect(await findings(true)).to.deep.equal(['wrongCount remarkCount repaired'])
      expect(await counts()).to.deep.equal([5, 0, 0])
      expect(server).not.to.equal(undefined)
    })
  })
}

describe('a count of children that come and go unseen', () => {
  it('is refused for buckets that expire', () => {
    @Record({ set: 'ccp_other' })
    class Other {
      @Key() id!: string
      @CountOf('visits') visitCount = 0
      @Sharded({ by: 'day', on: 'at', ttl: 86_400 })
      @OneToMany(() => Remark, { strategy: 'consolidate' })
      visits = collection<Remark>()
    }
    expect(problemsOf(Other).map(({ code, property }) => `${code} ${property}`)).to.deep.equal([
      'SKEIN_1056 visitCount',
    ])
  })
})
