import { expect } from 'chai'
import {
  Bin,
  collection,
  Counter,
  Embeddable,
  Key,
  OneToMany,
  Record,
  Sharded,
  type Collection,
  type Database,
  type EntityClass,
} from 'skein'
import { isNamedServer, MODES } from '../../server.js'
import { useDatabase } from '../../use-database.js'

@Embeddable()
class Line {
  @Key() id!: string
}

interface Page {
  id: number
  views: number
  weight: number
  lines: Collection<Line>
}

/** Pages of two kinds, with counters and children beside their records, and their archive in that namespace. */
function pagesIn(archive: string): { readonly Page: EntityClass<Page>; readonly kinds: readonly EntityClass<Page>[] } {
  @Record({ set: 'as_page', name: 'Page', archive, discriminator: 'kind' })
  class APage implements Page {
    @Key() id!: number
    @Bin() title!: string
    @Sharded({ by: 'hash', shards: 2 }) @Counter() views = 0
    @Sharded({ by: 'hash', shards: 2 }) @Counter({ type: 'int' }) weight = 0
    @Sharded({ by: 'hash', shards: 2 })
    @OneToMany(() => Line, { strategy: 'consolidate' })
    lines = collection<Line>()
  }
  @Record({ discriminatorValue: 'front', name: 'FrontPage' })
  class FrontPage extends APage {
    @Sharded({ by: 'hash', shards: 2 }) @Counter() clicks = 0
  }
  @Record({ discriminatorValue: 'last', name: 'LastPage' })
  class LastPage extends APage {}
  return { Page: APage, kinds: [FrontPage, LastPage] }
}

for (const mode of MODES)
  describe(`archives of records of subclasses with companions (${mode})`, function () {
    if (isNamedServer) return
    const cold = mode === 'ap' ? 'test' : 'more'
    const { Page: Base, kinds } = pagesIn(cold)
    let db: Database
    useDatabase(mode, [Base, ...kinds], (opened) => ({ db } = opened))

    const counted = async (kind: EntityClass<Page>, id: number, from: 'any' | 'archive'): Promise<unknown> => {
      const { views, weight, lines } = await db.session().load(kind, id, { with: ['lines'] as never[], from })
      return [views, weight, lines.items.map((line) => line.id).sort()]
    }

    for (const [id, kind] of kinds.entries())
      for (const as of [kind, Base])
        it(`take the counters of a ${kind.name} along as a ${as.name}, and bring them back`, async () => {
          await db.withSession((session) => {
            const page = session.create(kind, { id, title: 't' } as never)
            page.lines.add(...['a', 'b', 'c'].map((each) => Object.assign(new Line(), { id: each })))
          })
          for (let i = 0; i < 6; i++)
            await db.withSession((session) => {
              const page = session.at(kind, id)
              page.counter('views').add(1)
              page.counter('weight').add(2)
            })
          expect(await db.session().archive(as, id)).to.equal(true)
          expect(await counted(kind, id, 'archive')).to.deep.equal([6, 12, ['a', 'b', 'c']])
          expect(await db.session().unarchive(as, id)).to.equal(true)
          await db.withSession(async (session) => {
            const page = await session.load(kind, id)
            page.views += 1
            page.weight += 1
          })
          expect(await counted(as, id, 'any')).to.deep.equal([7, 13, ['a', 'b', 'c']])
          for await (const { message } of db.verify([Base], { settle: 0 })) expect.fail(message)
          await db.session().delete(kind, id)
        })
  })
