import { expect } from 'chai'
import {
  Bin,
  Companion,
  Embeddable,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  Sharded,
  collection,
  ref,
  type Database,
} from 'skein'
import { MODES } from '../server.js'
import { useDatabase } from '../use-database.js'

@Record({ set: 'iwriter' })
class Writer {
  @Key() id!: number
}

@Embeddable()
class Remark {
  @Key() id!: string
  @Bin() at!: Date
  @ManyToOne(() => Writer) author = ref<Writer>()
}

@Record({ set: 'iarticle' })
class Article {
  @Key() id!: number
  @Sharded({ by: 'hash', shards: 3 })
  @OneToMany(() => Remark, {
    strategy: 'consolidate',
    inverseIndex: { author: { name: 'byAuthor', onTargetDelete: 'delete' } },
  })
  remarks = collection<Remark>()
  @Companion({ subkeys: 'keptIn' })
  @OneToMany(() => Remark, { strategy: 'consolidate', sortKey: ['at'], inverseIndex: { author: { name: 'keptBy' } } })
  kept = collection<Remark>()
  @Sharded({ by: 'day', on: 'at', subkeys: 'datedIn' })
  @OneToMany(() => Remark, {
    strategy: 'consolidate',
    inverseIndex: { author: { name: 'datedBy', onTargetDelete: 'delete' } },
  })
  dated = collection<Remark>()
}

const remark = (id: string, author: number, day = 1): Remark => {
  const made = Object.assign(new Remark(), { id, at: new Date(Date.UTC(2024, 4, day)) })
  made.author.set(author)
  return made
}

for (const mode of MODES) {
  describe(`inverse indexes of children in companion records (${mode})`, () => {
    let db: Database
    useDatabase(mode, [Writer, Article], (opened) => (db = opened.db))

    beforeEach(async () => {
      await db.indexes.sync()
      await db.withSession((session) => {
        for (const id of [1, 2]) session.persist(Object.assign(new Writer(), { id }))
        for (const id of [1, 2, 3]) {
          const article = session.persist(Object.assign(new Article(), { id }))
          if (id === 3) continue
          article.remarks.add(...['a', 'b', 'c', 'd', 'e'].map((each, i) => remark(each, 1 + (i % 2))))
          article.kept.add(remark('k', id))
          article.dated.add(remark('x', 1, 1), remark('y', 2, 2), remark('z', 1, 3))
        }
      })
    })

    const pointing = async (path: string, writer: number): Promise<number[]> => {
      const found: number[] = []
      for await (const { id } of db.session().pointingTo(Article, path, writer)) found.push(id)
      return found.sort()
    }

    it('find each owner once', async () => {
      expect(await pointing('remarks.author', 1)).to.deep.equal([1, 2])
      expect(await pointing('kept.author', 2)).to.deep.equal([2])
      expect(await pointing('dated.author', 2)).to.deep.equal([1, 2])
    })

    it('follow what children point to', async () => {
      const session = db.session()
      const { remarks, kept } = await session.load(Article, 1, { with: ['remarks', 'kept'] })
      for (const each of remarks.items) each.author.set(2)
      kept.items[0].author.set(null)
      await session.flush()
      expect(await pointing('remarks.author', 1)).to.deep.equal([2])
      expect(await pointing('kept.author', 1)).to.deep.equal([])
    })

    it('lead to the children that go with what they point to', async () => {
      await db.session().delete(Writer, 1)
      const article = await db.session().load(Article, 1)
      expect(await article.remarks.keys()).to.deep.equal(['b', 'd'])
      expect(await article.dated.keys()).to.deep.equal(['y'])
      expect(await article.kept.keys()).to.deep.equal(['k'])
      const findings: string[] = []
      for await (const { kind, property } of db.verify([Writer, Article], { settle: 0 }))
        findings.push(`${kind} ${property}`)
      // What is kept points to the record that is gone.
      expect(findings).to.deep.equal(['danglingKey kept'])
    })
  })
}
