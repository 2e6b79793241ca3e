import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect } from 'chai'
import type { CommandEvent, Database } from 'skein'
import { MODES, type Mode } from '../server.js'
import { useDatabase } from '../use-database.js'
import { Agent, ALL, Listing, Order, listing } from './models.js'

interface Sent {
  /** Kinds of the commands, once for each round trip. */
  readonly kinds: readonly string[]
  /** Names of all bins that the client got from queries. */
  readonly bins: readonly string[]
}

for (const mode of MODES) {
  describe(`commands of a query (${mode})`, () => {
    let db: Database
    useDatabase(mode, ALL, (opened) => ({ db } = opened), { emptied: 'once' })
    before(() => fill(db, mode))

    const sent = async (work: () => Promise<unknown>): Promise<Sent> => {
      const trips = new Map<number, string>()
      const bins = new Set<string>()
      const note = (event: unknown): void => {
        const { roundTrip, kind } = event as CommandEvent
        trips.set(roundTrip, kind)
      }
      const { client } = db
      const query = client.query.bind(client) as (...args: unknown[]) => ReturnType<typeof client.query>
      client.query = (...args: unknown[]) => {
        const made = query(...args)
        const foreach = made.foreach.bind(made)
        made.foreach = (...policy) => {
          const stream = foreach(...policy)
          stream.on('data', (record: { bins: object }) =>
            Object.keys(record.bins ?? {}).forEach((bin) => bins.add(bin)),
          )
          return stream
        }
        return made
      }
      subscribe('skein:command', note)
      try {
        await work()
      } finally {
        unsubscribe('skein:command', note)
        client.query = query
      }
      return { kinds: [...trips.values()], bins: [...bins].sort() }
    }

    it('are one for few matches, whatever is asked', async () => {
      const bern = db.query(Listing).where({ city: 'Bern' })
      const asked: { readonly [what: string]: () => Promise<unknown> } = {
        toArray: () => bern.toArray(),
        first: () => bern.first(),
        exists: () => bern.exists(),
        count: () => bern.count(),
        keys: () => bern.keys(),
        page: () => bern.page({ count: 3 }),
        ordered: () => bern.orderBy('price').limit(2).toArray(),
        sum: () => bern.sum('price'),
        groups: () => bern.groupBy('state').count(),
        narrowed: () => bern.filter((l) => l.price.gt(3).or(l.isNew.eq(true))).toArray(),
      }
      for (const [what, work] of Object.entries(asked)) expect((await sent(work)).kinds, what).to.deep.equal(['query'])
      expect((await sent(() => db.scan(Listing).toArray())).kinds).to.deep.equal(['scan'])
      expect((await sent(() => Promise.resolve(String(bern.orderBy('price').explain())))).kinds).to.deep.equal([])
    })

    it('are one for each value that an index is asked for', async () => {
      const found = await sent(() =>
        db
          .query(Listing)
          .where({ city: { in: ['Bern', 'Basel', 'Chur'] } })
          .toArray(),
      )
      expect(found.kinds).to.deep.equal(['query', 'query', 'query'])
    })

    it('are one more for the relations of a page, however many entities it has', async () => {
      const found = await sent(() =>
        db.session().query(Listing).where({ city: 'Bern' }).with('agent').page({ count: 5 }),
      )
      expect(found.kinds).to.deep.equal(['query', 'read'])
    })

    it('bring no bins where records are counted, and only those that are asked for', async () => {
      const bern = db.query(Listing).where({ city: 'Bern' })
      expect((await sent(() => bern.count())).bins).to.deep.equal([])
      expect((await sent(() => bern.exists())).bins).to.deep.equal([])
      expect((await sent(() => db.scan(Listing).count())).bins).to.deep.equal([])
      expect((await sent(() => bern.keys())).bins).to.deep.equal(['id'])
      expect((await sent(() => db.session().query(Listing).where({ city: 'Bern' }).keys())).bins).to.deep.equal(['id'])
      for (const sum of [
        () => bern.sum('price'),
        () => bern.avg('price'),
        () => bern.min('price'),
        () => bern.max('price'),
      ])
        expect((await sent(sum)).bins).to.deep.equal(['id', 'price'])
      expect((await sent(() => bern.groupBy('state').count())).bins).to.deep.equal(['id', 'state'])
      expect((await sent(() => bern.groupBy('state').sum('price'))).bins).to.deep.equal(['id', 'price', 'state'])
      expect((await sent(() => bern.only('price').toArray())).bins)
        .to.include('price')
        .and.not.include('city')
      expect((await sent(() => db.scan(Order, { tenant: 'acme' }).count())).bins).to.deep.equal(['id'])
    })
  })
}

async function fill(db: Database, mode: Mode): Promise<void> {
  await db.withSession((session) => {
    const agent = session.create(Agent, { id: 1, name: mode })
    for (let i = 0; i < 6; i++) {
      const each = listing(`l${i}`, { city: 'Bern', price: i })
      each.agent.set(agent)
      session.persist(each)
    }
  })
  await db.withSession((session) => void session.create(Order, { id: 1, state: 'open' }), { tenant: 'acme' })
}
