import 'reflect-metadata'
import { Bin, Embeddable, Key, ManyToOne, OneToMany, Record, collection, ref } from 'skein'

@Record({ set: 'user' })
export class User {
  @Key() id!: number
  @Bin() name!: string
}

/** Stored inside its post, and pointing to a record of its own. */
@Embeddable()
export class Comment {
  @Key({ generate: 'sortable' }) id!: string
  @Bin() text!: string
  @ManyToOne(() => User) author = ref<User>()
  /** Replies are comments, too, to any depth. */
  @OneToMany(() => Comment, { strategy: 'consolidate' }) replies = collection<Comment>()
}

/** The post knows who wrote in it, and who replied: indexes on these maps find the posts of a user. */
@Record({ set: 'post' })
export class Post {
  @Key() id!: number
  @Bin() title!: string
  @OneToMany(() => Comment, {
    strategy: 'consolidate',
    inverseIndex: {
      author: { name: 'byAuthor', onTargetDelete: 'delete' },
      'replies.author': { name: 'byReplier', onTargetDelete: 'delete' },
    },
  })
  comments = collection<Comment>()
}

export function comment(text: string, author: User | number): Comment {
  const made = Object.assign(new Comment(), { text })
  made.author.set(author)
  return made
}
