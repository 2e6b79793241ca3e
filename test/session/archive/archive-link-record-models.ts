import {
  Bin,
  collection,
  Key,
  ManyToMany,
  ManyToOne,
  Record,
  ref,
  Sharded,
  type Collection,
  type EntityClass,
  type Ref,
} from 'skein'

/** A person who may be archived. */
export interface Person {
  id: number
  title?: string
  follows: Collection<Person, Follow>
  followers: Collection<Person, Follow>
  papers: Collection<Paper, Access>
}
export interface Follow {
  from: Ref<Person>
  to: Ref<Person>
  kind?: string
}
/** Stays where it is. */
export interface Paper {
  id: number
  people: Collection<Person, Access>
}
export interface Access {
  person: Ref<Person>
  paper: Ref<Paper>
  role?: string
}
export interface LinkRecordClasses {
  readonly Person: new () => Person
  readonly Follow: new () => Follow
  readonly Paper: new () => Paper
  readonly Access: new () => Access
  readonly all: EntityClass[]
}

/** People whose archive is that namespace, and link records between them and to papers, which stay. */
export function peopleIn(archive: string): LinkRecordClasses {
  @Record({ set: 'ak_person', name: 'Person', archive })
  class APerson implements Person {
    @Key() id!: number
    @Bin() title?: string
    @ManyToMany(() => APerson, { through: () => AFollow }) follows = collection<APerson, AFollow>()
    @ManyToMany(() => APerson, { through: () => AFollow }) followers = collection<APerson, AFollow>()
    @ManyToMany(() => APaper, { through: () => AnAccess }) papers = collection<APaper, AnAccess>()
  }
  @Record({ set: 'ak_follow', name: 'Follow', key: '{from}:{to}' })
  class AFollow implements Follow {
    @ManyToOne(() => APerson, 'follows') from = ref<APerson>()
    @ManyToOne(() => APerson, 'followers') to = ref<APerson>()
    @Bin() kind?: string
  }
  @Record({ set: 'ak_paper', name: 'Paper' })
  class APaper implements Paper {
    @Key() id!: number
    @Sharded({ by: 'hash', shards: 2 })
    @ManyToMany(() => APerson, { through: () => AnAccess })
    people = collection<APerson, AnAccess>()
  }
  @Record({ set: 'ak_access', name: 'Access', key: '{person}:{paper}' })
  class AnAccess implements Access {
    @ManyToOne(() => APerson, 'papers') person = ref<APerson>()
    @ManyToOne(() => APaper, 'people') paper = ref<APaper>()
    @Bin() role?: string
  }
  return {
    Person: APerson,
    Follow: AFollow,
    Paper: APaper,
    Access: AnAccess,
    all: [APerson, AFollow, APaper, AnAccess],
  }
}

export const LINKS = ['follows', 'followers', 'papers'] as const

/** Ids of those that a person is linked with, relation by relation. */
export const linksOf = ({ follows, followers, papers }: Person): number[][] =>
  [follows, followers, papers].map((each) => each.items.map(({ id }) => id).sort())
