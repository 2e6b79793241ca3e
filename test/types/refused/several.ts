import { Bin, Embeddable, Key, ManyToOne, OneToMany, Record, collection, ref, type Session } from 'skein'

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
