import Aerospike from 'aerospike'
import { expect } from 'chai'
import { SkeinError, VersionConflictError, type Database, type HistoryEntry } from 'skein'
import { MODES, type TestServer } from '../../server.js'
import { commandWords } from '../../command-words.js'
import { useDatabase } from '../../use-database.js'
import { ALL, Client, Contract, Follow, Memo, Money, Note, Person, Price, contract } from './history-models.js'
import { rejection } from '../rejection.js'

const terms = (entries: readonly HistoryEntry<Contract>[]): unknown[] =>
  entries.map(({ version, entity }) => [version, entity?.terms])

for (const mode of MODES) {
  describe(`histories (${mode})`, () => {
    let db: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, ALL, (opened) => ({ db, server, namespace } = opened))

    const change = (values: Partial<Contract>): Promise<unknown> =>
      db.withSession(async (session) => void Object.assign(await session.load(Contract, 'c'), values))
    const entries = (): Promise<readonly HistoryEntry<Contract>[]> => db.session().history(Contract, 'c').entries()

    it('keep what a record was before each change, the latest first, and no more than keep says', async () => {
      await db.session().save(contract())
      expect(await entries()).to.deep.equal([])
      for (const each of ['second', 'third', 'fourth', 'fifth']) await change({ terms: each })
      expect(terms(await entries())).to.deep.equal([
        [4, 'fourth'],
        [3, 'third'],
        [2, 'second'],
      ])
      expect((await db.session().load(Contract, 'c')).terms).to.equal('fifth')
    })

    it('bring back every type as it was, with the reference', async () => {
      const price = Object.assign(new Money(), { amount: 2, currency: 'CHF' })
      const shares = new Map([[1, 2n ** 60n]])
      const first = contract({ rate: 3, shares, meetings: [new Date(5)], price })
      const client = Object.assign(new Client(), { id: 'x' })
      first.client.set(client)
      await db.withSession((session) => void session.persist(first))
      await change({ rate: undefined, shares: new Map(), meetings: [], price: undefined })
      const [{ entity, at, by }] = await entries()
      expect(entity).to.be.instanceOf(Contract)
      expect(entity).to.deep.include({ id: 'c', rate: 3, shares, meetings: [new Date(5)], price, version: 1 })
      expect(entity!.createdAt).to.deep.equal(at)
      expect(entity!.client.key).to.equal('x')
      expect(by).to.equal(undefined)
    })

    it('show the reference that was stored, also when it changed without a new version', async () => {
      const session = db.session()
      const one = contract()
      session.persist(one)
      await session.flush()
      one.client.set(Object.assign(new Client(), { id: 'x' }))
      await session.flush()
      one.terms = 'second'
      await session.save(one)
      expect((await entries()).map(({ version, entity }) => [version, entity!.client.key])).to.deep.equal([[1, 'x']])
    })

    it('are answered for a time', async () => {
      const session = db.session()
      const one = contract()
      await session.save(one)
      const history = session.history(one)
      const born = (await history.at(new Date(Date.now() + 60_000)))!.at!
      expect(await history.at(new Date(born.getTime() - 1))).to.equal(null)
      expect((await history.at(born))!.entity).to.include({ terms: 'first', version: 1 })
      while (Date.now() <= born.getTime()) await new Promise((resolve) => setTimeout(resolve, 1))
      one.terms = 'second'
      await session.save(one)
      expect((await history.at(born))!.entity).to.include({ terms: 'first', version: 1 })
      expect((await history.at(new Date(Date.now() + 60_000)))!.entity).to.include({ terms: 'second', version: 2 })
      const wrong = await rejection(() => history.at('today' as unknown as Date))
      expect(wrong).to.have.property('code', 'SKEIN_2321')
    })

    it('say who stored each state', async () => {
      let who: string | undefined = 'ann'
      const other = await server.open({ namespace, entities: ALL, actor: () => who })
      try {
        const session = other.session()
        const one = contract()
        await session.save(one)
        who = 'bob'
        one.terms = 'second'
        await session.save(one)
        who = undefined
        one.terms = 'third'
        await session.save(one)
        who = 'cem'
        await session.delete(one)
        expect(
          (await session.history(Contract, 'c').entries()).map(({ by, entity }) => [by, entity?.terms]),
        ).to.deep.equal([
          ['cem', undefined],
          [undefined, 'third'],
          ['bob', 'second'],
        ])
        who = 5 as unknown as string
        expect(await rejection(() => session.save(contract({ id: 'd' })))).to.have.property('code', 'SKEIN_2320')
      } finally {
        await other.close()
      }
    })

    it('outlive a delete, which is their last entry, and go on when the key is used again', async () => {
      await db.session().save(contract())
      expect(await db.session().delete(Contract, 'c')).to.equal(true)
      expect(terms(await entries())).to.deep.equal([
        [2, undefined],
        [1, 'first'],
      ])
      expect(
        await db
          .session()
          .history(Contract, 'c')
          .at(new Date(Date.now() + 60_000)),
      ).to.have.property('entity', null)
      await db.session().save(contract({ terms: 'again' }))
      await change({ terms: 'once more' })
      expect(terms(await entries())).to.deep.equal([
        [1, 'again'],
        [2, undefined],
        [1, 'first'],
      ])
      expect(await db.session().history(Contract, 'c').delete()).to.equal(true)
      expect(await db.session().history(Contract, 'c').delete()).to.equal(false)
      expect(await entries()).to.deep.equal([])
      expect((await db.session().load(Contract, 'c')).terms).to.equal('once more')
    })

    it('keep soft deletes and restores, and subclasses, as any other change', async () => {
      await db.session().save(Object.assign(new Memo(), { id: 1, text: 'a', to: 'x' }))
      await db.session().delete(Note, 1)
      await db.session().restore(Note, 1)
      const found = await db.session().history(Note, 1).entries()
      expect(
        found.map(({ version, entity }) => [version, entity instanceof Memo, entity!.deletedAt !== undefined]),
      ).to.deep.equal([
        [2, true, true],
        [1, true, false],
      ])
      expect(found[1].entity).to.include({ to: 'x', text: 'a' })
    })

    it('keep what upserts, handles and partial loads replace, which they read first', async () => {
      await db.session().upsert(contract())
      await db.session().upsert(contract({ terms: 'second' }))
      const session = db.session()
      session.at(Contract, 'c').map('shares').put(1, 5n)
      await session.flush()
      await session.close()
      await db.withSession(async (other) => {
        const one = await other.load(Contract, 'c', { only: ['terms'] })
        one.terms = 'third'
      })
      const found = await entries()
      expect(found.map(({ version, entity }) => [version, entity!.terms, entity!.shares.get(1)])).to.deep.equal([
        [3, 'second', 5n],
        [2, 'second', undefined],
        [1, 'first', undefined],
      ])
    })

    it('leave the references of an upsert as they are set, whether its record was there or not', async () => {
      await db.withSession((session) => void ['x', 'y'].forEach((id) => session.create(Client, { id })))
      for (const client of ['x', 'y']) {
        const given = contract({ terms: client })
        given.client.set(client)
        await db.session().upsert(given)
        const { client: stored, terms: words } = await db.session().load(Contract, 'c')
        expect([stored.key, words]).to.deep.equal([client, client])
        expect(await db.session().at(Client, client).collection('contracts').keys()).to.deep.equal(['c'])
      }
      expect(await db.session().at(Client, 'x').collection('contracts').keys()).to.deep.equal([])
      expect((await entries()).map(({ entity }) => entity?.client.key)).to.deep.equal(['x'])
    })

    it('keep what link records were, which are made, replaced and ended as others', async () => {
      await db.withSession((session) => {
        for (const id of ['ann', 'bob']) session.create(Person, { id })
        session.create(Client, { id: 'x' })
      })
      const link = (kind: string): Promise<unknown> =>
        db.withSession(async (session) =>
          session.at(Person, 'ann').collection('follows').link('bob', { kind, through: 'x' }),
        )
      await link('work')
      await link('friend')
      const stored = await db.session().load(Follow, 'ann:bob')
      expect([stored.kind, stored.version, stored.from.key, stored.to.key, stored.through.key]).to.deep.equal([
        'friend',
        2,
        'ann',
        'bob',
        'x',
      ])
      expect(await db.session().at(Person, 'ann').collection('follows').keys()).to.deep.equal(['bob'])
      expect(await db.session().at(Person, 'bob').collection('followers').keys()).to.deep.equal(['ann'])
      await db.withSession(async (session) => session.at(Person, 'bob').collection('followers').unlink('ann'))
      const kept = await db.session().history(Follow, 'ann:bob').entries()
      expect(kept.map(({ entity }) => entity && [entity.kind, entity.to.key, entity.through.key])).to.deep.equal([
        null,
        ['friend', 'bob', 'x'],
        ['work', 'bob', 'x'],
      ])
      expect(await db.session().find(Follow, 'ann:bob')).to.equal(null)
    })

    it('live as long after the last change as ttl says, and their records as before', async () => {
      const ttlOf = async (set: string): Promise<number> =>
        (await db.client.get(new Aerospike.Key(namespace, set, 'p'))).ttl
      const session = db.session()
      const price = session.create(Price, { id: 'p', amount: 1 })
      await session.flush()
      const before = await ttlOf('hi_price')
      for (const amount of [2, 3]) await session.save(Object.assign(price, { amount }))
      // Other tests have moved the clock of the server, by which the client's own is behind.
      await db.client.put(new Aerospike.Key(namespace, 'hi_ttl', 'p'), { id: 1 }, { ttl: 5000 })
      expect(await ttlOf('hi_price_history')).to.be.closeTo(await ttlOf('hi_ttl'), 10)
      expect(await ttlOf('hi_price')).to.be.closeTo(before, 10)
    })

    it('keep what bulk updates and bulk deletes replace', async () => {
      await db.session().save(contract())
      await db.scan(Contract).update({ terms: 'all' })
      await db.scan(Contract).delete()
      expect(terms(await entries())).to.deep.equal([
        [3, undefined],
        [2, 'all'],
        [1, 'first'],
      ])
    })

    it('get no entry from a save that changes nothing, a new time to live or a conflict', async () => {
      const [first, second] = [db.session(), db.session()]
      await first.save(contract())
      const one = await second.load(Contract, 'c')
      await second.save(one)
      const other = await db.session().load(Contract, 'c')
      other.terms = 'second'
      await db.withSession(async (session) => void ((await session.load(Contract, 'c')).terms = 'theirs'))
      one.terms = 'mine'
      expect(await rejection(() => second.save(one))).to.be.instanceOf(VersionConflictError)
      expect(terms(await entries())).to.deep.equal([[1, 'first']])
    })

    it('cost one command more for a change of a loaded entity', async () => {
      await db.session().save(contract())
      const session = db.session()
      const one = await session.load(Contract, 'c')
      one.terms = 'second'
      const words = await commandWords(server, () => session.save(one))
      if (mode === 'ap') expect(words).to.deep.equal(['write', 'write'])
      one.terms = 'third'
      const again = await commandWords(server, () => session.save(one))
      if (mode === 'ap') expect(again).to.deep.equal(['read', 'write', 'write'])
      const gone = await commandWords(server, () => session.delete(one))
      if (mode === 'ap') expect(gone).to.deep.equal(['read', 'write', 'delete', 'write'])
    })

    it('show their writes in explain, before those of the record', async () => {
      await db.session().save(contract())
      const session = db.session()
      const one = await session.load(Contract, 'c')
      one.terms = 'second'
      const { plans } = await session.explain()
      const commands = plans.flatMap(({ stages }) => stages.flatMap(({ commands: each }) => each))
      expect(commands.map(({ key }) => key.set).sort()).to.deep.equal(['hi_contract', 'hi_contract_history'])
      expect(terms(await entries())).to.deep.equal([])
    })

    it('have each version once when many change a record at the same time', async () => {
      const make = db.session()
      await make.save(Object.assign(new Note(), { id: 1, text: '1' }))
      const change = async (): Promise<void> => {
        for (let left = 3; left > 0;) {
          const session = db.session()
          const note = await session.load(Note, 1)
          note.text = String(note.version! + 1)
          left -= await session.save(note).then(
            () => 1,
            (error: unknown) => {
              expect(error).to.be.instanceOf(VersionConflictError)
              return 0
            },
          )
          await session.close()
        }
      }
      await Promise.all([change(), change(), change(), change()])
      const found = await db.session().history(Note, 1).entries()
      expect(found.map(({ version }) => version)).to.deep.equal([12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1])
      for (const { version, entity } of found) expect(entity!.text).to.equal(String(version))
      for await (const finding of db.verify([Note, Contract], { settle: 0 })) expect.fail(finding.message)
    })

    it('go with a truncate, and are refused for other classes', async () => {
      await db.session().save(contract())
      await change({ terms: 'second' })
      await db.truncate(Contract)
      expect(await entries()).to.deep.equal([])
      const error = await rejection(() => db.session().history(Client, 'x'))
      expect(error).to.be.instanceOf(SkeinError).and.have.property('code', 'SKEIN_2317')
    })
  })
}
