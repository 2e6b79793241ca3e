import type { Session } from 'skein'
import { Agent, Listing, User, agent, listing, user } from '../relations/models.js'
import { Desk, Member, Profile, Team } from './models.js'
import type { World } from './world.js'

/** Something people do with relations; what it changes is sent by the flush that follows. */
export interface Operation {
  readonly title: string
  /** What is stored before. */
  prepare(session: Session, world: World): void
  /** Changes entities in memory; what it loads is not part of what is tested. */
  change(session: Session, world: World): Promise<void> | void
}

const team = (id: number): Team => Object.assign(new Team(), { id, name: 'team' })
const member = (id: string): Member => Object.assign(new Member(), { id, name: 'member' })
const profile = (id: number): Profile => Object.assign(new Profile(), { id, name: 'profile' })
const desk = (id: string): Desk => Object.assign(new Desk(), { id })

function agents(session: Session, world: World): Agent[] {
  const [a, b] = [agent(world.number(0)), agent(world.number(1))]
  a.listings.add(listing(world.name(0)), listing(world.name(1)))
  b.listings.add(listing(world.name(2)))
  return [session.persist(a), session.persist(b)]
}

function users(session: Session, world: World): void {
  const all = [0, 1, 2].map((i) => session.persist(user(world.number(i))))
  all[0].follows.add(all[1], all[2])
  all[1].follows.add(all[0])
}

export const OPERATIONS: readonly Operation[] = [
  {
    title: 'save a new parent with new children',
    prepare: () => undefined,
    change(session, world) {
      const one = session.persist(agent(world.number(0)))
      one.listings.add(listing(world.name(0)), listing(world.name(1)))
    },
  },
  {
    title: 'add a new child',
    prepare: agents,
    async change(session, world) {
      ;(await session.load(Agent, world.number(0))).listings.add(listing(world.name(3)))
    },
  },
  {
    title: 'take a child out',
    prepare: agents,
    async change(session, world) {
      const one = await session.load(Agent, world.number(0), { with: ['listings'] })
      one.listings.remove(one.listings.items[0])
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
      ;(await session.load(Listing, world.name(0))).agent.set(agent(world.number(2)))
    },
  },
  {
    title: 'delete a child',
    prepare: agents,
    async change(session, world) {
      session.remove(await session.load(Listing, world.name(0)))
    },
  },
  {
    title: 'delete a parent with its children',
    prepare: agents,
    async change(session, world) {
      session.remove(await session.load(Agent, world.number(0)))
    },
  },
  {
    title: 'delete a parent and let its children go',
    prepare(session, world) {
      session.persist(team(world.number(0))).members.add(member(world.name(0)), member(world.name(1)))
    },
    async change(session, world) {
      session.remove(await session.load(Team, world.number(0)))
    },
  },
  {
    title: 'follow',
    prepare: users,
    async change(session, world) {
      ;(await session.load(User, world.number(2))).follows.add(await session.load(User, world.number(0)))
    },
  },
  {
    title: 'follow somebody new',
    prepare: users,
    async change(session, world) {
      ;(await session.load(User, world.number(2))).follows.add(user(world.number(3)))
    },
  },
  {
    title: 'unfollow',
    prepare: users,
    async change(session, world) {
      ;(await session.load(User, world.number(0))).follows.remove(await session.load(User, world.number(1)))
    },
  },
  {
    title: 'delete a user who follows and is followed',
    prepare: users,
    async change(session, world) {
      session.remove(await session.load(User, world.number(0)))
    },
  },
  {
    title: 'pair two',
    prepare(session, world) {
      session.persist(profile(world.number(0)))
      session.persist(desk(world.name(0)))
    },
    async change(session, world) {
      ;(await session.load(Profile, world.number(0))).desk.set(await session.load(Desk, world.name(0)))
    },
  },
  {
    title: 'pair anew',
    prepare(session, world) {
      session.persist(profile(world.number(0))).desk.set(desk(world.name(0)))
      session.persist(profile(world.number(1))).desk.set(desk(world.name(1)))
    },
    async change(session, world) {
      ;(await session.load(Profile, world.number(0))).desk.set(await session.load(Desk, world.name(1)))
    },
  },
  {
    title: 'delete one of a pair',
    prepare(session, world) {
      session.persist(profile(world.number(0))).desk.set(desk(world.name(0)))
    },
    async change(session, world) {
      session.remove(await session.load(Desk, world.name(0)))
    },
  },
]
