import type { Collection, OutsideTransaction } from '../../model/index.js'
import type { Where } from '../../query/where.js'
import type { RelatedTo } from '../context/session-types.js'

/** Conditions on the attributes of a link; nothing where links have none. */
type LinkWhere<R> =
  NonNullable<R> extends Collection<infer _T, infer A> ? ([keyof A] extends [never] ? never : Where<A>) : never

/** Options of one hop of a walk. */
export interface HopOptions<T, K extends keyof T> {
  /** Conditions on the attributes of the link; for relations that have some. */
  readonly where?: LinkWhere<T[K]>
  /** Conditions on what the link leads to, as it is stored. */
  readonly to?: Where<RelatedTo<T[K]>>
  /** Follow only the first links of each entity, in the order of the collection. */
  readonly first?: number
  /** Follow only the last links of each entity. */
  readonly last?: number
  /** Continue with at most so many of the entities that meet `to`, however many the hop leads to. */
  readonly limit?: number
}

/** Options of a walk. */
export interface WalkOptions extends OutsideTransaction {
  /** Most entities that the walk may reach, its start among them; 100,000 unless given. One more is an error. */
  readonly max?: number
  /** `'include'`: also reaches and goes on from what was deleted softly. */
  readonly deleted?: 'include'
  /** Gives up waiting; rejects with the signal's reason. */
  readonly signal?: AbortSignal
}

/** Plan of a walk, which is not carried out. */
export interface WalkExplanation {
  /** Each hop in words. */
  readonly hops: readonly string[]
  /** Batches that follow one another, if nothing of it is loaded yet; a batch past its cap goes in chunks. */
  readonly roundTrips: number
  toString(): string
}
