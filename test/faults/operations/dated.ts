import {
  Bin,
  Embeddable,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  Sharded,
  collection,
  ref,
  type Session,
} from 'skein'
import { DAYS } from '../days.js'
import { deletion, make, obtain, type Family } from '../operation.js'
import type { World } from '../world.js'

@Embeddable()
class Visit {
  @Bin() at!: Date
  @Bin() ticket?: string
}

/** Has its visitors by the day of their visit. */
@Record({ set: 'museum' })
class Museum {
  @Key() id!: string
  @Sharded({ by: 'day', on: 'at' })
  @ManyToMany(() => Visitor, 'museums', { attributes: () => Visit })
  visitors = collection<Visitor, Visit>()
}

@Record({ set: 'visitor' })
class Visitor {
  @Key() id!: string
  @Sharded({ by: 'day', on: 'at' })
  @ManyToMany(() => Museum, 'visitors', { owner: true, attributes: () => Visit })
  museums = collection<Museum, Visit>()
}

/** Has its letters by the day on which they came, and takes them along when it is deleted. */
@Record({ set: 'office' })
class Office {
  @Key() id!: string
  @Sharded({ by: 'day' })
  @OneToMany(() => Letter, 'office', { strategy: 'keyList', onDelete: 'cascade', orphans: 'delete' })
  letters = collection<Letter>()
}

@Record({ set: 'letter' })
class Letter {
  @Key() id!: string
  @ManyToOne(() => Office, 'letters') office = ref<Office>()
}

/** Owns stamps that do not know of it. */
@Record({ set: 'collector' })
class Collector {
  @Key() id!: string
  @Sharded({ by: 'day' })
  @OneToMany(() => Stamp, { orphans: 'delete', onDelete: 'cascade' })
  stamps = collection<Stamp>()
}

@Record({ set: 'stamp' })
class Stamp {
  @Key() id!: string
}

const on = (day: number): Visit => Object.assign(new Visit(), { at: new Date(`${DAYS[day]}T12:00:00Z`) })

/** Two visitors of one museum, on two days; another museum has none. */
function museums(session: Session, world: World): void {
  const [a] = [0, 1].map((i) => session.persist(make(Museum, world.name(i))))
  const [b, c] = [0, 1].map((i) => session.persist(make(Visitor, world.name(i))))
  b.museums.link(a, on(0))
  c.museums.link(a, on(1))
}

function offices(session: Session, world: World): void {
  const [a] = [0, 1].map((i) => session.persist(make(Office, world.name(i))))
  a.letters.add(...[0, 1].map((i) => make(Letter, world.name(i))))
}

function collectors(session: Session, world: World): void {
  const [a] = [0, 1].map((i) => session.persist(make(Collector, world.name(i))))
  a.stamps.add(...[0, 1].map((i) => make(Stamp, world.name(i))))
}

export const DATED: Family = {
  name: 'by date',
  shards: 1,
  classes: [Museum, Visitor, Office, Letter, Collector, Stamp],
  references: [
    { set: 'museum', bin: 'visitors', to: 'visitor', mirrored: true },
    { set: 'visitor', bin: 'museums', to: 'museum', mirrored: true },
    { set: 'office', bin: 'letters', to: 'letter', mirrored: true },
    { set: 'letter', bin: 'office', to: 'office', mirrored: true },
    { set: 'collector', bin: 'stamps', to: 'stamp' },
  ],
  operations: [
    {
      title: 'save a new owner with links of several days',
      prepare: museums,
      async change(session, world) {
        const museum = await obtain(session, Museum, world.name(2))
        for (const i of [0, 1]) museum.visitors.link(world.name(i), on(i))
      },
    },
    {
      title: 'link in new buckets of both sides',
      prepare: museums,
      async change(session, world) {
        ;(await session.load(Visitor, world.name(0))).museums.link(world.name(1), on(2))
      },
    },
    {
      title: 'link in a bucket that is there, and a new one',
      prepare: museums,
      async change(session, world) {
        const { visitors } = await session.load(Museum, world.name(0))
        const visitor = await obtain(session, Visitor, world.name(2))
        visitors.link(visitor, on(1))
        visitors.link(world.name(1), { ...on(1), ticket: 'again' })
      },
    },
    {
      title: 'unlink by key, in whichever bucket',
      prepare: museums,
      async change(session, world) {
        ;(await session.load(Museum, world.name(0))).visitors.remove(world.name(1))
      },
    },
    {
      title: 'save a new parent with new children',
      prepare: () => undefined,
      async change(session, world) {
        const parent = await obtain(session, Office, world.name(0))
        for (const i of [0, 1]) parent.letters.add(await obtain(session, Letter, world.name(i)))
      },
    },
    {
      title: 'move a child to a bucket that is not there',
      prepare: offices,
      async change(session, world) {
        ;(await session.load(Letter, world.name(0))).office.set(world.name(1))
      },
    },
    {
      title: 'take a child out that is deleted then',
      prepare: offices,
      async change(session, world) {
        const { letters } = await session.load(Office, world.name(0), { with: ['letters'] })
        for (const letter of letters.items.filter(({ id }) => id === world.name(0))) letters.remove(letter)
      },
    },
    {
      title: 'add a new child that does not know its owner, to the first bucket',
      prepare: collectors,
      async change(session, world) {
        const { stamps } = await session.load(Collector, world.name(1))
        stamps.add(await obtain(session, Stamp, world.name(2)))
      },
    },
    deletion('delete a side of links', museums, Museum, (world) => world.name(0)),
    deletion('delete the other side of links', museums, Visitor, (world) => world.name(0)),
    deletion('delete a parent with its children', offices, Office, (world) => world.name(0)),
    deletion('delete a parent with children that do not know it', collectors, Collector, (world) => world.name(0)),
  ],
}
