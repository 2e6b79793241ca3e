import 'reflect-metadata'
import { Bin, Companion, Key, ManyToMany, Record, collection } from 'skein'

/** A user, and the users that they follow in a record of its own: `member/ada` stays small, and `following/ada` grows. */
@Record({ set: 'member' })
export class User {
  @Key() id!: string
  @Bin() name!: string
  @Companion({ set: 'following' }) @ManyToMany(() => User) following = collection<User>()
}
