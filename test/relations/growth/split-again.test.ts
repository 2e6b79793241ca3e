import { expect } from 'chai'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Database, Finding, Session, SplitEvent } from 'skein'
import { hashShard } from '#src/keys/index.js'
import { MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { placeWith, Ticket, Visit, Visitor, type PlaceClass } from './split-again-models.js'

const FEW = 8
const MANY = 32
const Before = placeWith(FEW)
const After = placeWith(MANY)
/** Is split only where its record is full. */
const Full = placeWith(MANY, {})

/** A program, in the version that has so many shards. */
interface Program {
  readonly db: Database
  readonly Place: PlaceClass
}

/** Members of each kind, with what they carry. */
const KINDS = {
  visitors: {
    title: 'keys',
    subkeys: 'subkeys',
    add: (session: Session, Place: PlaceClass, ids: readonly string[]) =>
      void session
        .at(Place, 'p')
        .collection('visitors')
        .add(...ids),
    carried: () => Promise.resolve(undefined),
    carries: () => undefined,
  },
  guests: {
    title: 'links with attributes',
    subkeys: 'guestsIn',
    add: (session: Session, Place: PlaceClass, ids: readonly string[]) => {
      const guests = session.at(Place, 'p').collection('guests')
      for (const id of ids) guests.link(id, Object.assign(new Ticket(), { seat: `seat ${id}` }))
    },
    carried: async ({ db, Place }: Program, id: string) =>
      (await db.session().at(Place, 'p').collection('guests').attributesOf(id))?.seat,
    carries: (id: string) => `seat ${id}`,
  },
  visits: {
    title: 'consolidated children',
    subkeys: 'visitsIn',
    add: (session: Session, Place: PlaceClass, ids: readonly string[]) =>
      void session
        .at(Place, 'p')
        .collection('visits')
        .add(...ids.map((id) => Object.assign(new Visit(), { id, text: `text ${id}` }))),
    carried: async ({ db, Place }: Program, id: string) =>
      (await db.session().at(Place, 'p').collection('visits').get(id))?.text,
    carries: (id: string) => `text ${id}`,
  },
} as const
type Property = keyof typeof KINDS

const names = (count: number, from = 0): string[] => Array.from({ length: count }, (_, i) => `v${100 + from + i}`)

for (const mode of MODES) {
  describe(`a collection in 8 shards whose class asks for 32 (${mode})`, function () {
    this.timeout(60_000)
    let before: Program
    let after: Program
    let server: TestServer
    let namespace: string
    useDatabase(mode, [After, Visitor], ({ db, ...opened }) => {
      ;({ server, namespace } = opened)
      after = { db, Place: After }
    })
    this.beforeAll(async () => {
      before = { db: await server.open({ namespace, entities: [Before, Visitor] }), Place: Before }
    })
    afterEach(() => server.embedded?.faults.clear())
    this.afterAll(() => before.db.close())

    const add = ({ db, Place }: Program, property: Property, ids: readonly string[]): Promise<unknown> =>
      db.withSession((session) => KINDS[property].add(session, Place, ids))
    const keys = ({ db, Place }: Program, property: Property): Promise<readonly unknown[]> =>
      db.session().at(Place, 'p').collection(property).keys()
    const shardsOf = async (property: Property): Promise<unknown> =>
      (await after.db.client.get({ ns: namespace, set: 'splace', key: 'p' })).bins[KINDS[property].subkeys]
    const companions = async (property: Property): Promise<unknown[]> => {
      const records = await after.db.client.query(namespace, `splace_${property}`).results()
      return records.map(({ bins }) => bins['_sk.shards'])
    }
    const prepare = async (property: Property): Promise<void> => {
      await before.db.session().save(Object.assign(new Before(), { id: 'p' }))
      await add(before, property, names(14))
      expect(await shardsOf(property)).to.deep.equal(['hash-shards', FEW])
    }
    const splitsDuring = async (work: () => Promise<unknown>): Promise<string[]> => {
      const events: SplitEvent[] = []
      const note = (event: unknown): void => void events.push(event as SplitEvent)
      subscribe('skein:split', note)
      try {
        await work()
      } finally {
        unsubscribe('skein:split', note)
      }
      return events.map(
        ({ property, from, to, reason, error }) =>
          `${property} ${from} ${to} ${reason}${error === undefined ? '' : ' failed'}`,
      )
    }
    const findings = async (): Promise<string[]> => {
      const found: Finding[] = []
      for await (const finding of after.db.verify(After, { settle: 0 })) found.push(finding)
      return found.map(({ message }) => message)
    }

    for (const property of Object.keys(KINDS) as Property[]) {
      const { title, carried, carries } = KINDS[property]
      const check = async (all: readonly string[]): Promise<void> => {
        expect(await shardsOf(property)).to.deep.equal(['hash-shards', MANY])
        expect(await companions(property)).to.deep.equal(Array(MANY).fill(MANY))
        for (const program of [before, after]) {
          expect(await keys(program, property)).to.deep.equal([...all].sort())
          for (const id of all.slice(0, 5)) expect(await carried(program, id)).to.equal(carries(id))
        }
        expect(await findings()).to.deep.equal([])
      }

      it(`is split again when a record has too many ${title}, and goes on in both versions of a program`, async () => {
        await after.db.withSession((session) => {
          for (const id of names(180)) session.persist(Object.assign(new Visitor(), { id }))
        })
        await prepare(property)
        expect(await splitsDuring(() => add(before, property, names(80, 14)))).to.deep.equal([])
        expect(await shardsOf(property)).to.deep.equal(['hash-shards', FEW])
        const all = names(180)
        const splits = await splitsDuring(async () => {
          for (let from = 94; from < 180; from += 10) await add(after, property, names(Math.min(10, 180 - from), from))
        })
        expect(splits).to.deep.equal([`${property} ${FEW} ${MANY} members`])
        await check(all)
        expect(await splitsDuring(() => add(before, property, ['late']))).to.deep.equal([])
        await before.db.withSession((session) => void session.at(Before, 'p').collection(property).remove('v100'))
        expect(await keys(after, property)).to.deep.equal([...all.slice(1), 'late'].sort())
      })

      it(`tells that a split of ${title} has failed, though the add has not, and is split by the next writer`, async function () {
        if (server.embedded === undefined) this.skip()
        await prepare(property)
        await add(after, property, names(4, 14))
        const { faults } = server.embedded
        await faults.add({ namespace, set: 'splace', kind: 'write', answer: 4, times: Infinity })
        const failed = await splitsDuring(() => add(after, property, names(100, 18)))
        expect(failed).to.deep.equal([`${property} ${FEW} ${MANY} members failed`])
        await faults.clear()
        expect(await shardsOf(property)).to.deep.equal(['hash-shards', FEW])
        const splits = await splitsDuring(() => add(after, property, names(40, 118)))
        expect(splits).to.deep.equal([`${property} ${FEW} ${MANY} members`])
        expect(await keys(before, property)).to.deep.equal(names(158))
      })

      it(`is split again when a record of ${title} is too large`, async () => {
        await prepare(property)
        const long = names(40, 50).map((id) => id.padEnd(600, '-'))
        const splits = await splitsDuring(() => add(after, property, long))
        expect(splits).to.deep.equal([`${property} ${FEW} ${MANY} bytes`])
        expect(await keys(after, property)).to.deep.equal([...names(14), ...long].sort())
        expect(await companions(property)).to.deep.equal(Array(MANY).fill(MANY))
      })

      it(`is split again when a record of ${title} would be too large, and the add is sent again`, async () => {
        const ids = names(1_100)
          .filter((id) => hashShard(id.padEnd(9_000, '-'), FEW) === 0)
          // A child has its key in three places.
          .slice(0, property === 'visits' ? 50 : 120)
          .map((id) => id.padEnd(9_000, '-'))
        const full = { db: await server.open({ namespace, entities: [Full, Visitor] }), Place: Full }
        try {
          await full.db.session().save(Object.assign(new Full(), { id: 'p' }))
          await full.db.session().at(Full, 'p').collection(property).shard(FEW)
          const splits = await splitsDuring(async () => {
            for (let i = 0; i < ids.length; i += 20) await add(full, property, ids.slice(i, i + 20))
          })
          expect(splits).to.deep.equal([`${property} ${FEW} ${MANY} tooLarge`])
          expect(await keys(after, property)).to.deep.equal([...ids].sort())
        } finally {
          await full.db.close()
        }
      })

      it(`is split again when a record of ${title} is busy`, async function () {
        if (server.embedded === undefined) this.skip()
        await prepare(property)
        const busy = { namespace, set: `splace_${property}`, kind: 'write' as const, answer: 14 }
        await server.embedded.faults.add({ ...busy, times: 2 })
        expect(await splitsDuring(() => add(after, property, ['one']))).to.deep.equal([])
        await server.embedded.faults.add({ ...busy, times: 4 })
        const splits = await splitsDuring(() => add(after, property, ['two']))
        expect(splits).to.deep.equal([`${property} ${FEW} ${MANY} busyPerSecond`])
        expect(await keys(before, property)).to.deep.equal([...names(14), 'one', 'two'].sort())
      })
    }
  })
}
