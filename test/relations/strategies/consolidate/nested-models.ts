import { Bin, Counter, Embeddable, Key, ManyToOne, OneToMany, Record, Sharded, Version, collection, ref } from 'skein'

@Record({ set: 'nested-reader' })
export class Reader {
  @Key() id!: number
  @Bin() name?: string
}

/** A comment, and its replies, which are comments too. */
@Embeddable()
export class Comment {
  @Key() id!: string
  @Bin() text!: string
  @Counter() likes = 0
  @ManyToOne(() => Reader) author = ref<Reader>()
  @OneToMany(() => Comment, { strategy: 'consolidate' }) replies = collection<Comment>()
}

@Record({ set: 'nested-post' })
export class Post {
  @Key() id!: number
  @Bin() title?: string
  @Version() version?: number
  @OneToMany(() => Comment, { strategy: 'consolidate' }) comments = collection<Comment>()
}

/** A post whose comments are read when they are asked for. */
@Record({ set: 'nested-thread' })
export class Thread {
  @Key() id!: string
  @OneToMany(() => Comment, { strategy: 'consolidate', eager: false }) comments = collection<Comment>()
}

@Record({ set: 'nested-hall' })
export class Hall {
  @Key() id!: number
  @Sharded({ by: 'hash', shards: 3 })
  @OneToMany(() => Comment, { strategy: 'consolidate' })
  comments = collection<Comment>()
}

const INVERSE = {
  author: { name: 'byAuthor', onTargetDelete: 'delete' },
  'replies.author': { name: 'byReplier', onTargetDelete: 'delete' },
} as const

/** A post that knows who wrote in it, at every level. */
@Record({ set: 'nested-signed' })
export class SignedPost {
  @Key() id!: number
  @OneToMany(() => Comment, { strategy: 'consolidate', inverseIndex: INVERSE }) comments = collection<Comment>()
}

@Record({ set: 'nested-signhall' })
export class SignedHall {
  @Key() id!: number
  @Sharded({ by: 'hash', shards: 3 })
  @OneToMany(() => Comment, { strategy: 'consolidate', inverseIndex: INVERSE })
  comments = collection<Comment>()
}

@Embeddable()
export class Answer {
  @Key() id!: number
  @Bin() points!: number
  @Bin() at?: Date
}

@Embeddable()
export class Question {
  @Key({ generate: 'sortable' }) id!: string
  @Bin() text!: string
  @OneToMany(() => Answer, { strategy: 'consolidate', name: 'a', sortKey: ['points'], orders: { recent: ['at'] } })
  answers = collection<Answer>()
}

@Embeddable()
export class Chapter {
  @Key() id!: string
  @OneToMany(() => Question, { strategy: 'consolidate' }) questions = collection<Question>()
}

/** Three levels of different classes, the first one in an order of its own. */
@Record({ set: 'nested-exam' })
export class Exam {
  @Key() id!: number
  @OneToMany(() => Chapter, { strategy: 'consolidate' }) chapters = collection<Chapter>()
}

export const CLASSES = [Reader, Post, Thread, Hall, Exam]

export function comment(id: string, ...replies: Comment[]): Comment {
  const made = Object.assign(new Comment(), { id, text: `text of ${id}` })
  made.replies.add(...replies)
  return made
}

export function post(id: number, ...comments: Comment[]): Post {
  const made = Object.assign(new Post(), { id })
  made.comments.add(...comments)
  return made
}

/** The tree as text: `c1(r1(r2) r3)`. */
export const shape = (comments: Iterable<Comment>): string =>
  [...comments].map(({ id, replies }) => id + ([...replies].length === 0 ? '' : `(${shape(replies)})`)).join(' ')

/** The comment at the end of a path of ids. */
export function at(comments: Iterable<Comment>, ...[first, ...rest]: string[]): Comment {
  const found = [...comments].find(({ id }) => id === first)!
  return rest.length === 0 ? found : at(found.replies, ...rest)
}
