import { Bin, Embeddable, Key, ManyToMany, ManyToOne, OneToMany, Record, collection, ref, type Session } from 'skein'

@Record({ set: 'post' })
class Post {
  @Key() id!: number
  @Bin() title!: string
}

@Record({ set: 'photo' })
class Photo {
  @Key() id!: number
  @Bin() file!: string
}

@Record({ set: 'video' })
class Video {
  @Key() id!: number
  @Bin() url!: string
}

@Record({ set: 'comment' })
class Comment {
  @Key() id!: number
  @ManyToOne(() => [Post, Photo]) subject = ref<Post | Photo>()
  // expect: Declare it with the class of the relation: wide = ref<…>()
  @ManyToOne(() => [Post, Photo])
  wide = ref<Post | Video>()
  // expect: Declare it with the class of the relation: seen = collection<…>()
  @OneToMany(() => [Post, Photo])
  seen = collection<Video>()
}

@Record({ set: 'fan' })
class Fan {
  @Key() id!: string
  @ManyToMany(() => [Post, Photo], { through: () => Reaction }) reacted = collection<Post | Photo, Reaction>()
  // expect: Declare it with the class of the relation: wider = collection<…>()
  @ManyToMany(() => [Post, Photo], { through: () => Reaction })
  wider = collection<Post | Video, Reaction>()
}

@Record({ set: 'reaction', key: '{fan}:{subject}' })
class Reaction {
  @ManyToOne(() => Fan, 'reacted') fan = ref<Fan>()
  @ManyToOne(() => [Post, Photo]) subject = ref<Post | Photo>()
  @Bin() emoji?: string
}

export function refusedLinks(fan: Fan, post: Post, video: Video): void {
  // expect: Argument of type 'Video' is not assignable to parameter of type
  fan.reacted.link(video, { emoji: 'up' })
  // expect: 'emojy' does not exist in type
  fan.reacted.link(post, { emojy: 'up' })
}

@Embeddable()
class Mention {
  @Key() id!: string
  @ManyToOne(() => [Post, Photo]) subject = ref<Post | Photo>()
  // expect: Declare it with the class of the relation: wide = ref<…>()
  @ManyToOne(() => [Post, Photo])
  wide = ref<Post | Video>()
}

@Record({ set: 'wall' })
class Wall {
  @Key() id!: number
  @OneToMany(() => Mention, { strategy: 'consolidate' }) mentions = collection<Mention>()
}

export async function refusedInParts(session: Session, mention: Mention, video: Video): Promise<void> {
  // expect: Argument of type 'Video' is not assignable to parameter of type
  mention.subject.set(video)
  // expect: Type '"mentions.subject.writer"' is not assignable to type
  await session.load(Wall, 1, { with: ['mentions.subject.writer'] })
}

export async function refused(session: Session, comment: Comment, video: Video): Promise<void> {
  // expect: Argument of type 'Video' is not assignable to parameter of type
  comment.subject.set(video)
  // expect: Type 'string | null' is not assignable to type 'number | null'
  const key: number | null = comment.subject.key
  // expect: Type '"subject.writer"' is not assignable to type
  await session.load(Comment, 1, { with: ['subject.writer'] })
  const value = await comment.subject.load()
  // expect: Property 'title' does not exist on type 'Post | Photo'
  console.log(key, value?.title)
}
