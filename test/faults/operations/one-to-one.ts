import { Bin, Key, OneToOne, Record, ref, type Session } from 'skein'
import { deletion, make, obtain, type Family } from '../operation.js'
import type { World } from '../world.js'

@Record({ set: 'profile' })
class Profile {
  @Key() id!: number
  @Bin() name!: string
  @OneToOne(() => Desk, 'user', { owner: true }) desk = ref<Desk>()
}

@Record({ set: 'desk' })
class Desk {
  @Key() id!: string
  @Bin() room?: string
  @OneToOne(() => Profile, 'desk') user = ref<Profile>()
}

@Record({ set: 'customer' })
class Customer {
  @Key() id!: number
  @Bin() name!: string
  @OneToOne(() => Card, 'customer', { strategy: 'sharedKey', owner: true, onDelete: 'cascade' }) card = ref<Card>()
}

@Record({ set: 'card' })
class Card {
  @Key() id!: number
  @Bin() limit!: number
  @OneToOne(() => Customer, 'card', { strategy: 'sharedKey' }) customer = ref<Customer>()
}

function pairs(session: Session, world: World): void {
  for (const i of [0, 1]) {
    session.persist(make(Profile, world.number(i), { name: 'profile' })).desk.set(make(Desk, world.name(i)))
  }
}

export const PAIRS: Family = {
  name: 'one to one, by key',
  classes: [Profile, Desk],
  references: [
    { set: 'profile', bin: 'desk', to: 'desk', mirrored: true },
    { set: 'desk', bin: 'user', to: 'profile', mirrored: true },
  ],
  operations: [
    {
      title: 'pair two',
      prepare(session, world) {
        session.persist(make(Profile, world.number(0), { name: 'profile' }))
        session.persist(make(Desk, world.name(0)))
      },
      async change(session, world) {
        ;(await session.load(Profile, world.number(0))).desk.set(await session.load(Desk, world.name(0)))
      },
    },
    {
      title: 'pair with a new one',
      prepare: pairs,
      async change(session, world) {
        const desk = await obtain(session, Desk, world.name(2))
        ;(await session.load(Profile, world.number(0))).desk.set(desk)
      },
    },
    {
      title: 'pair anew',
      prepare: pairs,
      async change(session, world) {
        ;(await session.load(Profile, world.number(0))).desk.set(await session.load(Desk, world.name(1)))
      },
    },
    {
      title: 'pair anew by key, from the other side',
      prepare: pairs,
      async change(session, world) {
        ;(await session.load(Desk, world.name(0))).user.set(world.number(1))
      },
    },
    {
      title: 'part',
      prepare: pairs,
      async change(session, world) {
        ;(await session.load(Profile, world.number(0))).desk.set(null)
      },
    },
    deletion('delete one of a pair', pairs, Desk, (world) => world.name(0)),
    deletion('delete the owner of a pair', pairs, Profile, (world) => world.number(0)),
  ],
}

function customers(session: Session, world: World): void {
  session.persist(make(Customer, world.number(0), { name: 'customer' }))
  session.persist(make(Customer, world.number(1), { name: 'customer' })).card.set(card(world, 1))
}

const card = (world: World, i: number): Card => make(Card, world.number(i), { limit: 100 })

export const SHARED_KEY: Family = {
  name: 'one to one, by shared key',
  classes: [Customer, Card],
  references: [],
  operations: [
    {
      title: 'save both',
      prepare: () => undefined,
      async change(session, world) {
        const customer = await obtain(session, Customer, world.number(0), { name: 'customer' })
        customer.card.set(await obtain(session, Card, world.number(0), { limit: 100 }))
      },
    },
    {
      title: 'add the other',
      prepare: customers,
      async change(session, world) {
        const customer = await session.load(Customer, world.number(0), { with: ['card'] })
        if (customer.card.value === null) customer.card.set(make(Card, world.number(0), { limit: 100 }))
      },
    },
    {
      title: 'change both',
      isUntied: true,
      prepare: customers,
      async change(session, world) {
        const customer = await session.load(Customer, world.number(1), { with: ['card'] })
        customer.name = 'renamed'
        customer.card.value!.limit = 200
      },
    },
    deletion('delete both', customers, Customer, (world) => world.number(1)),
    deletion('delete the other', customers, Card, (world) => world.number(1)),
  ],
}
