import 'reflect-metadata'
import { Bin, Companion, Key, ManyToMany, Record, Sharded, collection } from 'skein'

/** A user keeps those they follow in a record of its own: `fan/x` stays small, and `fan_following/x` grows. */
@Record({ set: 'fan' })
export class User {
  @Key() id!: string
  @Bin() name!: string
  @Companion() @ManyToMany(() => User) following = collection<User>()
}

/** A user with so many followers that no record could hold them: 300,000 in 35 records are some 128 KiB each. */
@Record({ set: 'star' })
export class Star {
  @Key() id!: string
  @Bin() name!: string
  @Sharded({ by: 'hash', shards: 35 }) @ManyToMany(() => User) followers = collection<User>()
}
