import { expect } from 'chai'
import { Bin, Embeddable, Embedded, Key, Record, SkeinError, type Database } from 'skein'
import { MODES, type TestServer } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Line {
  @Bin({ type: 'int' }) n?: number
}

@Embeddable()
class Item {
  @Bin() from?: string
  @Bin({ type: 'int' }) n?: number
  @Bin({ type: 'json' }) more?: unknown
  @Embedded(() => Line, { as: 'array' }) inner?: Line[]
}

@Record({ set: 'nit_box' })
class Box {
  @Key() id!: string
  @Embedded(() => Item, { as: 'array' }) items: Item[] = []
  @Embedded(() => Item, { as: 'map' }) named = new Map<string, Item>()
}

/** The types have no null among parts; records of other programs and of plain JavaScript do. */
const NULL = null as unknown as Item
const item = (values: Partial<Item>): Item => Object.assign(new Item(), values)
const line = (n: number): Line => Object.assign(new Line(), { n })

for (const mode of MODES) {
  describe(`a list of parts that holds null (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [Box], (opened) => ({ db, server } = opened))
    beforeEach(() =>
      db.session().save(
        Object.assign(new Box(), {
          id: 'a',
          items: [
            item({ from: 'x', n: 1, inner: [NULL as unknown as Line, line(5)] }),
            NULL,
            item({ from: 'y', n: 2 }),
          ],
          named: new Map([
            ['k', item({ n: 1 })],
            ['none', NULL],
          ]),
        }),
      ),
    )
    const stored = (): Promise<Box> => db.session().load(Box, 'a')
    const numbers = async (): Promise<unknown[]> =>
      (await stored()).items.map((one: { n?: number } | null) => one && one.n)

    it('is changed by set and increment of all items, which leave null as it is', async () => {
      const session = db.session()
      const list = session.at(Box, 'a').list('items')
      list.where({}).set({ n: 9 })
      list.where({}).increment('n', 2)
      expect(await list.where({ n: 11 }).count()).to.equal(2)
      const { commands } = await server.commands.during(() => session.flush())
      expect([commands, await numbers()]).to.deep.equal([1, [11, null, 11]])
    })

    it('has no null among the items that meet a condition on a field, also one with not', async () => {
      const session = db.session()
      const list = session.at(Box, 'a').list('items')
      expect(await list.where((one) => one.from.eq('y').not()).count()).to.equal(1)
      expect(await list.where({ from: { ne: 'y' } }).count()).to.equal(1)
      expect(await list.where({ more: null }).count()).to.equal(2)
      list.where({ from: 'x' }).set({ from: 'z' })
      list.where((one) => one.from.eq('y').not()).increment('n', 5)
      list.where((one) => one.from.eq('z').not()).remove()
      await session.flush()
      expect(await numbers()).to.deep.equal([6, null])
    })

    it('loses null by a removal of all items', async () => {
      const session = db.session()
      const list = session.at(Box, 'a').list('items')
      expect([await list.where({}).count(), (await list.where({}).select()).length]).to.deep.equal([3, 3])
      list.where({}).remove()
      await session.flush()
      expect(await numbers()).to.deep.equal([])
    })

    it('is reached inside other items, and so is a map', async () => {
      const session = db.session()
      const box = session.at(Box, 'a')
      box.list('items').where({}).at('inner').where({}).increment('n', 1)
      box.map('named').where({}).increment('n', 1)
      await session.flush()
      const { items, named } = await stored()
      expect(items[0]?.inner?.map((one: { n?: number } | null) => one && one.n)).to.deep.equal([null, 6])
      expect([named.get('k')?.n, named.get('none')]).to.deep.equal([2, null])
    })

    it('still refuses an increment of what is not a number, and nothing is written', async () => {
      const filler = db.session()
      filler.at(Box, 'a').list('items').where({ from: 'y' }).set({ more: 'text' })
      await filler.flush()
      const session = db.session()
      const list = session.at(Box, 'a').list('items')
      list.where({}).set({ n: 7 })
      list.where({}).increment('more')
      const error = await rejection(() => session.flush())
      expect(error).to.be.instanceOf(SkeinError).with.property('code', 'SKEIN_4210')
      expect(await numbers()).to.deep.equal([1, null, 2])
    })
  })
}
