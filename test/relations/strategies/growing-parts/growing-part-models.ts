import {
  Bin,
  CountOf,
  Counter,
  Embeddable,
  Key,
  ManyToOne,
  OneToMany,
  Record,
  Sharded,
  collection,
  ref,
  type Database,
} from 'skein'

export const SHARDS = 4

@Record({ set: 'gpwriter' })
export class Writer {
  @Key() id!: number
}

@Embeddable()
export class Remark {
  @Key() id!: string
  @Bin() text!: string
  @Bin() at?: Date
  @Counter() likes = 0
  @Bin({ type: { list: 'string' } }) tags: string[] = []
  @Bin({ type: 'double' }) weight = 2
  @ManyToOne(() => Writer) author = ref<Writer>()
}

@Embeddable()
export class Score {
  @Key() player!: number
  @Bin() points!: number
  @Bin() name?: string
  @ManyToOne(() => Writer) author = ref<Writer>()
}

/** A class that keeps its children in its own record, until there are too many. */
@Record({ set: 'gpthread' })
export class Thread {
  @Key() id!: string
  @Bin() title?: string
  @Sharded({ by: 'hash', shards: SHARDS, when: { members: 20 } })
  @OneToMany(() => Remark, { strategy: 'consolidate', orders: { recent: ['at'] } })
  remarks = collection<Remark>()
  @Sharded({ by: 'hash', shards: SHARDS, when: { bytes: 4_000 }, subkeys: 'scoresIn' })
  @OneToMany(() => Score, {
    strategy: 'consolidate',
    sortKey: ['points'],
    orders: { named: ['name'] },
    inverseIndex: { author: { name: 'scoredBy', onTargetDelete: 'delete' } },
  })
  scores = collection<Score>()
}

/** Counts its children as well, and is split by calls. */
@Record({ set: 'gpmatch' })
export class Match {
  @Key() id!: string
  @CountOf('scores') scoreCount = 0
  @Sharded({ by: 'hash', shards: SHARDS, when: {} })
  @OneToMany(() => Score, {
    strategy: 'consolidate',
    sortKey: ['points'],
    orders: { named: ['name'] },
    inverseIndex: { author: { name: 'scoredBy', onTargetDelete: 'delete' } },
  })
  scores = collection<Score>()
}

/** Is split by calls, and where its record is full. */
@Record({ set: 'gpboard' })
export class Board {
  @Key() id!: string
  @Sharded({ by: 'hash', shards: 2, when: {} })
  @OneToMany(() => Remark, { strategy: 'consolidate' })
  notes = collection<Remark>()
}

export const GROWING_PART_CLASSES = [Board, Writer, Thread, Match]

export const remark = (id: string, text = id, at?: number): Remark =>
  Object.assign(new Remark(), { id, text, ...(at === undefined ? {} : { at: new Date(at) }) })
export const score = (player: number, points: number, name?: string, author?: number): Score => {
  const made = Object.assign(new Score(), { player, points, ...(name === undefined ? {} : { name }) })
  if (author !== undefined) made.author.set(author)
  return made
}
export const match = (id: string, ...scores: Score[]): Match => {
  const made = Object.assign(new Match(), { id })
  made.scores.add(...scores)
  return made
}
export const thread = (id: string, ...remarks: Remark[]): Thread => {
  const made = Object.assign(new Thread(), { id })
  made.remarks.add(...remarks)
  return made
}

/** Owners with scores by a writer, as the inverse index finds them. */
export async function scoredBy(db: Database, owner: typeof Thread | typeof Match, writer: number): Promise<string[]> {
  const found: string[] = []
  for await (const { id } of db.session().pointingTo<Thread | Match>(owner, 'scores.author', writer)) found.push(id)
  return found.sort()
}
