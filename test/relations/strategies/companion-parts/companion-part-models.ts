import { Bin, Companion, Counter, Embeddable, Key, ManyToOne, OneToMany, Record, Sharded, collection, ref } from 'skein'

export const SHARDS = 5

@Record({ set: 'pwriter' })
export class Writer {
  @Key() id!: number
}

@Embeddable()
export class Comment {
  @Key() id!: string
  @Bin() text!: string
  @Bin() at?: Date
  @Counter() likes = 0
  @Bin({ type: { list: 'string' } }) tags: string[] = []
  @ManyToOne(() => Writer) author = ref<Writer>()
}

/** An owner with children in several records, in their order and by time. */
@Record({ set: 'ppost' })
export class Post {
  @Key() id!: string
  @Bin() title?: string
  @Sharded({ by: 'hash', shards: SHARDS })
  @OneToMany(() => Comment, { strategy: 'consolidate', orders: { recent: ['at'] } })
  comments = collection<Comment>()
  @Companion({ subkeys: 'draftsIn' })
  @OneToMany(() => Comment, { strategy: 'consolidate' })
  drafts = collection<Comment>()
}

@Embeddable()
export class Score {
  @Key() player!: number
  @Bin() points!: number
}

/** An owner with children in the order of their points, over several records. */
@Record({ set: 'pboard' })
export class Board {
  @Key() id!: number
  @Sharded({ by: 'hash', shards: SHARDS })
  @OneToMany(() => Score, { strategy: 'consolidate', sortKey: ['points'] })
  scores = collection<Score>()
}

export const COMPANION_PART_CLASSES = [Writer, Post, Board]

export const post = (id: string, ...comments: Comment[]): Post => {
  const made = Object.assign(new Post(), { id, title: `post ${id}` })
  made.comments.add(...comments)
  return made
}
export const comment = (id: string, text = id, at?: number): Comment =>
  Object.assign(new Comment(), { id, text, ...(at === undefined ? {} : { at: new Date(at) }) })
export const score = (player: number, points: number): Score => Object.assign(new Score(), { player, points })
