import { Bin, Embeddable, Key, ManyToOne, OneToMany, Record, collection, ref, type Session } from 'skein'
import { deletion, make, obtain, type Family } from '../operation.js'
import type { World } from '../world.js'

@Record({ set: 'writer' })
class Writer {
  @Key() id!: number
  @Bin() name!: string
}

@Embeddable()
class Remark {
  @Key() id!: string
  @Bin() text!: string
  @Bin() rank!: number
  @ManyToOne(() => Writer) author = ref<Writer>()
}

@Record({ set: 'article' })
class Article {
  @Key() id!: number
  @Bin() title!: string
  @OneToMany(() => Remark, {
    strategy: 'consolidate',
    inverseIndex: { author: { name: 'byAuthor', onTargetDelete: 'delete' } },
  })
  remarks = collection<Remark>()
  @OneToMany(() => Remark, {
    strategy: 'consolidate',
    name: 'best',
    eager: false,
    sortKey: ['rank'],
    inverseIndex: { author: { name: 'bestBy', onTargetDelete: 'delete' } },
  })
  best = collection<Remark>()
}

const remark = (id: string, author: Writer | number, rank = 1): Remark => {
  const made = make(Remark, id, { text: 'text', rank })
  made.author.set(author)
  return made
}

function articles(session: Session, world: World): void {
  for (const i of [0, 1]) session.persist(make(Writer, world.number(i), { name: 'writer' }))
  for (const i of [0, 1]) {
    const article = session.persist(make(Article, world.number(i), { title: 'title' }))
    article.remarks.add(remark('a', world.number(0)), remark('b', world.number(1)))
    article.best.add(remark('c', world.number(1), 5), remark('d', world.number(0), 7))
  }
}

export const CONSOLIDATED: Family = {
  name: 'consolidated children',
  classes: [Writer, Article],
  isIndexed: true,
  references: [
    { set: 'article', bin: 'remarks', field: 'author', to: 'writer' },
    { set: 'article', bin: 'best', field: 'author', to: 'writer' },
    { set: 'article', bin: 'byAuthor', to: 'writer' },
    { set: 'article', bin: 'bestBy', to: 'writer' },
  ],
  operations: [
    {
      title: 'save a new parent with children',
      prepare: articles,
      async change(session, world) {
        const article = await obtain(session, Article, world.number(2), { title: 'title' })
        article.remarks.add(remark('a', world.number(0)))
        article.best.add(remark('b', world.number(1), 2))
      },
    },
    {
      title: 'save a new parent whose children point to a new record',
      prepare: articles,
      async change(session, world) {
        const article = await obtain(session, Article, world.number(2), { title: 'title' })
        const writer = await obtain(session, Writer, world.number(2), { name: 'writer' })
        article.remarks.add(remark('a', writer), remark('b', world.number(0)))
        article.best.add(remark('c', writer, 3))
      },
    },
    {
      title: 'add a child',
      prepare: articles,
      async change(session, world) {
        ;(await session.load(Article, world.number(0))).remarks.add(remark('e', world.number(1)))
      },
    },
    {
      title: 'add a child that points to a new record',
      prepare: articles,
      async change(session, world) {
        const writer = await obtain(session, Writer, world.number(2), { name: 'writer' })
        ;(await session.load(Article, world.number(0))).remarks.add(remark('e', writer))
      },
    },
    {
      title: 'change a child',
      prepare: articles,
      async change(session, world) {
        const { remarks } = await session.load(Article, world.number(0))
        remarks.items[0].text = 'changed'
        remarks.items[0].author.set(world.number(1))
      },
    },
    {
      title: 'move a child by its sort key',
      prepare: articles,
      async change(session, world) {
        const { best } = await session.load(Article, world.number(0), { with: ['best'] })
        const moved = best.items.find(({ id }) => id === 'c')!
        moved.rank = 9
        moved.author.set(world.number(0))
      },
    },
    {
      title: 'remove children',
      prepare: articles,
      async change(session, world) {
        const article = await session.load(Article, world.number(0))
        article.remarks.remove('a')
        article.best.remove('d')
      },
    },
    {
      title: 'add, change and remove in several records',
      isUntied: true,
      prepare: articles,
      async change(session, world) {
        const [one, two] = await session.loadMany(Article, [world.number(0), world.number(1)])
        one.remarks.remove('a')
        one.title = 'changed'
        two.remarks.add(remark('e', world.number(0)))
        two.remarks.items.find(({ id }) => id === 'b')!.text = 'changed'
      },
    },
    deletion('delete the parent', articles, Article, (world) => world.number(0)),
    deletion('delete what children of several records point to', articles, Writer, (world) => world.number(0)),
  ],
}
