import { expect } from 'chai'
import {
  Bin,
  collection,
  Companion,
  DeletedAt,
  Key,
  ManyToMany,
  ManyToOne,
  Record,
  ref,
  Sharded,
  type Database,
} from 'skein'
import { MODES } from '../../../server.js'
import { rejection } from '../../../session/rejection.js'
import { useDatabase } from '../../../use-database.js'

@Record({ set: 'lsa_user' })
class User {
  @Key() id!: number
  @DeletedAt() deletedAt?: Date
  @Companion({ subkeys: 'followsIn' }) @ManyToMany(() => User, { through: () => Follow }) follows = collection<
    User,
    Follow
  >()
  @Sharded({ by: 'hash', shards: 2, subkeys: 'followersIn' })
  @ManyToMany(() => User, { through: () => Follow })
  followers = collection<User, Follow>()
}

@Record({ set: 'lsa_follow', key: '{from}:{to}' })
class Follow {
  @ManyToOne(() => User, 'follows') from = ref<User>()
  @ManyToOne(() => User, 'followers') to = ref<User>()
  @DeletedAt() deletedAt?: Date
  @Bin() note?: string
}

for (const mode of MODES) {
  describe(`link records of ends that list them in companions (${mode})`, () => {
    let db: Database
    useDatabase(mode, [User, Follow], (opened) => ({ db } = opened))

    for (const end of [1, 2])
      for (const before of ['nothing', 'a link'])
        it(`are not made while end ${end} is deleted softly, where there was ${before}`, async () => {
          await db.withSession((session) => {
            const [one, two, three] = [1, 2, 3].map((id) => session.create(User, { id }))
            // Both ends have the companions that a link would come into.
            one.follows.link(three, { note: 'other' })
            for (const each of [one, three]) each.followers.link(two, { note: 'other' })
            two.followers.link(three, { note: 'other' })
            if (before === 'a link') one.follows.link(two, { note: 'old' })
          })
          const stored = await db.scan(Follow).count()
          await db.session().delete(User, end)
          const session = db.session()
          session.at(User, 1).collection('follows').link(2, { note: 'new' })
          expect(await rejection(() => session.flush())).to.include({ code: 'SKEIN_3003' })
          await db.session().restore(User, end)
          const links = await db.scan(Follow).toArray()
          expect(links).to.have.length(stored)
          expect(links.map(({ note }) => note)).to.not.include('new')
          await session.flush()
          expect(await db.session().load(Follow, { from: 1, to: 2 })).to.include({ note: 'new' })
          for await (const { message } of db.verify([User, Follow], { settle: 0 })) expect.fail(message)
        })
  })
}
