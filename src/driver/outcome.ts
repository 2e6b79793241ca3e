import type { SkeinError } from '../errors/index.js'

export type { FoundRecord, Outcome, Reason, StoredRecord } from '../plan/outcome.js'

/** Outcome of a commit. */
export interface CommitOutcome {
  readonly state: 'committed' | 'aborted' | 'inDoubt'
  /** The server has not confirmed that all records are rolled back or forward: it does so when the transaction times out. */
  readonly isAbandoned?: boolean
  /** Set when not committed. */
  readonly error?: SkeinError
}

/** Options of every call to the driver. */
export interface CallOptions {
  /** The command takes part in this transaction. */
  readonly transaction?: TransactionHandle
  /** Stops waiting commands; what is already sent is waited for. */
  readonly signal?: AbortSignal
}

/** An open transaction, from `begin` to `commit` or `abort`. */
export interface TransactionHandle {
  readonly id: number
  /** The one namespace it works in; known after its first command. */
  readonly namespace: string | undefined
  /** Records written so far. */
  readonly writes: number
  readonly isOpen: boolean
}
