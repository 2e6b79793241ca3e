import { Bin, Companion, CountOf, DeletedAt, Index, Key, ManyToOne, OneToMany, Record, collection, ref } from 'skein'

@Record({ set: 'author' })
export class Author {
  @Key() id!: string
  @Bin() name!: string
}

@Record({ set: 'post' })
export class Post {
  @Key() id!: number
  @Bin() title!: string
  @ManyToOne(() => Author) author = ref<Author>()
}

@Record({ set: 'photo' })
export class Photo {
  @Key() id!: number
  @Bin() file!: string
  @ManyToOne(() => Author) author = ref<Author>()
  @ManyToOne(() => Author) shownIn = ref<Author>()
}

/** A class whose subclasses share one set. */
@Record({ set: 'page', discriminator: 'kind' })
export abstract class Page {
  @Key() id!: string
  @DeletedAt() deletedAt?: Date
}
@Record({ discriminatorValue: 'note' })
export class Note extends Page {
  @Bin() text!: string
}
@Record({ discriminatorValue: 'form' })
export class Form extends Page {
  @ManyToOne(() => Author) author = ref<Author>()
}

@Record({ set: 'comment' })
export class Comment {
  @Key() id!: number
  @Bin() text!: string
  @Index() @ManyToOne(() => [Post, Photo, Page]) subject = ref<Post | Photo | Page>()
}

@Record({ set: 'feed' })
export class Feed {
  @Key() id!: string
  @Index() @OneToMany(() => [Post, Photo, Page], { strategy: 'keyList' }) items = collection<Post | Photo | Page>()
  @CountOf('items') itemCount = 0
  @Companion() @OneToMany(() => [Post, Photo]) kept = collection<Post | Photo>()
}

@Record({ set: 'album' })
export class Album {
  @Key() id!: string
  @OneToMany(() => [Post, Photo], { onDelete: 'cascade', orphans: 'delete' }) own = collection<Post | Photo>()
  @OneToMany(() => [Post, Photo], { onDelete: 'restrict' }) needed = collection<Post | Photo>()
}

export const COLLECTIONS = [Author, Post, Photo, Page, Note, Form, Feed, Album]

export const ONE_SIDED = [Author, Post, Photo, Page, Note, Form, Comment]
