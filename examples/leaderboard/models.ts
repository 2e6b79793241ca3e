import 'reflect-metadata'
import { Bin, Embeddable, Key, OneToMany, Record, collection } from 'skein'

@Embeddable()
export class Score {
  @Key() player!: string
  @Bin() points!: number
  @Bin() at!: Date
}

/**
 * Scores in the order of their points, then of their time: the server keeps them so, and finds a player by name all the same. A second order,
 * by time alone, is kept beside it.
 */
@Record({ set: 'board' })
export class Leaderboard {
  @Key() game!: string
  @OneToMany(() => Score, {
    strategy: 'consolidate',
    sortKey: ['points', 'at'],
    orders: { recent: ['at'] },
    eager: false,
  })
  scores = collection<Score>()
}

export const score = (player: string, points: number, at: Date): Score =>
  Object.assign(new Score(), { player, points, at })
