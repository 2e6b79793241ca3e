import { expect } from 'chai'
import type { Database, Finding, Session } from 'skein'
import type { EmbeddedServer } from 'skein/embedded'
import { emptySets } from '../../empty-sets.js'
import { MODES, need, needMode } from '../../server.js'
import { sharedServer } from '../../shared-server.js'
import { Agent, Listing, User, agent, listing, user } from '../models.js'

const ENTITIES = [Agent, Listing, User]
/** More commands than any of the works takes. */
const MOST = 40

const works: { readonly [name: string]: (session: Session) => Promise<unknown> } = {
  'a move': async (session) => {
    const child = await session.load(Listing, 'a')
    child.agent.set(2)
    await session.flush()
  },
  'a move of several, by key': async (session) => {
    const bert = await session.load(Agent, 2)
    bert.listings.add('a', 'b')
    await session.flush()
  },
  'a release': async (session) => {
    const alma = await session.load(Agent, 1)
    alma.listings.remove('a')
    await session.flush()
  },
  'new children': async (session) => {
    const alma = await session.load(Agent, 1)
    alma.listings.add(listing('new'), listing('newer'))
    await session.flush()
  },
  'a new parent': async (session) => {
    session.persist(agent(3)).listings.add(listing('new'), await session.load(Listing, 'b'))
    await session.flush()
  },
  'the delete of a parent': (session) => session.delete(Agent, 1),
  'the delete of a user': (session) => session.delete(User, 3),
  'the delete of a child': (session) => session.delete(Listing, 'a'),
  'follows and unfollows': async (session) => {
    const [ada, bob] = await session.loadMany(User, [1, 2])
    ada.follows.remove(2)
    ada.followers.add(3)
    bob.follows.add(1)
    await session.flush()
  },
}

for (const mode of MODES) {
  for (const transactions of mode === 'sc' ? (['auto', 'off'] as const) : (['off'] as const)) {
    describe(`repair after a crash (${mode}, transactions ${transactions})`, function () {
      let server: EmbeddedServer
      let namespace: string
      let db: Database
      let torn = 0
      before(async function () {
        const shared = await sharedServer()
        server = need(this, shared.embedded, 'only the embedded server fails on demand')
        namespace = needMode(this, shared, mode)
        db = await shared.open({ namespace, entities: ENTITIES, transactions, retry: { attempts: 1 } })
      })
      after(() => db?.close())

      async function storeGraph(): Promise<void> {
        await emptySets(db, ENTITIES)
        await db.withSession(async (session) => {
          session.persist(agent(1)).listings.add(listing('a'), listing('b'))
          session.persist(agent(2)).listings.add(listing('c'))
          const [ada, bob, cid] = [user(1), user(2), user(3)]
          ada.follows.add(bob, cid)
          bob.follows.add(cid)
          for (const each of [ada, bob, cid]) session.persist(each)
        })
      }

      async function verifyAll(repair: boolean): Promise<Finding[]> {
        const findings: Finding[] = []
        for await (const finding of db.verify(ENTITIES, { repair })) findings.push(finding)
        return findings
      }

      /** All links of the store, each once from either side: what is not there twice is on one side only. */
      async function linksOf(): Promise<string[]> {
        const links: string[] = []
        const all = async <T>(set: string) =>
          (await db.client.query(namespace, set).results()).map(({ bins }) => bins as unknown as T)
        for (const { id, listings = [] } of await all<{ id: number; listings?: string[] }>('agent'))
          for (const child of listings) links.push(`${id} has ${child}`)
        for (const { id, agent } of await all<{ id: string; agent?: number }>('listing'))
          if (agent !== undefined) links.push(`${agent} has ${id}`)
        type Links = { id: number; follows?: number[]; followers?: number[] }
        for (const { id, follows = [], followers = [] } of await all<Links>('user')) {
          for (const other of follows) links.push(`${id} follows ${other}`)
          for (const other of followers) links.push(`${other} follows ${id}`)
        }
        return links.sort()
      }

      // Transactions have proofs of their own; here it is enough to see that they leave nothing to repair.
      const chosen = Object.entries(works).slice(0, transactions === 'off' ? undefined : 1)
      for (const [name, work] of chosen) {
        for (const after of [false, true]) {
          it(`makes both sides agree when ${name} ends ${after ? 'after' : 'before'} any of its writes`, async () => {
            for (let skip = 0; ; skip++) {
              expect(skip).to.be.below(MOST)
              await storeGraph()
              const fault = await server.faults.add({ kind: ['write', 'delete'], skip, times: 1000, drop: true, after })
              await db.withSession(work).catch(() => undefined)
              const hits = await fault.hits()
              await server.faults.clear()
              if (hits === 0) break
              // Locks of a transaction that was cut short are given up in this time, too.
              await server.clock.advance(60)
              if ((await verifyAll(true)).length > 0) torn++
              await server.clock.advance(10)
              expect(await verifyAll(true)).to.deep.equal([])
              const links = await linksOf()
              expect(links.filter((link, i) => links[i - 1] !== link && links[i + 1] !== link)).to.deep.equal([])
            }
          })
        }
      }

      it(
        transactions === 'off' ? 'had something to repair' : 'had nothing to repair: a transaction is all or nothing',
        () => {
          if (transactions === 'off') expect(torn).to.be.greaterThan(10)
          else expect(torn).to.equal(0)
        },
      )
    })
  }
}
