import type { SkeinError } from '../errors/index.js'
import type { Bins, DeleteCommand, WriteCommand } from './command.js'

/** A record as it was read. */
export interface StoredRecord {
  readonly bins: Bins
  readonly generation: number
  /** Seconds until the record expires; `null` when it never does. */
  readonly ttl: number | null
}

/** A record as a query found it. */
export interface FoundRecord extends StoredRecord {
  readonly digest: Uint8Array
}

/** Reason why nothing was written, for callers to branch on; `error` has the details. */
export type Reason =
  /** No such record exists (for a delete: none existed). */
  | 'missing'
  /** The record must not exist, but does. */
  | 'exists'
  /** A guard did not hold. */
  | 'guard'
  /** The generation was another one. */
  | 'generation'
  /** A nested part that the command changes is gone. */
  | 'partMissing'
  | 'tooLarge'
  /** The call was aborted, or an earlier part of it failed, before this command was sent. */
  | 'notSent'
  /** Time-outs, overload, lost connections: a later attempt may succeed. */
  | 'unavailable'
  /** The transaction conflicted with another one or has expired: repeat all of it. */
  | 'conflict'
  /** The transaction around the command was rolled back. */
  | 'undone'
  /** The transaction failed, and its rollback was not confirmed: the server rolls it back when it times out. */
  | 'abandoned'
  /** Written, then rolled back, because a related change could not be written. */
  | 'rolledBack'
  | 'refused'

/** Outcome of one write or delete. */
export interface Outcome {
  readonly command: WriteCommand | DeleteCommand
  readonly state: 'written' | 'notWritten' | 'inDoubt'
  /** Results of the command's read operations, by bin or result name. */
  readonly bins: Bins
  /** The record's generation after the write, where the server tells it. */
  readonly generation?: number
  /** The bytes of the record after the write, or the most they can be, when the command watches its size. */
  readonly size?: number
  /** Members after the write of each list or map that the command adds to, when it watches its size. */
  readonly members?: { readonly [bin: string]: number }
  /** Number of times that the record was busy before. */
  readonly busy?: number
  /** Set unless `state` is `written`. */
  readonly reason?: Reason
  readonly error?: SkeinError
  /** Set where the command was written with other changes of the record than the one that is not done. */
  readonly isPartlyWritten?: true
}

/** True where the removal took effect, or there is no record to remove from. */
export const isWrittenOrMissing = ({ state, reason }: Pick<Outcome, 'state' | 'reason'>): boolean =>
  state === 'written' || reason === 'missing'

/** True where the record is gone, or is not as the condition of the command says: others have been faster. */
export const isOvertaken = ({ reason }: Pick<Outcome, 'reason'>): boolean => reason === 'missing' || reason === 'guard'
