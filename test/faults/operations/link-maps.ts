import { Bin, Embeddable, Key, ManyToMany, Record, collection, type Session } from 'skein'
import { deletion, make, obtain, type Family } from '../operation.js'
import type { World } from '../world.js'

@Embeddable()
class Membership {
  @Bin() role!: string
  @Bin() level?: number
}

@Record({ set: 'person' })
class Person {
  @Key() id!: number
  @Bin() name!: string
  @ManyToMany(() => Club, 'people', { owner: true, attributes: () => Membership })
  clubs = collection<Club, Membership>()
}

@Record({ set: 'club' })
class Club {
  @Key() id!: string
  @ManyToMany(() => Person, 'clubs', { attributes: () => Membership }) people = collection<Person, Membership>()
}

function clubs(session: Session, world: World): void {
  const [a, b] = [0, 1].map((i) => session.persist(make(Person, world.number(i), { name: 'person' })))
  const [c, d] = [0, 1].map((i) => session.persist(make(Club, world.name(i))))
  a.clubs.link(c, { role: 'member', level: 1 })
  a.clubs.link(d, { role: 'chair' })
  b.clubs.link(d, { role: 'member' })
}

export const LINK_MAPS: Family = {
  name: 'links with attributes',
  classes: [Person, Club],
  references: [
    { set: 'person', bin: 'clubs', to: 'club', mirrored: true },
    { set: 'club', bin: 'people', to: 'person', mirrored: true },
  ],
  operations: [
    {
      title: 'link',
      prepare: clubs,
      async change(session, world) {
        const person = await session.load(Person, world.number(1))
        person.clubs.link(await session.load(Club, world.name(0)), { role: 'guest', level: 3 })
      },
    },
    {
      title: 'link by key, from the other side',
      prepare: clubs,
      async change(session, world) {
        ;(await session.load(Club, world.name(0))).people.link(world.number(1), { role: 'guest' })
      },
    },
    {
      title: 'link a new one',
      prepare: clubs,
      async change(session, world) {
        const club = await obtain(session, Club, world.name(2))
        ;(await session.load(Person, world.number(1))).clubs.link(club, { role: 'founder' })
      },
    },
    {
      title: 'change the attributes of a link',
      prepare: clubs,
      async change(session, world) {
        const { clubs: mine } = await session.load(Person, world.number(0))
        const membership = (await mine.attributesOf(world.name(0)))!
        membership.role = 'chair'
        membership.level = 2
      },
    },
    {
      title: 'replace the attributes of a link',
      prepare: clubs,
      async change(session, world) {
        ;(await session.load(Person, world.number(0))).clubs.link(world.name(0), { role: 'guest' })
      },
    },
    {
      title: 'unlink',
      prepare: clubs,
      async change(session, world) {
        ;(await session.load(Person, world.number(0))).clubs.remove(await session.load(Club, world.name(1)))
      },
    },
    deletion('delete the owner of links', clubs, Person, (world) => world.number(0)),
    deletion('delete the other side of links', clubs, Club, (world) => world.name(1)),
  ],
}
