import 'reflect-metadata'
import { Bin, Key, ManyToMany, Record, collection } from 'skein'

/** Users follow users: one list of integers on each side, kept in order by the server. */
@Record({ set: 'user' })
export class User {
  @Key() id!: number
  @Bin() name!: string
  @ManyToMany(() => User, 'followers', { owner: true }) follows = collection<User>()
  @ManyToMany(() => User, 'follows') followers = collection<User>()
}
