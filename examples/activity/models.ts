import { Bin, Key, ManyToOne, OneToMany, Record, collection, ref } from 'skein'

@Record({ set: 'member' })
export class Member {
  @Key() id!: string
}

@Record({ set: 'post' })
export class Post {
  @Key() id!: number
  @Bin() title!: string
  @ManyToOne(() => Member) author = ref<Member>()
  @OneToMany(() => Like, 'subject', { onDelete: 'cascade' }) likes = collection<Like>()
}

@Record({ set: 'photo' })
export class Photo {
  @Key() id!: number
  @Bin() title!: string
  @ManyToOne(() => Member) author = ref<Member>()
  @OneToMany(() => Like, 'subject', { onDelete: 'cascade' }) likes = collection<Like>()
}

@Record({ set: 'like' })
export class Like {
  @Key() id!: string
  @ManyToOne(() => [Post, Photo], 'likes') subject = ref<Post | Photo>()
}

@Record({ set: 'feed' })
export class Feed {
  @Key() id!: string
  @OneToMany(() => [Post, Photo]) items = collection<Post | Photo>()
}
