import type { Session } from 'skein'
import { User } from '../../relations/models.js'
import { deletion, make, obtain, type Family } from '../operation.js'
import type { World } from '../world.js'

function users(session: Session, world: World): void {
  const all = [0, 1, 2].map((i) => session.persist(make(User, world.number(i), { name: 'user' })))
  all[0].follows.add(all[1], all[2])
  all[1].follows.add(all[0])
}

export const MANY_TO_MANY: Family = {
  name: 'many to many',
  classes: [User],
  references: [
    { set: 'user', bin: 'follows', to: 'user', mirrored: true },
    { set: 'user', bin: 'followers', to: 'user', mirrored: true },
  ],
  operations: [
    {
      title: 'follow',
      prepare: users,
      async change(session, world) {
        ;(await session.load(User, world.number(2))).follows.add(await session.load(User, world.number(0)))
      },
    },
    {
      title: 'follow by key',
      prepare: users,
      async change(session, world) {
        ;(await session.load(User, world.number(2))).follows.add(world.number(0))
      },
    },
    {
      title: 'follow somebody new',
      prepare: users,
      async change(session, world) {
        const somebody = await obtain(session, User, world.number(3), { name: 'user' })
        ;(await session.load(User, world.number(2))).follows.add(somebody)
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
      title: 'unfollow by key',
      prepare: users,
      async change(session, world) {
        ;(await session.load(User, world.number(0))).follows.remove(world.number(1))
      },
    },
    deletion('delete a user who follows and is followed', users, User, (world) => world.number(0)),
  ],
}
