import {
  Bin,
  Companion,
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
import { deletion, make, obtain, type Family } from '../operation.js'
import type { World } from '../world.js'

const SHARDS = 2

/** Follows in one companion, and is followed in several. */
@Record({ set: 'fan' })
class Fan {
  @Key() id!: string
  @Companion({ subkeys: 'followsIn' })
  @ManyToMany(() => Fan, 'followers', { owner: true })
  follows = collection<Fan>()
  @Sharded({ by: 'hash', shards: SHARDS, subkeys: 'followedIn' })
  @ManyToMany(() => Fan, 'follows')
  followers = collection<Fan>()
}

/** Takes its offers along when it is deleted. */
@Record({ set: 'broker' })
class Broker {
  @Key() id!: string
  @Sharded({ by: 'hash', shards: SHARDS })
  @OneToMany(() => Offer, 'broker', { strategy: 'keyList', onDelete: 'cascade' })
  offers = collection<Offer>()
}

@Record({ set: 'offer' })
class Offer {
  @Key() id!: string
  @ManyToOne(() => Broker, 'offers') broker = ref<Broker>()
}

/** Lets its sailors go when it is deleted. */
@Record({ set: 'crew' })
class Crew {
  @Key() id!: string
  @Companion()
  @OneToMany(() => Sailor, 'crew', { strategy: 'keyList', onDelete: 'detach', orphans: 'delete' })
  sailors = collection<Sailor>()
}

@Record({ set: 'sailor' })
class Sailor {
  @Key() id!: string
  @ManyToOne(() => Crew, 'sailors') crew = ref<Crew>()
}

/** Owns notes that do not know of it. */
@Record({ set: 'pad' })
class Pad {
  @Key() id!: string
  @Sharded({ by: 'hash', shards: SHARDS })
  @OneToMany(() => Note, { orphans: 'delete', onDelete: 'cascade' })
  notes = collection<Note>()
}

@Record({ set: 'note' })
class Note {
  @Key() id!: string
}

@Embeddable()
class Rank {
  @Bin() role!: string
}

@Record({ set: 'artisan' })
class Artisan {
  @Key() id!: string
  @ManyToMany(() => Guild, 'artisans', { owner: true, attributes: () => Rank })
  guilds = collection<Guild, Rank>()
}

@Record({ set: 'guild' })
class Guild {
  @Key() id!: string
  @Sharded({ by: 'hash', shards: SHARDS })
  @ManyToMany(() => Artisan, 'guilds', { attributes: () => Rank })
  artisans = collection<Artisan, Rank>()
}

function brokers(session: Session, world: World): void {
  const [a, b] = [0, 1].map((i) => session.persist(make(Broker, world.name(i))))
  a.offers.add(...[0, 1].map((i) => make(Offer, world.name(i))))
  b.offers.add(make(Offer, world.name(2)))
}

function crews(session: Session, world: World): void {
  const crew = session.persist(make(Crew, world.name(0)))
  crew.sailors.add(...[0, 1].map((i) => make(Sailor, world.name(i))))
}

function pads(session: Session, world: World): void {
  const [pad] = [0, 1].map((i) => session.persist(make(Pad, world.name(i))))
  pad.notes.add(...[0, 1].map((i) => make(Note, world.name(i))))
}

function fans(session: Session, world: World): void {
  const all = [0, 1, 2].map((i) => session.persist(make(Fan, world.name(i))))
  all[0].follows.add(all[1], all[2])
  all[1].follows.add(all[0])
}

function guilds(session: Session, world: World): void {
  const [a, b] = [0, 1].map((i) => session.persist(make(Artisan, world.name(i))))
  const [c] = [0, 1].map((i) => session.persist(make(Guild, world.name(i))))
  a.guilds.link(c, { role: 'chair' })
  b.guilds.link(c, { role: 'member' })
}

export const COMPANIONS: Family = {
  name: 'companions',
  shards: SHARDS,
  classes: [Fan, Broker, Offer, Crew, Sailor, Pad, Note, Artisan, Guild],
  references: [
    { set: 'fan', bin: 'follows', to: 'fan', mirrored: true },
    { set: 'fan', bin: 'followers', to: 'fan', mirrored: true },
    { set: 'broker', bin: 'offers', to: 'offer', mirrored: true },
    { set: 'offer', bin: 'broker', to: 'broker', mirrored: true },
    { set: 'crew', bin: 'sailors', to: 'sailor', mirrored: true },
    { set: 'sailor', bin: 'crew', to: 'crew', mirrored: true },
    { set: 'pad', bin: 'notes', to: 'note' },
    { set: 'artisan', bin: 'guilds', to: 'guild', mirrored: true },
    { set: 'guild', bin: 'artisans', to: 'artisan', mirrored: true },
  ],
  operations: [
    {
      title: 'save a new parent with new children',
      prepare: () => undefined,
      async change(session, world) {
        const parent = await obtain(session, Broker, world.name(0))
        for (const i of [0, 1]) parent.offers.add(await obtain(session, Offer, world.name(i)))
      },
    },
    {
      title: 'add a new child, the first of its shard',
      prepare: brokers,
      async change(session, world) {
        const { offers } = await session.load(Broker, world.name(1))
        offers.add(await obtain(session, Offer, world.name(3)))
      },
    },
    {
      title: 'take a child out',
      prepare: brokers,
      async change(session, world) {
        ;(await session.load(Broker, world.name(0))).offers.remove(await session.load(Offer, world.name(0)))
      },
    },
    {
      title: 'take a child out that is deleted then',
      prepare: crews,
      async change(session, world) {
        const { sailors } = await session.load(Crew, world.name(0), { with: ['sailors'] })
        for (const sailor of sailors.items.filter(({ id }) => id === world.name(0))) sailors.remove(sailor)
      },
    },
    {
      title: 'move a child to a shard that is there',
      prepare: brokers,
      async change(session, world) {
        ;(await session.load(Offer, world.name(0))).broker.set(world.name(1))
      },
    },
    {
      title: 'move a child to a shard that is not there, by its key',
      prepare: brokers,
      async change(session, world) {
        ;(await session.load(Broker, world.name(1))).offers.add(world.name(1))
      },
    },
    {
      title: 'add a new child that does not know its owner, to the first companion',
      prepare: pads,
      async change(session, world) {
        const { notes } = await session.load(Pad, world.name(1))
        notes.add(await obtain(session, Note, world.name(2)))
      },
    },
    {
      title: 'add a new child that does not know its owner',
      prepare: pads,
      async change(session, world) {
        const { notes } = await session.load(Pad, world.name(0))
        notes.add(await obtain(session, Note, world.name(2)))
      },
    },
    {
      title: 'follow, first on both sides',
      prepare: fans,
      async change(session, world) {
        ;(await session.load(Fan, world.name(2))).follows.add(await session.load(Fan, world.name(1)))
      },
    },
    {
      title: 'follow somebody new, by the other side',
      prepare: fans,
      async change(session, world) {
        const somebody = await obtain(session, Fan, world.name(3))
        ;(await session.load(Fan, world.name(0))).followers.add(somebody)
      },
    },
    {
      title: 'unfollow by key',
      prepare: fans,
      async change(session, world) {
        ;(await session.load(Fan, world.name(0))).follows.remove(world.name(1))
      },
    },
    {
      title: 'link with attributes, first of its shard',
      prepare: guilds,
      async change(session, world) {
        ;(await session.load(Artisan, world.name(1))).guilds.link(world.name(1), { role: 'guest' })
      },
    },
    {
      title: 'replace the attributes of a link',
      prepare: guilds,
      async change(session, world) {
        ;(await session.load(Artisan, world.name(0))).guilds.link(world.name(0), { role: 'guest' })
      },
    },
    deletion('delete a child', brokers, Offer, (world) => world.name(0)),
    deletion('delete a parent with its children', brokers, Broker, (world) => world.name(0)),
    deletion('delete a parent with children that do not know it', pads, Pad, (world) => world.name(0)),
    deletion('delete a parent and detach its children', crews, Crew, (world) => world.name(0)),
    deletion('delete a fan who follows and is followed', fans, Fan, (world) => world.name(0)),
    deletion('delete the other side of links', guilds, Guild, (world) => world.name(0)),
  ],
}
