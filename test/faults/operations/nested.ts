import { Bin, Embeddable, Key, ManyToOne, OneToMany, Record, collection, ref, type Session } from 'skein'
import { deletion, make, obtain, type Family } from '../operation.js'
import type { World } from '../world.js'

@Record({ set: 'tree-fan' })
class TreeFan {
  @Key() id!: number
  @Bin() name!: string
}

@Embeddable()
class TreeReply {
  @Key() id!: string
  @Bin() text!: string
  @ManyToOne(() => TreeFan) author = ref<TreeFan>()
  @OneToMany(() => TreeReply, { strategy: 'consolidate' }) replies = collection<TreeReply>()
}

@Record({ set: 'tree-topic' })
class TreeTopic {
  @Key() id!: number
  @Bin() title!: string
  @OneToMany(() => TreeReply, {
    strategy: 'consolidate',
    inverseIndex: {
      author: { name: 'byAuthor', onTargetDelete: 'delete' },
      'replies.author': { name: 'byReplier', onTargetDelete: 'delete' },
    },
  })
  replies = collection<TreeReply>()
}

const reply = (id: string, author: TreeFan | number, ...replies: TreeReply[]): TreeReply => {
  const made = make(TreeReply, id, { text: 'text' })
  made.author.set(author)
  made.replies.add(...replies)
  return made
}

function topics(session: Session, world: World): void {
  for (const i of [0, 1]) session.persist(make(TreeFan, world.number(i), { name: 'tree-fan' }))
  const [one, two] = [world.number(0), world.number(1)]
  for (const i of [0, 1]) {
    const topic = session.persist(make(TreeTopic, world.number(i), { title: 'title' }))
    topic.replies.add(reply(`a${i}`, one, reply(`b${i}`, two, reply(`c${i}`, one)), reply(`d${i}`, two)))
  }
}

const find = ({ replies }: TreeTopic | TreeReply, id: string): TreeReply | undefined =>
  replies.items.find((each) => each.id === id)

export const NESTED: Family = {
  name: 'children of children',
  classes: [TreeFan, TreeTopic],
  isIndexed: true,
  references: [
    { set: 'tree-topic', bin: 'replies', field: 'author', to: 'tree-fan' },
    { set: 'tree-topic', bin: 'byAuthor', to: 'tree-fan' },
    { set: 'tree-topic', bin: 'byReplier', to: 'tree-fan' },
  ],
  operations: [
    {
      title: 'add, change and remove at three levels',
      prepare: topics,
      async change(session, world) {
        const topic = await session.load(TreeTopic, world.number(0))
        const a = find(topic, 'a0')!
        a.text = 'changed'
        a.replies.remove('d0')
        const b = find(a, 'b0')!
        b.author.set(world.number(0))
        b.replies.add(reply('e', world.number(1)))
        find(b, 'c0')!.text = 'changed'
      },
    },
    {
      title: 'add one that points to a new record',
      prepare: topics,
      async change(session, world) {
        const fan = await obtain(session, TreeFan, world.number(2), { name: 'tree-fan' })
        const topic = await session.load(TreeTopic, world.number(0))
        find(find(topic, 'a0')!, 'b0')!.replies.add(reply('e', fan))
      },
    },
    {
      title: 'move a subtree within its record',
      prepare: topics,
      async change(session, world) {
        const topic = await session.load(TreeTopic, world.number(0))
        const [a, b] = [find(topic, 'a0')!, find(find(topic, 'a0')!, 'b0')]
        if (b === undefined) return
        a.replies.remove(b)
        find(a, 'd0')!.replies.add(b)
      },
    },
    {
      title: 'move a subtree to another record',
      prepare: topics,
      async change(session, world) {
        const [one, two] = await session.loadMany(TreeTopic, [world.number(0), world.number(1)])
        const [a, b] = [find(one, 'a0')!, find(find(one, 'a0')!, 'b0')]
        if (b === undefined) return
        a.replies.remove(b)
        find(two, 'a1')!.replies.add(b)
        a.text = 'changed'
      },
    },
    {
      title: 'move subtrees both ways between two records',
      prepare: topics,
      async change(session, world) {
        const [one, two] = await session.loadMany(TreeTopic, [world.number(0), world.number(1)])
        const ways: [TreeReply, TreeReply, string][] = [
          [find(one, 'a0')!, find(two, 'a1')!, 'b0'],
          [find(two, 'a1')!, find(one, 'a0')!, 'd1'],
        ]
        for (const [from, to, id] of ways) {
          const moved = find(from, id)
          if (moved === undefined) continue
          from.replies.remove(moved)
          to.replies.add(moved)
        }
      },
    },
    {
      title: 'remove a subtree',
      prepare: topics,
      async change(session, world) {
        find(await session.load(TreeTopic, world.number(0)), 'a0')!.replies.remove('b0')
      },
    },
    deletion('delete what replies of several records point to', topics, TreeFan, (world) => world.number(1)),
    deletion('delete the record', topics, TreeTopic, (world) => world.number(0)),
  ],
}
