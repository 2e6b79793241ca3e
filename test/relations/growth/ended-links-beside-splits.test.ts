import { expect } from 'chai'
import { setTimeout as pause } from 'node:timers/promises'
import type { Database } from 'skein'
import { ALL_FAULTS } from '../../faults/faults.js'
import { MODES, type TestServer } from '../../server.js'
import { addFault, untilHit } from '../../until-hit.js'
import { useDatabase } from '../../use-database.js'
import { forAll, untilDone } from './during-splits.js'
import { Guest, Hotel, HOTELS } from './ended-link-split-models.js'

const GUESTS = ALL_FAULTS ? 60 : 15
const CHANGES = 8
const WORKS = ['link', 'unlink', 'unlink', 'restore'] as const

/** A guest's link as it should be. */
interface Expected {
  readonly room: string
  readonly hasLeft: boolean
}

for (const mode of MODES) {
  describe(`ended links beside splits of others (${mode})`, function () {
    this.timeout(120_000)
    let db: Database
    let other: Database
    let server: TestServer
    let namespace: string
    useDatabase(mode, HOTELS, (opened) => ({ server, namespace } = opened))
    before(async () => {
      const options = { namespace, entities: HOTELS, retry: { attempts: Infinity, deadline: 30_000 } }
      ;[db, other] = await Promise.all([server.open(options), server.open(options)])
    })
    after(() => Promise.all([db?.close(), other?.close()]))
    afterEach(() => server.embedded?.faults.clear())

    const guestsOf = (of: Database) => of.session().at(Hotel, 'h').collection('guests')

    /** Ends the link, makes it anew or restores it; says what is stored of it then. */
    async function change(of: Database, id: number, step: number, now: Expected | undefined): Promise<typeof now> {
      const work = WORKS[Math.floor(Math.random() * WORKS.length)]
      const room = `${id}-${step}`
      const isHere = Math.random() < 0.5
      let isRestored = false
      await untilDone(() =>
        of.withSession(async (session) => {
          const links = isHere
            ? session.at(Hotel, 'h').collection('guests')
            : session.at(Guest, id).collection('hotels')
          const key = (isHere ? id : 'h') as never
          if (work === 'link') links.link(key, { room, price: 2 })
          else if (work === 'unlink') links.unlink(key)
          else
            isRestored = await links.restore(key).then(
              () => true,
              () => false,
            )
        }),
      )
      if (work === 'link') return { room, hasLeft: false }
      return now && { ...now, hasLeft: work === 'unlink' || (now.hasLeft && !isRestored) }
    }

    it('are purged wherever a merge takes them meanwhile', async function () {
      await db.withSession((session) => {
        const hotel = session.create(Hotel, { id: 'h' })
        for (const id of [1, 2, 3]) hotel.guests.link(session.create(Guest, { id }), { room: '1', price: 2 })
      })
      await guestsOf(db).shard(3)
      await db.withSession((session) => {
        for (const id of [1, 2]) session.at(Hotel, 'h').collection('guests').unlink(id)
      })
      // The records of hotels have been walked by then.
      const fault = await addFault(this, server, { kind: 'query', set: 'ghotel_guests', delay: 800 })
      const purging = db.purge(Hotel, { links: 'guests', olderThan: new Date(Date.now() + 60_000) })
      await untilHit(fault, purging)
      await guestsOf(other).merge()
      expect(await purging).to.be.above(0)
      expect(await guestsOf(db).keys({ deleted: 'include' })).to.deep.equal([3])
      for await (const { message } of db.verify(HOTELS, { settle: 0 })) expect.fail(message)
    })

    it('stay stored with what they had, are made again and restored, and are never shown twice', async () => {
      await db.withSession((session) => {
        session.create(Hotel, { id: 'h' })
        for (let id = 0; id < GUESTS; id++) session.create(Guest, { id })
      })
      const expected = new Map<number, Expected>()
      let isOver = false
      const changes = forAll(GUESTS, async (id) => {
        let now: Expected | undefined
        for (let step = 0; step < CHANGES; step++) now = await change(id % 2 === 0 ? db : other, id, step, now)
        if (now !== undefined) expected.set(id, now)
      }).finally(() => (isOver = true))
      const splits = (async () => {
        for (let i = 0; !isOver || i < 4; i++) {
          const shards = [3, 5, 0, 2][i % 4]
          const of = i % 2 === 0 ? other : db
          await (shards === 0 ? guestsOf(of).merge() : guestsOf(of).shard(shards))
          await pause(5)
        }
      })()
      const looks = (async () => {
        while (!isOver) {
          const keys = await guestsOf(other).keys({ deleted: 'only' })
          expect(new Set(keys).size).to.equal(keys.length)
        }
      })()
      await Promise.all([changes, splits, looks])
      for (const of of [db, other]) expect(await stored(of, expected.keys())).to.deep.equal(expected)
      for await (const { message } of db.verify(HOTELS, { settle: 0 })) expect.fail(message)
    })

    /** Links as both ends show them. */
    async function stored(of: Database, ids: Iterable<number>): Promise<Map<number, Expected>> {
      const found = new Map<number, Expected>()
      const left = await guestsOf(of).keys({ deleted: 'only' })
      const there = await guestsOf(of).keys()
      for (const id of ids) {
        const here = await guestsOf(of).attributesOf(id, { deleted: 'include' })
        const far = await of.session().at(Guest, id).collection('hotels').attributesOf('h', { deleted: 'include' })
        expect(here).to.deep.equal(far)
        expect([left.includes(id), there.includes(id)], String(id)).to.have.members([true, false])
        found.set(id, { room: here!.room, hasLeft: left.includes(id) })
      }
      expect(left.length + there.length).to.equal(found.size)
      return found
    }
  })
}
