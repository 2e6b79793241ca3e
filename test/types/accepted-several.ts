// Everything in here must compile: relations to several classes are typed as unions.
import {
  Bin,
  Embeddable,
  Embedded,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  collection,
  keysOf,
  ref,
  type Database,
  type Session,
} from 'skein'

@Record({ set: 'author' })
class Author {
  @Key() id!: string
}

@Record({ set: 'post' })
export class Post {
  @Key() id!: number
  @Bin() title!: string
  @ManyToOne(() => Author) author = ref<Author>()
  @ManyToMany(() => Reader, 'likes', { attributes: () => Like }) likedBy = collection<Reader, Like>()
}

@Record({ set: 'photo' })
export class Photo {
  @Key() id!: number
  @Bin() file!: string
  @ManyToOne(() => Author) shownIn = ref<Author>()
  @ManyToMany(() => Reader, 'likes', { attributes: () => Like }) likedBy = collection<Reader, Like>()
}

@Embeddable()
class Like {
  @Bin() stars!: number
}

@Record({ set: 'reader' })
export class Reader {
  @Key() id!: number
  @ManyToMany(() => [Post, Photo]) seen = collection<Post | Photo>()
  @ManyToMany(() => [Post, Photo], 'likedBy', { owner: true, attributes: () => Like }) likes = collection<
    Post | Photo,
    Like
  >()
}

@Record({ set: 'comment' })
export class Comment {
  @Key() id!: number
  @ManyToOne(() => [Post, Photo]) subject = ref<Post | Photo>()
  @ManyToOne(() => [Post, Photo], { name: 'other', eager: true }) other = ref<Post | Photo>()
  @OneToMany(() => [Post, Photo], { strategy: 'keyList', onDelete: 'cascade' }) seen = collection<Post | Photo>()
}

@Record({ set: 'fan' })
export class Fan {
  @Key() id!: string
  @ManyToMany(() => [Post, Photo], { through: () => Reaction }) reacted = collection<Post | Photo, Reaction>()
}

@Record({ set: 'reaction', key: '{fan}:{subject}' })
class Reaction {
  @ManyToOne(() => Fan, 'reacted') fan = ref<Fan>()
  @ManyToOne(() => [Post, Photo]) subject = ref<Post | Photo>()
  @Bin() emoji?: string
}

export async function severalLinked(session: Session, fan: Fan, post: Post): Promise<void> {
  fan.reacted.link(post, { emoji: 'up' })
  fan.reacted.unlink(keysOf(Photo).withSet(1))
  const link: Reaction | null = await fan.reacted.linkOf(post)
  const members: readonly (Post | Photo)[] = await fan.reacted.load()
  const keys: readonly string[] = await fan.reacted.keys()
  const same = await session.linkOf(Reaction, fan, 'post:1')
  await session.load(Fan, 'ann', { with: ['reacted.author', 'reacted.shownIn'] })
  const ups = await session
    .walk(fan)
    .out('reacted', { where: { emoji: 'up' } })
    .entities()
  const value: Post | Photo = ups[0]
  console.log(link, members, keys, same?.emoji, value)
}

@Embeddable()
class Mention {
  @Key() id!: string
  @ManyToOne(() => [Post, Photo]) subject = ref<Post | Photo>()
  @OneToMany(() => Mention, { strategy: 'consolidate' }) answers = collection<Mention>()
}

@Record({ set: 'wall' })
export class Wall {
  @Key() id!: number
  @OneToMany(() => Mention, { strategy: 'consolidate', inverseIndex: { subject: { onTargetDelete: 'delete' } } })
  mentions = collection<Mention>()
  @Embedded(() => Mention) top?: Mention
}

export async function severalInParts(session: Session, db: Database, post: Post): Promise<void> {
  const wall = await session.load(Wall, 1, { with: ['mentions.subject.author', 'mentions.answers.subject.shownIn'] })
  const [mention] = wall.mentions.items
  const value: Post | Photo | null = mention.subject.value
  const key: string | null | undefined = wall.top?.subject.key
  mention.subject.set(post)
  mention.subject.set(keysOf(Photo).withSet(1))
  const reached: (Post | Photo)[] = await session.walk(wall).out('mentions').out('subject').entities()
  const readers: Reader[] = await session.walk(wall).out('mentions').out('subject').out('likedBy').entities()
  for await (const found of session.pointingTo(Wall, 'mentions.subject', post)) console.log(found.mentions)
  const pinned: number = await db
    .scan(Wall)
    .where({ top: { subject: post } })
    .count()
  console.log(value, key, reached, readers, pinned)
}

export async function several(session: Session, db: Database, comment: Comment, post: Post): Promise<void> {
  const key: string | null = comment.subject.key
  const value: Post | Photo | null = await comment.subject.load()
  const text = value instanceof Post ? value.title : value?.file
  comment.subject.set(post)
  comment.subject.set(keysOf(Post).withSet(1))
  const keys: readonly string[] = await comment.seen.keys()
  await session.load(Comment, 1, { with: ['subject', 'subject.author', 'subject.shownIn', 'seen.author'] })
  const found: Comment[] = await db.query(Comment).where({ subject: post }).toArray()
  const reached: (Post | Photo)[] = await session.walk(comment).out('subject').entities()
  const reader = await session.load(Reader, 1, { with: ['likes.author'] })
  reader.likes.link(post, { stars: 5 })
  const stars: number | undefined = (await reader.likes.attributesOf('post:1'))?.stars
  const liked: (Post | Photo)[] = await session
    .walk(reader)
    .out('likes', { where: { stars: 5 } })
    .entities()
  console.log(stars, liked, key, text, keys, found, reached)
}
