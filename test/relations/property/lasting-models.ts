import {
  Bin,
  Copy,
  DeletedAt,
  Embeddable,
  History,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  Version,
  collection,
  ref,
  type EntityClass,
} from 'skein'
import { Apart, InShards } from './in-companions.js'

/** Deleted softly, with a history; owns stories and memos, and follows others by link records that stay when they are ended. */
@History({ keep: 200 })
@Record({ set: 'lg_author' })
export class Author {
  @Key() id!: number
  @Bin() text?: string
  @Bin() nick?: string
  @Version() version?: number
  @DeletedAt() deletedAt?: Date
  @InShards('storiesIn') @OneToMany(() => Story, 'author', { strategy: 'keyList', onDelete: 'cascade' }) stories =
    collection<Story>()
  @OneToMany(() => Memo, 'author', { strategy: 'secondaryIndex', onDelete: 'cascade' }) memos = collection<Memo>()
  @InShards('followsIn') @ManyToMany(() => Author, { through: () => Follow }) follows = collection<Author, Follow>()
  @ManyToMany(() => Author, { through: () => Follow, strategy: 'secondaryIndex' }) followers = collection<
    Author,
    Follow
  >()
  @Apart('readsIn') @ManyToMany(() => Feed, 'readers', { attributes: () => Badge }) reads = collection<Feed, Badge>()
}

@Record({ set: 'lg_follow', key: '{from}:{to}' })
export class Follow {
  @ManyToOne(() => Author, 'follows') from = ref<Author>()
  @ManyToOne(() => Author, 'followers') to = ref<Author>()
  @Bin() text?: string
  @DeletedAt() deletedAt?: Date
}

@Record({ set: 'lg_story' })
export class Story {
  @Key() id!: number
  @Bin() text?: string
  @DeletedAt() deletedAt?: Date
  @ManyToOne(() => Author, 'stories') author = ref<Author>()
  @Copy((story: Story) => story.author, 'text') authorText?: string
  @Copy((story: Story) => story.author, 'nick', { refresh: 'background' }) authorNick?: string
  @Apart('remarksIn') @OneToMany(() => Remark, 'subject', { onDelete: 'cascade' }) remarks = collection<Remark>()
}

@Record({ set: 'lg_memo' })
export class Memo {
  @Key() id!: number
  @Bin() text?: string
  @DeletedAt() deletedAt?: Date
  @ManyToOne(() => Author, 'memos') author = ref<Author>()
  @Copy((memo: Memo) => memo.author, 'text') authorText?: string
}

/** Of the same key as a story is, and another type of key. */
@Record({ set: 'lg_photo' })
export class Photo {
  @Key() id!: string
  @Bin() text?: string
  @DeletedAt() deletedAt?: Date
  @OneToMany(() => Remark, 'subject', { onDelete: 'cascade' }) remarks = collection<Remark>()
}

@History({ keep: 200 })
@Record({ set: 'lg_remark' })
export class Remark {
  @Key() id!: number
  @Bin() text?: string
  @Version() version?: number
  @DeletedAt() deletedAt?: Date
  @ManyToOne(() => [Story, Photo], 'remarks') subject = ref<Story | Photo>()
}

@Embeddable()
export class Badge {
  @Bin() text!: string
  @DeletedAt() endedAt?: Date
}

/** Has no soft deletes: lists entities of two classes, and has readers by links that are kept when they are ended. */
@Record({ set: 'lg_feed' })
export class Feed {
  @Key() id!: number
  @InShards('itemsIn') @OneToMany(() => [Story, Photo], { strategy: 'keyList' }) items = collection<Story | Photo>()
  @InShards('readersIn') @ManyToMany(() => Author, 'reads', { owner: true, attributes: () => Badge }) readers =
    collection<Author, Badge>()
}

export const CLASSES = { Author, Story, Memo, Photo, Remark }
export type Kind = keyof typeof CLASSES
export const KINDS = Object.keys(CLASSES) as Kind[]
export const IDS = [1, 2] as const
export const LASTING: readonly EntityClass[] = [...Object.values(CLASSES), Follow, Feed]

export const classOf = (kind: Kind): EntityClass => CLASSES[kind]
export const keyOf = (kind: Kind, id: number): number | string => (kind === 'Photo' ? `${id}` : id)

/** Owner and member of a relation that a delete of the owner cascades along. */
export interface Owning {
  readonly child: Kind
  readonly ref: 'author' | 'subject'
  readonly owners: readonly Kind[]
  readonly name: 'stories' | 'memos' | 'remarks'
}

export const OWNING: readonly Owning[] = [
  { child: 'Story', ref: 'author', owners: ['Author'], name: 'stories' },
  { child: 'Memo', ref: 'author', owners: ['Author'], name: 'memos' },
  { child: 'Remark', ref: 'subject', owners: ['Story', 'Photo'], name: 'remarks' },
]

/** Key under which a reference of that relation names an owner. */
export const refKey = ({ owners }: Pick<Owning, 'owners'>, kind: Kind, id: number): number | string =>
  owners.length === 1 ? keyOf(kind, id) : `lg_${kind.toLowerCase()}:${id}`
