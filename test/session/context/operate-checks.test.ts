import Aerospike from 'aerospike'
import { expect } from 'chai'
import { Bin, Key, Record, SkeinError, type Database } from 'skein'
import { MODES, type TestServer } from '../../server.js'
import { useDatabase } from '../../use-database.js'
import { rejection } from '../rejection.js'

const { operations: op, lists, maps, hll } = Aerospike

@Record({ set: 'raw_checked' })
class Page {
  @Key() id!: string
  @Bin() title?: string
}

for (const mode of MODES) {
  describe(`operations of the official client that it cannot take (${mode})`, () => {
    let db: Database
    let server: TestServer
    useDatabase(mode, [Page], (opened) => ({ db, server } = opened))
    beforeEach(() => db.session().save(Object.assign(new Page(), { id: 'home', title: 'Home' })))

    it('are refused before anything is sent, where they would end the process', async () => {
      const list: unknown[] = []
      list.push(list)
      const object: { [name: string]: unknown } = {}
      object.inner = { list: [object] }
      const map = new Map<string, unknown>()
      map.set('itself', map)
      let deep: unknown[] = []
      for (let i = 0; i < 100_000; i++) deep = [deep]
      const { exp } = Aerospike
      const read = (expression: unknown): unknown => exp.operations.read('x', expression as never, 0)
      const bad: readonly unknown[] = [
        { op: 7, bin: 'x' },
        { op: 99_999, bin: 'x' },
        { op: 1.5, bin: 'x' },
        lists.append('x', list),
        lists.appendItems('x', list as never),
        op.write('x', list),
        maps.put('x', 'k', object),
        maps.put('x', 'k', map),
        maps.putItems('x', object as never),
        lists.append('x', deep),
        hll.add('x', [list] as never, 8),
        lists.append('x', 1).withContext((context: Aerospike.cdt.Context) => context.addMapValue(list)),
        lists.append('x', () => 1),
        op.write('x', { a: Symbol('a') }),
        ...[undefined, null, 5, '', [], [undefined], exp.list(list as never)].map(read),
        { ...lists.append('x', 1), context: { items: 5 } },
      ]
      const { commands } = await server.commands.during(async () => {
        for (const one of bad) {
          const error = await rejection(() => db.session().operate(Page, 'home', [one as never]))
          expect(error).to.be.instanceOf(SkeinError).with.property('code', 'SKEIN_2332')
          expect((error as SkeinError).message).to.contain('Page "home"')
        }
      })
      expect(commands).to.equal(0)
    })

    it('are not those whose values share what they hold', async () => {
      const one = { a: [1] }
      await db.session().operate(Page, 'home', [lists.appendItems('x', [one, one, [one]])])
      expect(await db.session().operate(Page, 'home', [lists.size('x')])).to.deep.equal({ x: 3 })
    })
  })
}
