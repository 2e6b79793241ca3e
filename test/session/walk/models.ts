import { Bin, Embeddable, Index, Key, ManyToMany, ManyToOne, OneToMany, OneToOne, Record, collection, ref } from 'skein'

@Embeddable()
export class Follow {
  @Bin() kind!: string
  @Bin() since?: Date
  @Bin({ type: { list: 'string' } }) tags?: string[]
}

@Record({ set: 'walk_user' })
export class User {
  @Key() id!: string
  @Bin() city?: string
  @ManyToMany(() => User, 'followers', { owner: true, attributes: () => Follow }) follows = collection<User, Follow>()
  @ManyToMany(() => User, 'follows', { attributes: () => Follow }) followers = collection<User, Follow>()
  @ManyToMany(() => User, 'friends') friends = collection<User>()
  @OneToMany(() => Post, 'author', { strategy: 'keyList' }) posts = collection<Post>()
  @OneToMany(() => Photo, 'owner', { strategy: 'secondaryIndex' }) photos = collection<Photo>()
  @OneToOne(() => Profile, 'user', { strategy: 'sharedKey' }) profile = ref<Profile>()
  @OneToOne(() => Desk, 'user') desk = ref<Desk>()
}

@Record({ set: 'walk_profile' })
export class Profile {
  @Key() id!: string
  @Bin() text!: string
  @OneToOne(() => User, 'profile', { strategy: 'sharedKey', owner: true }) user = ref<User>()
}

@Record({ set: 'walk_desk' })
export class Desk {
  @Key() id!: number
  @OneToOne(() => User, 'desk', { owner: true }) user = ref<User>()
}

@Record({ set: 'walk_photo' })
export class Photo {
  @Key() id!: string
  @Index() @ManyToOne(() => User, 'photos') owner = ref<User>()
}

@Embeddable()
export class Comment {
  @Key() id!: string
  @Bin() text!: string
  @Bin() likes!: number
  @ManyToOne(() => User) author = ref<User>()
}

@Record({ set: 'walk_post', discriminator: 'kind', discriminatorValue: 'post' })
export class Post {
  @Key() id!: string
  @Bin() title!: string
  @ManyToOne(() => User, 'posts') author = ref<User>()
  @OneToMany(() => Comment, { strategy: 'consolidate' }) comments = collection<Comment>()
}

@Record({ discriminatorValue: 'video' })
export class Video extends Post {
  @Bin() seconds!: number
}

@Record({ set: 'walk_owner', discriminator: 'kind', discriminatorValue: 'owner' })
export class Owner {
  @Key() id!: number
}

@Record({ discriminatorValue: 'writer' })
export class Writer extends Owner {
  @ManyToMany(() => Post) works = collection<Post>()
  @ManyToMany(() => Post, { name: 'written' }) own = collection<Post>()
}

@Record({ discriminatorValue: 'painter' })
export class Painter extends Owner {
  @ManyToMany(() => Photo) works = collection<Photo>()
  @ManyToMany(() => Post, { name: 'painted' }) own = collection<Post>()
}

@Record({ set: 'walk_node' })
export class Node {
  @Key() id!: number
  @ManyToMany(() => Node) next = collection<Node>()
}

export const ALL = [User, Profile, Desk, Photo, Post, Video, Node, Owner, Writer, Painter]

export const user = (id: string, city?: string): User => Object.assign(new User(), { id, city })
export const post = (id: string, title = id): Post => Object.assign(new Post(), { id, title })
export const comment = (id: string, author: User | string, likes = 0): Comment => {
  const made = Object.assign(new Comment(), { id, text: id, likes })
  made.author.set(author)
  return made
}
