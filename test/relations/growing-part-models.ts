import { Bin, Counter, Embeddable, Key, ManyToOne, OneToMany, Record, Sharded, collection, ref } from 'skein'

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
  @OneToMany(() => Score, { strategy: 'consolidate', sortKey: ['points'], orders: { named: ['name'] } })
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

export const GROWING_PART_CLASSES = [Board, Writer, Thread]

export const remark = (id: string, text = id, at?: number): Remark =>
  Object.assign(new Remark(), { id, text, ...(at === undefined ? {} : { at: new Date(at) }) })
export const score = (player: number, points: number, name?: string): Score =>
  Object.assign(new Score(), { player, points, ...(name === undefined ? {} : { name }) })
export const thread = (id: string, ...remarks: Remark[]): Thread => {
  const made = Object.assign(new Thread(), { id })
  made.remarks.add(...remarks)
  return made
}
