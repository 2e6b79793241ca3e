import { expect } from 'chai'
import { Bin, collection, Counter, Embeddable, Embedded, Key, OneToMany, Record } from 'skein'
import type { Database, MapHandle, SkeinError } from 'skein'
import { MODES } from '../server.js'
import { rejection } from '../session/rejection.js'
import { useDatabase } from '../use-database.js'

@Embeddable()
class Level {
  @Bin() n?: number
  @Bin({ type: { map: 'int' } }) counts?: Map<string, number>
  @Embedded(() => Level) next?: Level
}

@Embeddable()
class Box {
  @Counter() hits = 0
  @Embedded(() => Box) inner?: Box
}

@Embeddable()
class Child {
  @Key() id!: number
  @Embedded(() => Level) top?: Level
}

@Record({ set: 'deep-tree' })
class Tree {
  @Key() id!: number
  @Embedded(() => Level) top?: Level
  @Embedded(() => Box) box?: Box
  @Bin({ type: 'json' }) free?: object
  @OneToMany(() => Child, { strategy: 'consolidate' }) children = collection<Child>()
}

const DEEP = 30
const levels = (depth: number): Level => {
  const level = Object.assign(new Level(), { n: depth, counts: new Map([['a', depth]]) })
  if (depth < DEEP) level.next = levels(depth + 1)
  return level
}
const levelAt = (top: Level, depth: number): Level => (depth === 0 ? top : levelAt(top.next!, depth - 1))
const boxes = (depth: number): Box => Object.assign(new Box(), depth < DEEP ? { inner: boxes(depth + 1) } : {})
const boxAt = (top: Box, depth: number): Box => (depth === 0 ? top : boxAt(top.inner!, depth - 1))

for (const mode of MODES) {
  describe(`values deeper than a path can lead (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Tree], (opened) => ({ db } = opened))
    beforeEach(async () => {
      await db.withSession((session) => {
        const tree = session.create(Tree, { id: 1, top: levels(0), box: boxes(0) })
        tree.children.add(Object.assign(new Child(), { id: 1, top: levels(0) }))
      })
    })
    const load = (): Promise<Tree> => db.session().load(Tree, 1)

    for (const depth of [0, 12, 13, 14, 15, 16, 17, DEEP])
      it(`are changed at level ${depth}, in parts, maps and children inside the record`, async () => {
        const session = db.session()
        const tree = await session.load(Tree, 1)
        const tops = (of: Tree): Level[] => [of.top!, of.children.items[0].top!]
        for (const top of tops(tree)) {
          const level = levelAt(top, depth)
          level.n = -1
          level.counts!.set('b', 7)
          level.counts!.delete('a')
        }
        await session.flush()
        expect(session.isDirty()).to.equal(false)
        const wanted = levels(0)
        Object.assign(levelAt(wanted, depth), { n: -1, counts: new Map([['b', 7]]) })
        for (const top of tops(await load())) expect(top).to.deep.equal(wanted)
      })

    it('are not reached by a handle, which says so before anything is sent', async () => {
      const session = db.session()
      let handle = session.at(Tree, 1).map('free') as unknown as MapHandle<{ [key: string]: object }>
      for (let i = 0; i < 15; i++) handle = handle.at('in') as unknown as typeof handle
      handle.put('x', { y: 1 })
      await session.flush()
      let stored: unknown = (await load()).free
      for (let i = 0; i < 15; i++) stored = (stored as { in: unknown }).in
      expect(stored).to.deep.equal({ x: { y: 1 } })
      const error = (await rejection(() => handle.at('in'))) as SkeinError
      expect(error.code).to.equal('SKEIN_2331')
      expect(error.message).to.contain('Tree 1').and.to.contain('free').and.to.contain('15 levels')
    })

    it('are refused where they hold a counter, which cannot be added to there', async () => {
      const session = db.session()
      const tree = await session.load(Tree, 1)
      boxAt(tree.box!, 15).hits += 2
      await session.flush()
      expect(boxAt((await load()).box!, 15).hits).to.equal(2)
      boxAt(tree.box!, 17).hits += 1
      const error = (await rejection(() => session.flush())) as SkeinError
      expect(error.code).to.equal('SKEIN_2201')
      expect(error.message).to.contain('Tree.box').and.to.contain('15 levels')
      expect(boxAt((await load()).box!, 17).hits).to.equal(0)
    })
  })
}
