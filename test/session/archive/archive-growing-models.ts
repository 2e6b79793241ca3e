import {
  Bin,
  collection,
  CountOf,
  Embeddable,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  Record,
  ref,
  Sharded,
  type Collection,
  type EntityClass,
} from 'skein'

@Record({ set: 'ag_visitor' })
export class Visitor {
  @Key() id!: number
}

@Embeddable()
export class Liking {
  @Bin({ type: 'double' }) stars = 3
}

@Embeddable()
export class Remark {
  @Key() id!: string
  @Bin({ type: 'double' }) weight = 2
  @ManyToOne(() => Visitor) by = ref<Visitor>()
}

/** An owner of collections that are sharded on demand: children, keys, and links with attributes. */
export interface Topic {
  id: number
  title?: string
  remarkCount: number
  remarks: Collection<Remark>
  visitors: Collection<Visitor>
  likes: Collection<Visitor, Liking>
}

export interface TopicClasses {
  readonly Topic: new () => Topic
  readonly all: EntityClass[]
}

const WHEN = { members: 1000 }

export function topicIn(archive: string): TopicClasses {
  @Record({ set: 'ag_topic', name: 'Topic', archive })
  class ATopic implements Topic {
    @Key() id!: number
    @Bin() title?: string
    @CountOf('remarks') remarkCount = 0
    @Sharded({ by: 'hash', shards: 3, when: WHEN })
    @OneToMany(() => Remark, {
      strategy: 'consolidate',
      orders: { heavy: ['weight'] },
      inverseIndex: { by: { name: 'remarkBy', onTargetDelete: 'delete' } },
    })
    remarks = collection<Remark>()
    @Sharded({ by: 'hash', shards: 2, when: WHEN, subkeys: 'visitorsIn' })
    @OneToMany(() => Visitor)
    visitors = collection<Visitor>()
    @Sharded({ by: 'hash', shards: 2, when: WHEN, subkeys: 'likesIn' })
    @ManyToMany(() => Visitor, { attributes: () => Liking })
    likes = collection<Visitor, Liking>()
  }
  return { Topic: ATopic, all: [Visitor, ATopic] }
}

export const SETS = ['ag_topic', 'ag_topic_remarks', 'ag_topic_visitors', 'ag_topic_likes']

export const remark = (id: string, weight = 2): Remark => Object.assign(new Remark(), { id, weight })

export const ALONG = ['remarks', 'visitors', 'likes'] as const

/** Ids of all members, collection by collection. */
export const idsIn = ({ remarks, visitors, likes }: Topic): (string | number)[][] =>
  [remarks, visitors, likes].map((each) => each.items.map(({ id }) => id).sort())
