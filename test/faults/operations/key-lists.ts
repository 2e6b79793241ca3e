import { Bin, Key, ManyToOne, OneToMany, Record, collection, ref, type Session } from 'skein'
import { Agent, Listing } from '../../relations/models.js'
import { deletion, make, obtain, type Family } from '../operation.js'
import type { World } from '../world.js'

@Record({ set: 'team' })
class Team {
  @Key() id!: number
  @Bin() name!: string
  @OneToMany(() => Member, 'team', { strategy: 'keyList', onDelete: 'detach', orphans: 'delete' })
  members = collection<Member>()
}

@Record({ set: 'member' })
class Member {
  @Key() id!: string
  @Bin() name!: string
  @ManyToOne(() => Team, 'members') team = ref<Team>()
}

function agents(session: Session, world: World): void {
  const [a, b] = [0, 1].map((i) => session.persist(make(Agent, world.number(i), { name: 'agent' })))
  a.listings.add(listing(world, 0), listing(world, 1))
  b.listings.add(listing(world, 2))
}

function teams(session: Session, world: World): void {
  const team = session.persist(make(Team, world.number(0), { name: 'team' }))
  team.members.add(...[0, 1].map((i) => make(Member, world.name(i), { name: 'member' })))
}

const listing = (world: World, i: number): Listing => make(Listing, world.name(i), { city: 'Bern' })

export const KEY_LISTS: Family = {
  name: 'two-sided key lists',
  classes: [Agent, Listing, Team, Member],
  references: [
    { set: 'agent', bin: 'listings', to: 'listing', mirrored: true },
    { set: 'listing', bin: 'agent', to: 'agent', mirrored: true },
    { set: 'team', bin: 'members', to: 'member', mirrored: true },
    { set: 'member', bin: 'team', to: 'team', mirrored: true },
  ],
  operations: [
    {
      title: 'save a new parent with new children',
      prepare: () => undefined,
      async change(session, world) {
        const parent = await obtain(session, Agent, world.number(0), { name: 'agent' })
        for (const i of [0, 1]) parent.listings.add(await obtain(session, Listing, world.name(i), { city: 'Bern' }))
      },
    },
    {
      title: 'add a new child',
      prepare: agents,
      async change(session, world) {
        const { listings } = await session.load(Agent, world.number(0))
        listings.add(await obtain(session, Listing, world.name(3), { city: 'Bern' }))
      },
    },
    {
      title: 'take a child out',
      prepare: agents,
      async change(session, world) {
        const { listings } = await session.load(Agent, world.number(0), { with: ['listings'] })
        const child = await session.load(Listing, world.name(0))
        if (listings.items.includes(child)) listings.remove(child)
      },
    },
    {
      title: 'take a child out by its key',
      prepare: agents,
      async change(session, world) {
        ;(await session.load(Agent, world.number(0))).listings.remove(world.name(0))
      },
    },
    {
      title: 'take a child out that is deleted then',
      prepare: teams,
      async change(session, world) {
        const { members } = await session.load(Team, world.number(0), { with: ['members'] })
        for (const member of members.items.filter(({ id }) => id === world.name(0))) members.remove(member)
      },
    },
    {
      title: 'move a child',
      prepare: agents,
      async change(session, world) {
        ;(await session.load(Listing, world.name(0))).agent.set(world.number(1))
      },
    },
    {
      title: 'move a child by its key',
      prepare: agents,
      async change(session, world) {
        ;(await session.load(Agent, world.number(1))).listings.add(world.name(0))
      },
    },
    {
      title: 'move a child to a new parent',
      prepare: agents,
      async change(session, world) {
        const parent = await obtain(session, Agent, world.number(2), { name: 'agent' })
        ;(await session.load(Listing, world.name(0))).agent.set(parent)
      },
    },
    {
      title: 'move a child to a new parent by its key',
      prepare: agents,
      async change(session, world) {
        const parent = await obtain(session, Agent, world.number(2), { name: 'agent' })
        parent.listings.add(world.name(0))
      },
    },
    deletion('delete a child', agents, Listing, (world) => world.name(0)),
    deletion('delete a parent with its children', agents, Agent, (world) => world.number(0)),
    deletion('delete a parent and detach its children', teams, Team, (world) => world.number(0)),
  ],
}
