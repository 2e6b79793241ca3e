import { expect } from 'chai'
import type { Database } from 'skein'
import type { FaultOptions } from 'skein/embedded'
import { MODES, type TestServer } from '../../server.js'
import { addFault, untilHit } from '../../until-hit.js'
import { useDatabase } from '../../use-database.js'
import { CLASSES, Cow, Farm, Goat, KINDS, RELATED, Sheep, weighings, type Kind } from './moved-models.js'

for (const mode of MODES) {
  describe(`a child that is moved to another parent while its own is deleted (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, CLASSES, (opened) => ({ db, server } = opened))
    beforeEach(() =>
      db.withSession((session) => {
        for (const id of [1, 2]) session.create(Farm, { id })
      }),
    )
    afterEach(() => server.embedded?.faults.clear())

    const store = ({ store: add }: Kind, ids: readonly number[] = [1]): Promise<void> =>
      db.withSession(async (session) => {
        const farm = await session.load(Farm, 1)
        for (const id of ids) add(session, farm, id)
      })
    const move = ({ type }: Kind, to: number | null = 2): Promise<void> =>
      db.withSession(async (session) => (await session.load(type, 1)).farm.set(to))
    const findings = async (): Promise<string[]> => {
      const found: string[] = []
      for await (const { message } of db.verify(CLASSES, { settle: 0 })) found.push(message)
      return found
    }
    const related = async (): Promise<number> => {
      const found = await Promise.all(RELATED.map((type) => db.session().findMany(type, [1])))
      return found.flat().filter((one) => one !== null).length + (await weighings(db.session(), 1))
    }
    const membersOf = async (relation: Kind['relation']): Promise<readonly number[]> => {
      const farm = await db.session().load(Farm, 2, { with: [relation] })
      const found = farm[relation]
      if ('items' in found) return found.items.map(({ id }) => id)
      return found.value === null ? [] : [found.value.id]
    }
    /** Holds a delete at a command, until the other session is done. */
    const beside = async (
      context: Mocha.Context,
      hold: FaultOptions,
      deleting: () => Promise<unknown>,
      work: () => Promise<unknown>,
    ): Promise<void> => {
      const fault = await addFault(context, server, { ...hold, delay: 200 })
      const ended = deleting()
      await untilHit(fault, ended)
      const hits = await fault.hits()
      // Where there are transactions, one of the two has to wait, or fails.
      const failed = await work().catch((error: unknown) => error)
      await ended
      expect(hits).to.equal(1)
      if (mode === 'ap') expect(failed).to.equal(undefined)
    }
    const deleteFarm = (): Promise<unknown> => db.session().delete(Farm, 1)
    const isMoved = async ({ type, relation }: Kind, to: number | null = 2): Promise<void> => {
      expect(await db.session().find(Farm, 1)).to.equal(null)
      expect(await findings()).to.deep.equal([])
      const child = await db.session().find(type, 1)
      if (mode === 'sc' && child === null) return
      expect(child?.farm.key).to.equal(to)
      expect(await membersOf(relation)).to.deep.equal(to === null ? [] : [1])
    }

    for (const [name, kind] of Object.entries(KINDS)) {
      const holds: globalThis.Record<string, FaultOptions> = {
        'the read that finds it': { kind: ['read', 'query'], set: kind.set, after: true },
      }
      if (mode === 'sc') holds['the commit'] = { kind: 'txn-commit' }
      else if (kind.deletedBy !== undefined) holds['its delete'] = { kind: kind.deletedBy, set: kind.set }
      for (const [place, hold] of Object.entries(holds)) {
        it(`stays, with all that it has, ${name}, at ${place}`, async function () {
          await store(kind)
          const before = await related()
          await beside(this, hold, deleteFarm, () => move(kind))
          await isMoved(kind)
          if ((await db.session().find(kind.type, 1)) !== null) expect(await related()).to.equal(before)
        })
      }

      if (mode === 'ap')
        it(`stays where it was taken off its parent, ${name}`, async function () {
          await store(kind)
          await beside(this, holds['the read that finds it'], deleteFarm, () => move(kind, null))
          await isMoved(kind, null)
        })

      it(`goes where nobody moves it, ${name}`, async () => {
        await store(kind)
        expect(await db.session().delete(Farm, 1)).to.equal(true)
        expect(await db.session().find(Farm, 1)).to.equal(null)
        expect(await db.session().find(kind.type, 1)).to.equal(null)
        expect(await findings()).to.deep.equal(kind.left ?? [])
      })

      it(`goes where the session deletes it anyway, ${name}`, async function () {
        await store(kind)
        const session = db.session()
        const farm = await session.load(Farm, 1)
        session.remove(await session.load(kind.type, 1))
        session.remove(farm)
        await move(kind)
        await session.flush()
        expect(await db.session().find(Farm, 1)).to.equal(null)
        expect(await db.session().find(kind.type, 1)).to.equal(null)
        expect(await membersOf(kind.relation)).to.deep.equal([])
      })

      if (mode === 'sc') continue
      it(`goes with its parent when a delete that was cut off is repeated, ${name}`, async function () {
        await store(kind)
        const lost = { kind: kind.deletedBy ?? 'delete', set: kind.set, answer: 9, times: 20 } as const
        await addFault(this, server, lost)
        await db
          .session()
          .delete(Farm, 1)
          .then(
            () => expect.fail('The delete is not cut off.'),
            () => undefined,
          )
        await server.embedded!.faults.clear()
        await db.session().delete(Farm, 1)
        for (const type of CLASSES) await db.sweep(type)
        expect(await db.session().find(Farm, 1)).to.equal(null)
        expect(await db.session().find(kind.type, 1)).to.equal(null)
        expect(await findings()).to.deep.equal(kind.left ?? [])
      })
    }

    for (const [name, kind] of Object.entries({ list: KINDS['of a key list'], index: KINDS['by index'] })) {
      it(`stays where the others are deleted in steps, by ${name}`, async function () {
        await store(kind, [1, 2, 3, 4, 5, 6, 7])
        const hold = { kind: ['read', 'query'], set: kind.set, after: true } as const
        const deleting = (): Promise<unknown> => db.session().delete(Farm, 1, { step: 4 })
        await beside(this, hold, deleting, () => move(kind))
        await isMoved(kind)
        const others = await db.session().findMany<Cow | Goat>(kind.type as typeof Cow, [2, 3, 4, 5, 6, 7])
        expect(others).to.deep.equal(Array(6).fill(null))
      })
    }

    it('is deleted softly once, where two sessions delete its parent', async function () {
      await store(KINDS['that is deleted softly, with its members'])
      let first: Date | undefined
      const hold = { kind: 'write', set: 'moved-sheep' } as const
      const other = async (): Promise<void> => {
        await db.session().delete(Sheep, 1)
        first = (await db.session().load(Sheep, 1, { deleted: 'only' })).deletedAt
      }
      await beside(this, mode === 'ap' ? hold : { kind: 'txn-commit' }, deleteFarm, other)
      expect(await db.session().find(Farm, 1)).to.equal(null)
      const { deletedAt } = await db.session().load(Sheep, 1, { deleted: 'only' })
      if (mode === 'ap') expect(deletedAt).to.deep.equal(first)
    })
  })
}
