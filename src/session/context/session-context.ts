import type { CallOptions, TransactionHandle } from '../../driver/outcome.js'
import type { Driver } from '../../driver/driver.js'
import type { WorkCount } from './activity.js'
import type { KeyValue } from '../../keys/index.js'
import type { DeletedMode } from '../../model/index.js'
import type { IdentityMap } from '../tracking/identity-map.js'
import type { ManagedEntity } from '../tracking/managed-entity.js'
import type { ReadBatcher } from '../load/read-batcher.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import type { TransactionMode } from './open-options.js'

/** State that the parts of one session share. */
export interface SessionContext {
  readonly driver: Driver
  readonly classes: MappedClasses
  readonly identity: IdentityMap
  /** Counts the session's work, so that closing the database waits for it. */
  readonly activity: WorkCount
  /** Counts its reads, which may begin while the database closes: work that is under way may need them. */
  readonly reading: WorkCount
  /** Collects the reads that all sessions of the database ask for in one tick. */
  readonly tick: ReadBatcher
  /** Everything this session reads and writes takes part in it. */
  readonly transaction: TransactionHandle | undefined
  /** In a transaction: what has to be put back in memory when it fails. */
  readonly undo?: (() => void)[]
  /** In a transaction that its user began: index queries, which take no part in it, are refused unless asked for. */
  readonly refusesQueries?: boolean
  /** Use of transactions by a flush that is not told. */
  readonly transactions: TransactionMode
  /** Checks class-validator's rules before anything is sent. */
  readonly validate: boolean
  /** Finds entities that are not where their class says: in the archive, or outside of it. */
  readonly elsewhere?: FindElsewhere
  /** Names whoever changes something, for histories. */
  readonly actor?: Actor
}

type FindElsewhere = (
  name: string,
  keys: readonly KeyValue[],
  along: readonly string[] | undefined,
  deleted: DeletedMode | undefined,
) => Promise<readonly (ManagedEntity | null)[]>

export type Actor = () => string | undefined

export const callOptions = ({ transaction }: SessionContext, signal?: AbortSignal): CallOptions => ({
  transaction,
  signal,
})
