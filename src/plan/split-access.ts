import type { DeleteCommand, ReadCommand, WriteCommand } from './command.js'
import type { Outcome, StoredRecord } from './outcome.js'
import type { RecordKey } from './record-key.js'

/** Members of a collection have moved to other records. */
export interface SplitDone {
  readonly entity: string
  readonly property: string
  readonly owner: RecordKey
  /** Records that held them, and that hold them now; 0: the owner's own. */
  readonly from: number
  readonly to: number
  readonly reason: string
  /** How many were moved by the process that ended the move. */
  readonly members: number
  readonly ms: number
  /** Why it did not end; the next writer goes on with it. */
  readonly error?: unknown
}

/** Access to records past any transaction, for those who move members. */
export interface SplitAccess {
  read(commands: readonly ReadCommand[]): Promise<(StoredRecord | null)[]>
  run(commands: readonly (WriteCommand | DeleteCommand)[]): Promise<Outcome[]>
  /** Bytes that a record of the namespace may have. */
  maxRecordSize(namespace: string): number
  announce(done: SplitDone): void
}
