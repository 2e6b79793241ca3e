import {
  Bin,
  collection,
  Companion,
  CountOf,
  Counter,
  Embeddable,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  ref,
  Sharded,
  UpdatedAt,
  type Collection,
  type EntityClass,
} from 'skein'

@Record({ set: 'ac_reader' })
export class Reader {
  @Key() id!: number
}

@Embeddable()
export class Comment {
  @Key() id!: string
  @Bin() at!: Date
  @Bin({ type: 'double' }) weight = 2
  @ManyToOne(() => Reader) by = ref<Reader>()
  @OneToMany(() => Comment, { strategy: 'consolidate' }) replies = collection<Comment>()
}

export interface Post {
  id: number
  title?: string
  views: number
  commentCount: number
  readerCount: number
  comments: Collection<Comment>
  notes: Collection<Comment>
  dated: Collection<Comment>
  readers: Collection<Reader>
}

export interface PostClasses {
  readonly Post: new () => Post
  readonly all: EntityClass[]
}

/** A post with companions of each kind, and its archive in that namespace. */
export function postIn(archive: string): PostClasses {
  @Record({ set: 'ac_post', name: 'Post', archive })
  class APost implements Post {
    @Key() id!: number
    @Bin() title?: string
    @UpdatedAt() updatedAt?: Date
    @Sharded({ by: 'hash', shards: 2 }) @CountOf('comments') commentCount = 0
    @Sharded({ by: 'hash', shards: 2 }) @Counter() views = 0
    @CountOf('readers') readerCount = 0
    @Sharded({ by: 'hash', shards: 3 })
    @OneToMany(() => Comment, {
      strategy: 'consolidate',
      sortKey: ['at'],
      orders: { heavy: ['weight'] },
      inverseIndex: { by: { name: 'byReader', onTargetDelete: 'delete' } },
    })
    comments = collection<Comment>()
    @Companion({ subkeys: 'notesIn' }) @OneToMany(() => Comment, { strategy: 'consolidate' }) notes =
      collection<Comment>()
    @Sharded({ by: 'day', on: 'at', subkeys: 'datedIn' })
    @OneToMany(() => Comment, { strategy: 'consolidate' })
    dated = collection<Comment>()
    @Sharded({ by: 'hash', shards: 2, subkeys: 'readersIn' }) @OneToMany(() => Reader) readers = collection<Reader>()
  }
  return { Post: APost, all: [Reader, APost] }
}

const DAY = 86_400_000

export const comment = (id: string, day = 0): Comment =>
  Object.assign(new Comment(), { id, at: new Date(1.7e12 + day * DAY) })

/** Ids of all members, collection by collection. */
export const idsIn = ({ comments, notes, dated, readers }: Post): (string | number)[][] =>
  [comments, notes, dated, readers].map((each) => each.items.map(({ id }) => id).sort())

export const ALONG = ['comments', 'notes', 'dated', 'readers'] as const
