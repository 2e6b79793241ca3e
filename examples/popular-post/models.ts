import 'reflect-metadata'
import { Bin, collection, Key, ManyToOne, OneToMany, Record, ref, Sharded } from 'skein'

/** A post whose comments are listed in its record, until there are too many for one. */
@Record({ set: 'popular_post' })
export class Post {
  @Key() id!: string
  @Bin() title!: string

  @Sharded({ by: 'hash', shards: 8, when: { members: 200 } })
  @OneToMany(() => Comment, 'post', { onDelete: 'cascade' })
  comments = collection<Comment>()
}

@Record({ set: 'popular_comment' })
export class Comment {
  @Key() id!: string
  @Bin() text!: string
  @ManyToOne(() => Post, 'comments') post = ref<Post>()
}
