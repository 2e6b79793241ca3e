import { Bin, Embeddable, Key, ManyToOne, OneToMany, Record, Sharded, collection, ref, type Session } from 'skein'
import { DAYS } from '../days.js'
import { deletion, make, obtain, type Family } from '../operation.js'
import type { World } from '../world.js'

const SHARDS = 2

@Record({ set: 'hall-fan' })
class HallFan {
  @Key() id!: number
  @Bin() name!: string
}

@Embeddable()
class HallReply {
  @Key() id!: string
  @Bin() at!: Date
  @Bin() text!: string
  @ManyToOne(() => HallFan) author = ref<HallFan>()
  @OneToMany(() => HallReply, { strategy: 'consolidate' }) replies = collection<HallReply>()
}

/** A class whose children of children are in several records and by the day, with an index of whom each level points to. */
@Record({ set: 'hall' })
class Hall {
  @Key() id!: string
  @Sharded({ by: 'hash', shards: SHARDS })
  @OneToMany(() => HallReply, {
    strategy: 'consolidate',
    inverseIndex: {
      author: { name: 'byAuthor', onTargetDelete: 'delete' },
      'replies.author': { name: 'byReplier', onTargetDelete: 'delete' },
    },
  })
  replies = collection<HallReply>()
  @Sharded({ by: 'day', on: 'at', subkeys: 'datedIn' })
  @OneToMany(() => HallReply, {
    strategy: 'consolidate',
    inverseIndex: {
      author: { name: 'datedBy', onTargetDelete: 'delete' },
      'replies.author': { name: 'datedReply', onTargetDelete: 'delete' },
    },
  })
  dated = collection<HallReply>()
}

const reply = (id: string, author: HallFan | number, ...replies: HallReply[]): HallReply => {
  const made = make(HallReply, id, { text: 'text', at: new Date(`${DAYS[0]}T12:00:00Z`) })
  made.author.set(author)
  made.replies.add(...replies)
  return made
}

/** The ids `a` and `b` are in one shard, `d` in the other. */
function halls(session: Session, world: World): void {
  oneHall(session, world)
  hall(session, world, 1)
}

function hall(session: Session, world: World, i: number): void {
  const [one, two] = [world.number(0), world.number(1)]
  const made = session.persist(make(Hall, world.name(i)))
  made.replies.add(reply('a', one, reply('ax', two, reply('ay', one)), reply('az', two)), reply('d', two))
  made.dated.add(reply('b', one, reply('bx', two)))
}

/** Each delete asks four indexes, so that one owner is enough. */
function oneHall(session: Session, world: World): void {
  for (const i of [0, 1]) session.persist(make(HallFan, world.number(i), { name: 'hall-fan' }))
  hall(session, world, 0)
}

const find = ({ replies }: { readonly replies: { readonly items: readonly HallReply[] } }, id: string): HallReply =>
  replies.items.find((each) => each.id === id)!

export const NESTED_COMPANIONS: Family = {
  name: 'children of children in companions',
  shards: SHARDS,
  classes: [HallFan, Hall],
  isIndexed: true,
  references: [
    { set: 'hall', bin: 'replies', field: 'author', to: 'hall-fan' },
    { set: 'hall', bin: 'dated', field: 'author', to: 'hall-fan' },
    { set: 'hall_replies', bin: 'byAuthor', to: 'hall-fan' },
    { set: 'hall_replies', bin: 'byReplier', to: 'hall-fan' },
    { set: 'hall_dated', bin: 'datedBy', to: 'hall-fan' },
    { set: 'hall_dated', bin: 'datedReply', to: 'hall-fan' },
  ],
  operations: [
    {
      title: 'add, change and remove at three levels',
      prepare: halls,
      async change(session, world) {
        const hall = await session.load(Hall, world.name(0), { with: ['replies', 'dated'] })
        const a = find(hall, 'a')
        a.replies.remove('az')
        const x = find(a, 'ax')
        x.author.set(world.number(0))
        x.replies.add(reply('an', world.number(1)))
        find({ replies: hall.dated }, 'b').replies.add(reply('bn', world.number(0)))
      },
    },
    {
      title: 'add ones that point to a new record',
      prepare: halls,
      async change(session, world) {
        const fan = await obtain(session, HallFan, world.number(2), { name: 'hall-fan' })
        const hall = await session.load(Hall, world.name(0), { with: ['replies'] })
        find(hall, 'd').replies.add(reply('dn', fan))
        hall.replies.add(reply('b', fan))
      },
    },
    {
      title: 'move a subtree to another owner',
      prepare: halls,
      async change(session, world) {
        const [one, two] = await session.loadMany(Hall, [world.name(0), world.name(1)], { with: ['replies'] })
        const moved = find(one, 'a').replies.items.find(({ id }) => id === 'ax')
        if (moved === undefined) return
        find(one, 'a').replies.remove(moved)
        find(two, 'd').replies.add(moved)
      },
    },
    deletion('delete what replies in several records point to', oneHall, HallFan, (world) => world.number(1)),
    deletion('delete the owner', halls, Hall, (world) => world.name(0)),
  ],
}
