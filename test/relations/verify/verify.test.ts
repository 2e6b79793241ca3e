import Aerospike from 'aerospike'
import { expect } from 'chai'
import type { Database, Finding, VerifyOptions } from 'skein'
import { MODES, need, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { Agent, Listing, User, agent, listing, user } from '../models.js'
import { settled } from './settled.js'

const { lists } = Aerospike

for (const mode of MODES) {
  describe(`verify and repair (${mode})`, () => {
    let server: TestServer
    let namespace: string
    let db: Database
    useDatabase(mode, [Agent, Listing, User], (opened) => ({ db, server, namespace } = opened))
    beforeEach(async () => {
      terms = {}
      await db.withSession(async (session) => {
        const alma = agent(1)
        alma.listings.add(listing('a'), listing('b'))
        const bert = agent(2)
        bert.listings.add(listing('c'))
        const [ada, bob, cid] = [user(1), user(2), user(3)]
        ada.follows.add(bob, cid)
        bob.follows.add(cid)
        for (const entity of [alma, bert, ada, bob, cid]) session.persist(entity)
      })
    })

    const keyOf = (set: string, id: string | number) => new Aerospike.Key(namespace, set, id)
    const change = (set: string, id: string | number, ...operations: object[]) =>
      db.client.operate(keyOf(set, id), operations as never)
    const destroy = (set: string, id: string | number) =>
      db.client.remove(keyOf(set, id), new Aerospike.policy.RemovePolicy({ durableDelete: mode === 'sc' }))

    let terms: VerifyOptions = {}
    const settle = async (): Promise<void> => {
      terms = await settled(server)
    }

    async function verifyAll(options: VerifyOptions = {}): Promise<Finding[]> {
      const findings: Finding[] = []
      for await (const finding of db.verify([Agent, Listing, User], { ...terms, ...options })) findings.push(finding)
      return findings
    }

    const short = ({ kind, className, property, key, otherClass, otherKey, truth, repair, state }: Finding) =>
      `${kind} ${className}.${property} ${String(key)} - ${otherClass} ${String(otherKey)}, ${truth} says ${repair}: ${state}`

    it('finds nothing where all agrees', async () => {
      await settle()
      expect(await verifyAll()).to.deep.equal([])
    })

    const damages: {
      name: string
      damage: (test: Mocha.Context) => Promise<unknown>
      finding: string
      mended: () => Promise<unknown>
    }[] = [
      {
        name: 'a child that nobody lists',
        damage: () => change('agent', 1, lists.removeByValue('listings', 'a')),
        finding: 'missingLink Agent.listings 1 - Listing a, Listing.agent says add',
        mended: async () => expect((await db.client.get(keyOf('agent', 1))).bins.listings).to.deep.equal(['a', 'b']),
      },
      {
        name: 'a list that is gone altogether',
        damage: () => change('agent', 2, Aerospike.operations.write('listings', null)),
        finding: 'missingLink Agent.listings 2 - Listing c, Listing.agent says add',
        mended: async () => expect((await db.client.get(keyOf('agent', 2))).bins.listings).to.deep.equal(['c']),
      },
      {
        name: 'a listed child that belongs to another',
        damage: () => change('agent', 2, lists.append('listings', 'a', listPolicy())),
        finding: 'oneSidedLink Agent.listings 2 - Listing a, Listing.agent says remove',
        mended: async () => expect((await db.client.get(keyOf('agent', 2))).bins.listings).to.deep.equal(['c']),
      },
      {
        name: 'a listed child that belongs to nobody',
        damage: () => change('listing', 'b', Aerospike.operations.write('agent', null)),
        finding: 'oneSidedLink Agent.listings 1 - Listing b, Listing.agent says remove',
        mended: async () => expect((await db.client.get(keyOf('agent', 1))).bins.listings).to.deep.equal(['a']),
      },
      {
        name: 'a listed child whose record is gone',
        damage: () => destroy('listing', 'a'),
        finding: 'danglingKey Agent.listings 1 - Listing a, Listing says remove',
        mended: async () => expect((await db.client.get(keyOf('agent', 1))).bins.listings).to.deep.equal(['b']),
      },
      {
        name: 'a listed child that has expired',
        damage: async (test) => {
          const { clock } = need(test, server.embedded, 'only the embedded server lets time pass')
          await change('listing', 'a', Aerospike.operations.touch(3))
          await clock.advance(4)
        },
        finding: 'danglingKey Agent.listings 1 - Listing a, Listing says remove',
        mended: async () => expect((await db.client.get(keyOf('agent', 1))).bins.listings).to.deep.equal(['b']),
      },
      {
        name: 'a listed key of another type',
        damage: () => change('agent', 2, lists.append('listings', 7, listPolicy())),
        finding: 'danglingKey Agent.listings 2 - Listing 7, Listing says remove',
        mended: async () => expect((await db.client.get(keyOf('agent', 2))).bins.listings).to.deep.equal(['c']),
      },
      {
        name: 'a listed value that cannot be a key',
        damage: () => change('agent', 2, lists.append('listings', 1.5, listPolicy())),
        finding: 'danglingKey Agent.listings 2 - Listing 1.5, Listing says remove',
        mended: async () => expect((await db.client.get(keyOf('agent', 2))).bins.listings).to.deep.equal(['c']),
      },
      {
        name: 'a parent whose record is gone',
        damage: () => destroy('agent', 2),
        finding: 'danglingKey Listing.agent c - Agent 2, Agent says remove',
        mended: async () => expect((await db.client.get(keyOf('listing', 'c'))).bins).to.not.have.property('agent'),
      },
      {
        name: 'a link that only its owner has',
        damage: () => change('user', 3, lists.removeByValue('followers', 1)),
        finding: 'oneSidedLink User.followers 3 - User 1, User.follows says add',
        mended: async () => expect((await db.client.get(keyOf('user', 3))).bins.followers).to.deep.equal([1, 2]),
      },
      {
        name: 'a link that only the other side has',
        damage: () => change('user', 1, lists.removeByValue('follows', 3)),
        finding: 'oneSidedLink User.followers 3 - User 1, User.follows says remove',
        mended: async () => expect((await db.client.get(keyOf('user', 3))).bins.followers).to.deep.equal([2]),
      },
    ]

    for (const { name, damage, finding, mended } of damages) {
      it(`finds and mends ${name}`, async function () {
        await damage(this)
        await settle()
        await server.embedded?.commands.reset()
        expect((await verifyAll()).map(short)).to.deep.equal([`${finding}: found`])
        const seen = await server.embedded?.commands.summary()
        expect(seen?.byKind ?? {}).to.not.have.any.keys('write', 'delete')
        expect((await verifyAll({ repair: true })).map(short)).to.deep.equal([`${finding}: repaired`])
        await mended()
        await settle()
        expect(await verifyAll({ repair: true })).to.deep.equal([])
      })
    }

    it('reports a reference that is not a key, and leaves it to people', async () => {
      await change('listing', 'c', Aerospike.operations.write('agent', { id: 2 }))
      await change('agent', 2, lists.removeByValue('listings', 'c'))
      await settle()
      const finding = 'unreadable Listing.agent c - undefined undefined, Listing says none: found'
      expect((await verifyAll({ repair: true })).map(short)).to.deep.equal([finding])
      expect((await db.client.get(keyOf('listing', 'c'))).bins.agent).to.deep.equal({ id: 2 })
    })

    it('finds and mends all of it at once', async () => {
      await destroy('listing', 'a')
      await change('agent', 1, lists.removeByValue('listings', 'b'))
      await change('agent', 2, lists.appendItems('listings', ['b', 'x', 'y'], listPolicy()))
      await change('user', 3, lists.appendItems('followers', [7, 8, 9], listPolicy()))
      await destroy('user', 2)
      await settle()
      const kinds = (await verifyAll({ repair: true })).map(({ kind, state }) => `${kind} ${state}`).sort()
      expect(kinds).to.deep.equal([
        ...Array<string>(8).fill('danglingKey repaired'),
        'missingLink repaired',
        'oneSidedLink repaired',
      ])
      expect(await verifyAll({ settle: 0 })).to.deep.equal([])
      expect((await db.client.get(keyOf('agent', 1))).bins.listings).to.deep.equal(['b'])
    })

    it('leaves records alone that have just changed, and says how many', async function () {
      const { clock } = need(this, server.embedded, 'only the embedded server lets time pass')
      await change('agent', 1, lists.removeByValue('listings', 'a'))
      const unsettled: number[] = []
      const onProgress = (progress: { unsettled: number }) => void unsettled.push(progress.unsettled)
      for await (const finding of db.verify(Listing, { repair: true, onProgress })) expect.fail(finding.message)
      expect(unsettled).to.deep.equal([1])
      await clock.advance(6)
      expect((await verifyAll()).map(({ kind }) => kind)).to.deep.equal(['missingLink'])
    })

    it('finds a record whose delete began and never ended, and leaves its links to whoever finishes it', async () => {
      await change('agent', 2, Aerospike.operations.write('_sk.deleting', true), lists.clear('listings'))
      expect(await verifyAll({ settle: 60 })).to.deep.equal([])
      await settle()
      const [finding, ...others] = await verifyAll()
      expect(finding).to.include({ kind: 'staleMarker', className: 'Agent', key: 2, repair: 'finishDelete' })
      expect(others).to.deep.equal([])
    })

    it('finishes such a delete', async () => {
      await change('agent', 1, Aerospike.operations.write('_sk.deleting', true))
      await destroy('listing', 'a')
      await settle()
      const findings = await verifyAll({ repair: true })
      expect(findings.map(({ kind, key, state }) => `${kind} ${String(key)} ${state}`)).to.deep.equal([
        'staleMarker 1 repaired',
      ])
      expect(await db.client.exists(keyOf('agent', 1))).to.equal(false)
      expect(await db.client.exists(keyOf('listing', 'b'))).to.equal(false)
      await settle()
      expect(await verifyAll()).to.deep.equal([])
    })

    it('may repair several times at once', async () => {
      await change('agent', 1, lists.removeByValue('listings', 'a'))
      await change('user', 3, lists.appendItems('followers', [7, 8], listPolicy()))
      await destroy('listing', 'c')
      await settle()
      const runs = await Promise.all([1, 2, 3].map(() => verifyAll({ repair: true })))
      const states = new Set(runs.flat().map(({ state }) => state))
      states.delete('leftAlone')
      expect([...states]).to.deep.equal(['repaired'])
      await settle()
      expect(await verifyAll()).to.deep.equal([])
      expect((await db.client.get(keyOf('agent', 1))).bins.listings).to.deep.equal(['a', 'b'])
      expect((await db.client.get(keyOf('user', 3))).bins.followers).to.deep.equal([1, 2])
    })

    it('checks one entity', async () => {
      await destroy('listing', 'a')
      await settle()
      const session = db.session()
      const alma = await session.load(Agent, 1)
      expect((await session.verify(alma, terms)).map(({ message }) => message)).to.deep.equal([
        'Agent 1 holds Listing "a" in listings, which has no record.',
      ])
      expect((await session.verify(alma, { ...terms, repair: true })).map(({ state }) => state)).to.deep.equal([
        'repaired',
      ])
      expect(await session.verify(alma, { settle: 0 })).to.deep.equal([])
      expect((await session.verify(await session.load(Agent, 2), terms)).length).to.equal(0)
    })

    it('refuses a settle that is not a time', async () => {
      const session = db.session()
      const alma = await session.load(Agent, 1)
      for (const settle of [-1, NaN, Infinity]) {
        const error = await session.verify(alma, { settle }).catch((reason: unknown) => reason)
        expect(error).to.have.property('code', 'SKEIN_2410')
      }
    })
  })
}

function listPolicy() {
  return { order: lists.order.ORDERED, writeFlags: lists.writeFlags.ADD_UNIQUE } as never
}
