import { expect } from 'chai'
import { Bin, Embeddable, Key, OneToMany, Record, collection, type Collection, type Database } from 'skein'
import { MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Embeddable()
class Line {
  @Key() id!: number
}

@Record({ set: 'pages_item' })
class Item {
  @Key() id!: number
  @Bin() name?: string
}

@Record({ set: 'pages_box' })
class Box {
  @Key() id!: number
  @OneToMany(() => Line, { strategy: 'consolidate' }) lines = collection<Line>()
  @OneToMany(() => Item, { strategy: 'keyList' }) items = collection<Item>()
}

const RANGES = [-9, -7, -6, -3, -1, 0, 2, 5, 8].flatMap((offset) => [1, 2, 4, 20].map((count) => ({ offset, count })))

/** Cuts a range as the server does. */
function cut(all: readonly number[], { offset, count }: { offset: number; count: number }): number[] {
  const begin = offset < 0 ? all.length + offset : offset
  return all.filter((_, i) => i >= begin && i < begin + count)
}

for (const mode of MODES) {
  describe(`pages of a collection (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [Item, Box], (opened) => ({ db, server } = opened))

    beforeEach(async () => {
      const box = Object.assign(new Box(), { id: 1 })
      for (const id of [1, 2, 3, 4, 5, 6]) {
        box.lines.add(Object.assign(new Line(), { id }))
        box.items.add(Object.assign(new Item(), { id }))
      }
      await db.session().save(box)
    })

    const expectPages = async (of: Collection<{ id: number }>, all: readonly number[]): Promise<void> => {
      for (const range of RANGES) {
        const says = JSON.stringify(range)
        expect(
          (await of.page(range)).map(({ id }) => id),
          says,
        ).to.deep.equal(cut(all, range))
        expect(await of.keys(range), says).to.deep.equal(cut(all, range))
      }
    }

    it('are counted from either end, stored, loaded and with unsent changes', async () => {
      for (const name of ['lines', 'items'] as const) {
        await expectPages(db.session().at(Box, 1).collection(name), [1, 2, 3, 4, 5, 6])
        await expectPages((await db.session().load(Box, 1, { with: [name] }))[name], [1, 2, 3, 4, 5, 6])
        const session = db.session()
        const changed: Collection<{ id: number }> = session.at(Box, 1).collection(name)
        changed.remove(2)
        changed.remove(6)
        changed.add(name === 'lines' ? Object.assign(new Line(), { id: 7 }) : session.create(Item, { id: 7 }))
        await expectPages(changed, [1, 3, 4, 5, 7])
      }
    })

    it('of keys alone read no members', async () => {
      const items = db.session().at(Box, 1).collection('items')
      const { commands, rows } = await server.commands.during(() => items.keys({ offset: -2, count: 2 }))
      expect({ commands, rows }).to.deep.equal({ commands: 1, rows: 1 })
      expect(await items.keys({ offset: -2 })).to.deep.equal([5, 6])
      expect(await items.keys({ count: 2 })).to.deep.equal([1, 2])
    })
  })
}
