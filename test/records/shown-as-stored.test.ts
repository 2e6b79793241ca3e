import { expect } from 'chai'
import { Bin, Key, Record, type Database, type RecordHandle, type Session } from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

@Record({ set: 'shown_stored' })
class Doc {
  @Key() id!: string
  @Bin({ type: { list: 'int' } }) plain: number[] = []
  @Bin({ type: { list: 'int', order: 'sorted' } }) sorted: number[] = []
  @Bin({ type: { list: 'int', unique: true } }) unique: number[] = []
}

type Name = 'plain' | 'sorted' | 'unique'
/** Says how a session comes to the record. */
type Way = 'not loaded' | 'loaded' | 'new'
const WAYS: readonly Way[] = ['not loaded', 'loaded', 'new']

for (const mode of MODES) {
  describe(`what a handle does to a list is shown as it is stored (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Doc], (opened) => ({ db } = opened))

    const stored = async (name: Name): Promise<number[]> => (await db.session().load(Doc, 'a'))[name]

    const open = async (session: Session, way: Way, items: Partial<Doc>): Promise<[RecordHandle<Doc>, Doc?]> => {
      if (way === 'new') {
        const created = session.create(Doc, { id: 'a', ...items })
        return [session.at(created), created]
      }
      await db.session().save(Object.assign(new Doc(), { id: 'a', ...items }))
      if (way === 'not loaded') return [session.at(Doc, 'a')]
      const loaded = await session.load(Doc, 'a')
      return [session.at(loaded), loaded]
    }

    for (const way of WAYS) {
      it(`when items are removed from before the first one, of a record that is ${way}`, async () => {
        for (const [index, count, left] of [
          [-3, 1, [1, 2]],
          [-3, 2, [2]],
          [-5, 2, [1, 2]],
          [-2, 9, []],
          [-1, 1, [1]],
          [5, 1, [1, 2]],
        ] as const)
          for (const name of ['plain', 'sorted', 'unique'] as const) {
            const session = db.session()
            const [handle, entity] = await open(session, way, { [name]: [1, 2] })
            handle.list(name).removeAt(index, count)
            if (entity !== undefined) expect(entity[name], `${name} ${index}`).to.deep.equal(left)
            expect(await handle.list(name).first(9)).to.deep.equal(left)
            await session.flush()
            expect(await stored(name), `${name} ${index}`).to.deep.equal(left)
            await db.session().delete(Doc, 'a')
          }
      })
    }

    it('so that a later change of an item loses no others', async () => {
      const session = db.session()
      const [handle, entity] = await open(session, 'loaded', { plain: [1, 2] })
      handle.list('plain').removeAt(-3)
      await session.flush()
      entity!.plain[0] = 7
      await session.flush()
      expect(await stored('plain')).to.deep.equal([7, 2])
    })

    for (const way of ['loaded', 'new'] as const) {
      it(`when items were pushed to a sorted list out of order before, of an entity that is ${way}`, async () => {
        const session = db.session()
        const [handle, entity] = await open(session, way, {})
        entity!.sorted.push(5, 1, 3)
        handle.list('sorted').removeAt(0)
        expect(entity!.sorted).to.deep.equal([3, 5])
        expect(await handle.list('sorted').first(9)).to.deep.equal([3, 5])
        await session.flush()
        expect(entity!.sorted).to.deep.equal([3, 5])
        expect(await stored('sorted')).to.deep.equal([3, 5])
        entity!.sorted.push(1)
        await session.flush()
        handle.list('sorted').removeAt(-1)
        expect(entity!.sorted).to.deep.equal([1, 3])
        await session.flush()
        expect(await stored('sorted')).to.deep.equal([1, 3])
      })

      it(`when items were pushed to a unique list twice before, of an entity that is ${way}`, async () => {
        const session = db.session()
        const [handle, entity] = await open(session, way, { unique: [4] })
        entity!.unique.push(5, 5, 6)
        handle.list('unique').removeAt(2)
        expect(entity!.unique).to.deep.equal([4, 5])
        handle.list('unique').insert(1, 9)
        await session.flush()
        expect(entity!.unique).to.deep.equal([4, 9, 5])
        expect(await stored('unique')).to.deep.equal([4, 9, 5])
      })
    }
  })
}
