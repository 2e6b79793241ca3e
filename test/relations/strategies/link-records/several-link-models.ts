import {
  Bin,
  collection,
  DeletedAt,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  ref,
  Version,
  type EntityClass,
} from 'skein'

/** Lists its reactions, and finds what it has kept by an index. */
@Record({ set: 'rfan' })
export class Fan {
  @Key() id!: string
  @ManyToMany(() => [Post, Photo], { through: () => Reaction }) reacted = collection<Post | Photo, Reaction>()
  @ManyToMany(() => [Post, Photo], { through: () => Keeping, strategy: 'secondaryIndex' })
  kept = collection<Post | Photo, Keeping>()
}

/** Another class at the same end of keepings as a fan. */
@Record({ set: 'rbot' })
export class Bot {
  @Key() id!: number
  @ManyToMany(() => [Post, Photo], { through: () => Keeping, strategy: 'secondaryIndex' })
  kept = collection<Post | Photo, Keeping>()
}

@Record({ set: 'rpost' })
export class Post {
  @Key() id!: number
  @Bin() title!: string
  @ManyToMany(() => Fan, { through: () => Reaction }) reactors = collection<Fan, Reaction>()
  @ManyToMany(() => [Fan, Bot], { through: () => Keeping }) keepers = collection<Fan | Bot, Keeping>()
  @OneToMany(() => Caption, 'of', { onDelete: 'cascade' }) captions = collection<Caption>()
}

@Record({ set: 'rphoto' })
export class Photo {
  @Key() id!: number
  @Bin() file!: string
  @ManyToMany(() => Fan, { through: () => Reaction }) reactors = collection<Fan, Reaction>()
  @ManyToMany(() => [Bot, Fan], { through: () => Keeping }) keepers = collection<Fan | Bot, Keeping>()
  @OneToMany(() => Caption, 'of', { onDelete: 'cascade' }) captions = collection<Caption>()
}

@Record({ set: 'rreaction', key: '{fan}:{subject}' })
export class Reaction {
  @ManyToOne(() => Fan, 'reacted') fan = ref<Fan>()
  @ManyToOne(() => [Post, Photo], 'reactors') subject = ref<Post | Photo>()
  @Bin() emoji?: string
  @Version() version?: number
}

/** Several classes at both ends; unlinking is a soft delete. */
@Record({ set: 'rkeeping', key: '{subject}:{by}' })
export class Keeping {
  @ManyToOne(() => [Photo, Post], 'keepers') subject = ref<Post | Photo>()
  @ManyToOne(() => [Fan, Bot], 'kept') by = ref<Fan | Bot>()
  @Bin() note?: string
  @DeletedAt() endedAt?: Date
}

/** A child whose key contains that of a parent of one of two classes. */
@Record({ set: 'rcaption', key: '{of}:{no}' })
export class Caption {
  @ManyToOne(() => [Post, Photo], 'captions') of = ref<Post | Photo>()
  @Bin() no!: number
  @Bin() text?: string
}

export const REACTIONS: readonly EntityClass[] = [Fan, Bot, Post, Photo, Reaction, Keeping, Caption]
