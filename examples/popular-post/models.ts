import 'reflect-metadata'
import { Bin, collection, Counter, Embeddable, Key, OneToMany, Record, Sharded } from 'skein'

/** A comment, which is part of its post. */
@Embeddable()
export class Comment {
  @Key() id!: string
  @Bin() text!: string
  @Bin() at!: Date
  @Counter() likes = 0
}

/** A post whose comments are in its record, until there are too many for one. */
@Record({ set: 'popular_post' })
export class Post {
  @Key() id!: string
  @Bin() title!: string

  @Sharded({ by: 'hash', shards: 8, when: { bytes: 16_384 } })
  @OneToMany(() => Comment, { strategy: 'consolidate', sortKey: ['at'] })
  comments = collection<Comment>()
}
