import { Bin, Companion, Embeddable, Key, OneToMany, Record, Sharded, collection, type Session } from 'skein'
import { DAYS } from '../days.js'
import { deletion, make, obtain, type Family } from '../operation.js'
import type { World } from '../world.js'

const SHARDS = 2

@Embeddable()
class Reply {
  @Key() id!: string
  @Bin() text!: string
  @Bin() rank!: number
  @Bin() at!: Date
}

/** A class that keeps its replies in several records, in one, and by the day. */
@Record({ set: 'thread' })
class Thread {
  @Key() id!: string
  @Sharded({ by: 'hash', shards: SHARDS })
  @OneToMany(() => Reply, { strategy: 'consolidate', sortKey: ['rank'], orders: { recent: ['at'] } })
  replies = collection<Reply>()
  @Companion({ subkeys: 'draftsIn' }) @OneToMany(() => Reply, { strategy: 'consolidate' }) drafts = collection<Reply>()
  @Sharded({ by: 'day', on: 'at', subkeys: 'datedIn' })
  @OneToMany(() => Reply, { strategy: 'consolidate' })
  dated = collection<Reply>()
}

const reply = (id: string, rank = 1, day = 0): Reply =>
  make(Reply, id, { text: 'text', rank, at: new Date(`${DAYS[day]}T12:00:00Z`) })

/** The ids `a`, `b` and `c` are in one shard, `d`, `e` and `f` in the other. */
function threads(session: Session, world: World): void {
  const [one] = [0, 1].map((i) => session.persist(make(Thread, world.name(i))))
  one.replies.add(reply('a', 3), reply('b', 2), reply('d', 5))
  one.dated.add(reply('a', 1, 0), reply('b', 1, 1))
}

export const COMPANION_PARTS: Family = {
  name: 'children in companions',
  shards: SHARDS,
  classes: [Thread],
  references: [],
  operations: [
    {
      title: 'save a new parent with children',
      prepare: () => undefined,
      async change(session, world) {
        const thread = await obtain(session, Thread, world.name(2))
        thread.replies.add(reply('a'), reply('d', 2))
        thread.drafts.add(reply('c'))
        thread.dated.add(reply('d', 1, 0), reply('e', 1, 2))
      },
    },
    {
      title: 'add a child',
      prepare: threads,
      async change(session, world) {
        ;(await session.load(Thread, world.name(0))).replies.add(reply('e', 4))
      },
    },
    {
      title: 'add the first children of all',
      prepare: threads,
      async change(session, world) {
        const thread = await session.load(Thread, world.name(1))
        thread.replies.add(reply('a'), reply('d'))
        thread.drafts.add(reply('a'))
      },
    },
    {
      title: 'add a child, the first of its day',
      prepare: threads,
      async change(session, world) {
        ;(await session.load(Thread, world.name(0))).dated.add(reply('d', 1, 2))
      },
    },
    {
      title: 'change children and the place of one',
      prepare: threads,
      async change(session, world) {
        const { replies } = await session.load(Thread, world.name(0), { with: ['replies'] })
        for (const each of replies.items) each.text = 'changed'
        replies.items.find(({ id }) => id === 'a')!.rank = 9
      },
    },
    {
      title: 'remove children, add and change others',
      prepare: threads,
      async change(session, world) {
        const thread = await session.load(Thread, world.name(0), { with: ['replies'] })
        thread.replies.remove('a', 'd')
        thread.replies.add(reply('c', 7), reply('e', 8))
        for (const each of thread.replies.items) if (each.id === 'b') each.text = 'changed'
        thread.dated.remove('a')
      },
    },
    {
      title: 'move a child to another owner',
      prepare: threads,
      async change(session, world) {
        const [from, to] = await session.loadMany(Thread, [world.name(0), world.name(1)], { with: ['replies'] })
        const moved = from.replies.items.find(({ id }) => id === 'b')
        if (moved === undefined) return
        from.replies.remove(moved)
        to.replies.add(moved)
      },
    },
    deletion('delete the parent', threads, Thread, (world) => world.name(0)),
  ],
}
