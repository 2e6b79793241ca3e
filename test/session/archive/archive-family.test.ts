import Aerospike from 'aerospike'
import { expect } from 'chai'
import { collection, Key, ManyToOne, OneToMany, Record, ref, Sharded, type Database, type EntityClass } from 'skein'
import { isNamedServer, MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { Author, familyIn, Remark, type Bill } from './archive-family-models.js'
import { rejection } from '../rejection.js'
import { sharedServer } from '../../shared-server.js'

for (const mode of MODES) {
  describe(`archives of a record with all that belongs to it (${mode})`, function () {
    if (isNamedServer) return
    const cold = mode === 'ap' ? 'test' : 'more'
    const family = familyIn(cold)
    const { Bill, Line, Note, Receipt } = family
    let db: Database
    let namespace: string
    useDatabase(mode, family.all, (opened) => ({ db, namespace } = opened))
    beforeEach(async () => {
      for (const set of ['af_bill', 'af_line', 'af_note', 'af_receipt']) await db.client.truncate(cold, set, 0)
      await new Promise((resolve) => setTimeout(resolve, 3))
      await db.withSession(async (session) => {
        for (const id of ['ann', 'bob']) session.create(Author, { id })
        for (const id of [1, 2]) {
          const bill = session.create(Bill, { id, text: `b${id}`, paidAt: new Date(2020, id) })
          for (const name of ['b', 'a']) {
            const line = session.create(Line, { id: `${id}${name}`, cents: 5 })
            line.notes.add(session.create(Note, { id: `${id}${name}n` }))
            bill.lines.add(line)
          }
          for (const [i, by] of ['bob', 'ann'].entries()) {
            const remark = Object.assign(new Remark(), { id: i, text: by, weight: 2 - i })
            remark.by.set(by)
            bill.remarks.add(remark)
          }
          bill.watchers.add('ann')
          bill.receipt.set(Object.assign(new Receipt(), { id, number: `r${id}` }))
        }
      })
    })
    const counts = (): Promise<number[]> =>
      Promise.all([Bill, Line, Note, Receipt].map((each) => db.scan<object>(each as EntityClass).count()))
    const findings = async (from?: 'archive'): Promise<string[]> => {
      const found: string[] = []
      const classes = [Bill, Line, Note, Receipt] as EntityClass[]
      for await (const { message } of db.verify(classes, { settle: 0, ...(from && { from }) })) found.push(message)
      return found
    }
    const shown = (bill: Bill): unknown => [
      bill.text,
      bill.version,
      bill.lines.items.map(({ id, cents, notes }) => [id, cents, notes.items.map((note) => note.id)]),
      bill.remarks.items.map(({ id, text, weight, by }) => [id, text, weight, by.key]),
      bill.receipt.value?.number,
    ]
    /** As if the last step of a move had not been done. */
    const putBack = async (): Promise<void> => {
      const [here, there] = [namespace, cold].map((ns) => new Aerospike.Key(ns, 'af_bill', 1))
      const { bins } = await db.client.get(there)
      // The client reads the keys of maps as text, and would write them so.
      const lists = Object.fromEntries(
        Object.entries(bins).filter(([name]) => !name.startsWith('remarks') && !name.startsWith('heavy')),
      )
      await db.client.put(here, lists as never)
    }
    const WITH = ['lines.notes', 'receipt'] as never
    const all = (from?: 'archive' | 'any'): Promise<Bill> =>
      db.session().load<Bill>(Bill, 1, { with: WITH, ...(from && { from }) })

    it('take along children, their children, consolidated ones and partners, and bring them back', async () => {
      const before = shown(await all())
      const heavy = async (): Promise<number[]> =>
        (await (await db.session().load(Bill, 1)).remarks.by('heavy').last(5)).map(({ id }) => id)
      const order = await heavy()
      expect(await db.session().archive(Bill, 1)).to.equal(true)
      expect(await counts()).to.deep.equal([1, 2, 2, 1])
      expect(await db.session().findMany(Line, ['1a', '1b', '2a'])).to.have.nested.property('[2].id', '2a')
      expect([await findings(), await findings('archive')]).to.deep.equal([[], []])
      for (const from of ['archive', 'any'] as const) expect(shown(await all(from)), from).to.deep.equal(before)

      expect(await db.session().unarchive(Bill, 1)).to.equal(true)
      expect(shown(await all())).to.deep.equal(before)
      expect(await heavy()).to.deep.equal(order)
      expect(await counts()).to.deep.equal([2, 4, 4, 2])
      expect([await findings(), await findings('archive')]).to.deep.equal([[], []])
      const bill = await db.session().load(Bill, 1)
      expect(await bill.watchers.keys()).to.deep.equal(['ann'])
      const parents: number[] = []
      for await (const { id } of db.session().pointingTo(Bill, 'remarks.by', 'ann')) parents.push(id)
      expect(parents).to.have.members([1, 2])
    })

    it('leave a session that has them, and refuse what was not sent', async () => {
      const session = db.session()
      const bill = await session.load(Bill, 1, { with: WITH })
      bill.lines.items[0].cents = 9
      expect(await rejection(() => session.archive(bill))).to.include({ code: 'SKEIN_2319' })
      await session.flush()
      const [line] = bill.lines.items
      expect(await session.archive(bill)).to.equal(true)
      expect(await session.find(Line, line.id)).to.equal(null)
      expect(await rejection(() => session.save(line))).to.include({ code: 'SKEIN_2319' })
      expect((await db.session().load(Line, line.id, { from: 'archive' })).cents).to.equal(9)
    })

    it('move children only with their parent', async () => {
      for (const work of [
        () => db.session().archive(Line, '1a'),
        () => db.session().unarchive(Note, '1an'),
        () => db.archive(Line, { olderThan: new Date(), by: 'x' }),
      ])
        expect(await rejection(work)).to.include({ code: 'SKEIN_2318' })
    })

    it('move by age', async () => {
      const told: number[] = []
      const onProgress = ({ archived }: { archived: number }): number => told.push(archived)
      expect(await db.archive(Bill, { olderThan: new Date(2020, 1, 15), by: 'paidAt', onProgress })).to.equal(1)
      expect(told.at(-1)).to.equal(1)
      expect(await counts()).to.deep.equal([1, 2, 2, 1])
    })

    it('take along a child that others add meanwhile', async () => {
      for (let round = 0; round < 5; round++) {
        await Promise.allSettled([
          db.session().archive(Bill, 1),
          db.withSession(async (session) => {
            const line = session.create(Line, { id: `new${round}` })
            line.bill.set(1)
          }),
        ])
        await db.session().archive(Bill, 1)
        const bill = await all('archive')
        const added = bill.lines.items.some(({ id }) => id === `new${round}`)
        const hot = await db.session().find(Line, `new${round}`)
        expect(hot === null || hot.bill.key !== 1 || added, `round ${round}`).to.equal(true)
        await db.session().unarchive(Bill, 1)
        expect([await findings(), await findings('archive')], `round ${round}`).to.deep.equal([[], []])
      }
    })

    it('are left alone by verify where a move was cut off, and are reported', async () => {
      await db.session().archive(Bill, 1)
      await putBack()
      const [first] = await findings()
      expect(first).to.include('a move was cut off')
      for await (const { kind, state } of db.verify(Bill, { settle: 0, repair: true }))
        expect(`${kind} ${state}`).to.be.oneOf(['unfinishedArchive found', 'wrongLayout repaired'])
      await db.session().archive(Bill, 1)
      expect([await findings(), await findings('archive')]).to.deep.equal([[], []])
      expect((await all('archive')).lines.items).to.have.length(2)
    })

    it('are deleted as a whole while a move is cut off', async () => {
      await db.session().archive(Bill, 1)
      await putBack()
      expect(await db.session().delete(Bill, 1)).to.equal(true)
      expect(await db.session().findMany(Line, ['1a', '1b'], { from: 'any' })).to.deep.equal([null, null])
      expect(await db.session().findMany(Note, ['1an', '1bn'], { from: 'any' })).to.deep.equal([null, null])
      expect(await db.session().find(Bill, 1, { from: 'any' })).to.equal(null)
      expect(await db.session().findMany(Note, ['2an', '2bn'])).not.to.include(null)
    })

    it('leave archived children of another parent alone, although a list still names them', async () => {
      await db.session().archive(Bill, 2)
      await db.client.operate(new Aerospike.Key(namespace, 'af_bill', 1), [Aerospike.lists.append('lines', '2a')])
      expect(await db.session().delete(Bill, 1)).to.equal(true)
      const bill = await db.session().load<Bill>(Bill, 2, { from: 'archive', with: WITH })
      expect(bill.lines.items.map(({ id, notes }) => [id, notes.items.length])).to.deep.equal([
        ['2a', 1],
        ['2b', 1],
      ])
    })
  })
}

describe('an archive that would leave something behind', () => {
  it('is refused, with the property and what to do', async () => {
    @Record({ set: 'ax_parent', archive: 'more' })
    class Parent {
      @Key() id!: string
      @OneToMany(() => Child, 'parent') children = collection<Child>()
      @Sharded({ by: 'hash', shards: 2 })
      @OneToMany(() => Child)
      others = collection<Child>()
    }
    @Record({ set: 'ax_child', archive: 'more' })
    class Child {
      @Key() id!: string
      @ManyToOne(() => Parent, 'children') parent = ref<Parent>()
    }
    @Record({ set: 'ax_hot' })
    class Hot {
      @Key() id!: string
      @ManyToOne(() => Parent) parent = ref<Parent>()
    }
    const server = await sharedServer()
    const { message } = (await rejection(() =>
      server.open({ namespace: 'test', entities: [Parent, Child, Hot] }),
    )) as Error
    for (const place of ['Parent.children', 'Parent.others', 'Child.parent', 'Hot.parent'])
      expect(message).to.include(place)
    expect(message).to.include('SKEIN_1063').and.include("onDelete: 'cascade'")
  })
})
