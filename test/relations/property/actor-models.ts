import {
  Bin,
  Companion,
  Embeddable,
  Embedded,
  Key,
  ManyToMany,
  ManyToOne,
  OneToMany,
  OneToOne,
  Record,
  Sharded,
  collection,
  ref,
  type Collection,
  type Database,
  type Ref,
} from 'skein'

@Embeddable()
export class Since {
  @Bin() year?: number
}

@Embeddable()
export class Mark {
  @ManyToOne(() => Member) by = ref<Member>()
}

@Embeddable()
export class Line {
  @Key() id!: string
  @ManyToOne(() => Member) who = ref<Member>()
}

/** Parents and members with every way to store what is between them. */
@Record({ set: 'act-team' })
export class Team {
  @Key() id!: number
  @OneToMany(() => Member, 'plain') plains = collection<Member>()
  @OneToMany(() => Member, 'indexed', { strategy: 'secondaryIndex' }) indexeds = collection<Member>()
  @Companion({ subkeys: 'inOne' }) @OneToMany(() => Member, 'apart') aparts = collection<Member>()
  @Sharded({ by: 'hash', shards: 3, subkeys: 'inMany' })
  @OneToMany(() => Member, 'sharded')
  shardeds = collection<Member>()
  @Sharded({ by: 'hash', shards: 2, when: { members: 2 }, subkeys: 'inMore' })
  @OneToMany(() => Member, 'growing')
  growings = collection<Member>()
  @ManyToMany(() => Member, 'fans', { owner: true }) likes = collection<Member>()
  @ManyToMany(() => Member, 'friends', { owner: true, attributes: () => Since }) links = collection<Member, Since>()
  @ManyToMany(() => Member, { through: () => Tie }) ties = collection<Member, Tie>()
  @OneToOne(() => Member, 'captainOf', { owner: true }) captain = ref<Member>()
  @OneToMany(() => Line, {
    strategy: 'consolidate',
    inverseIndex: { who: { name: 'byWho', onTargetDelete: 'delete' } },
  })
  lines = collection<Line>()
  @Embedded(() => Mark) mark = new Mark()
}

@Record({ set: 'act-member' })
export class Member {
  @Key() id!: number
  @Bin() name?: string
  @ManyToOne(() => Team, 'plains') plain = ref<Team>()
  @ManyToOne(() => Team, 'indexeds') indexed = ref<Team>()
  @ManyToOne(() => Team, 'aparts') apart = ref<Team>()
  @ManyToOne(() => Team, 'shardeds') sharded = ref<Team>()
  @ManyToOne(() => Team, 'growings') growing = ref<Team>()
  @ManyToMany(() => Team, 'likes') fans = collection<Team>()
  @ManyToMany(() => Team, 'links', { attributes: () => Since }) friends = collection<Team, Since>()
  @ManyToMany(() => Team, { through: () => Tie }) tied = collection<Team, Tie>()
  @OneToOne(() => Team, 'captain') captainOf = ref<Team>()
}

@Record({ set: 'act-tie', key: '{a}:{b}' })
export class Tie {
  @ManyToOne(() => Team, 'ties') a = ref<Team>()
  @ManyToOne(() => Member, 'tied') b = ref<Member>()
}

export const CLASSES = [Team, Member, Tie]
export const IDS = [1, 2, 3]
export const REFS = ['plain', 'indexed', 'apart', 'sharded', 'growing'] as const
export const LISTS = ['fans', 'friends', 'tied'] as const
export const SIDES = {
  plains: 'plain',
  indexeds: 'indexed',
  aparts: 'apart',
  shardeds: 'sharded',
  growings: 'growing',
  likes: 'fans',
  links: 'friends',
  ties: 'tied',
} as const
export type Many = keyof typeof SIDES
export const MANY = Object.keys(SIDES) as Many[]

export const since = (year: number): Since => Object.assign(new Since(), { year })
export const line = (id: string, who: Member): Line => {
  const made = Object.assign(new Line(), { id })
  made.who.set(who)
  return made
}

/** The other side of a relation: a reference, or a collection as well. */
export const otherSide = (member: Member, many: Many): Ref<Team> | Collection<Team, object> => member[SIDES[many]]

export async function storeAll(db: Database): Promise<void> {
  await db.withSession((session) => {
    for (const id of IDS) {
      session.create(Team, { id })
      session.create(Member, { id })
    }
  })
}
