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
  /** Number of members moved by the process that ended the move. */
  readonly members: number
  /** All at once, or while others read and wrote. */
  readonly how: 'transaction' | 'steps'
  readonly ms: number
  /** Reason why it did not end; the next writer goes on with it. */
  readonly error?: unknown
}

/** Access to records inside a transaction. */
export interface InsideAccess {
  read(commands: readonly ReadCommand[]): Promise<(StoredRecord | null)[]>
  run(commands: readonly (WriteCommand | DeleteCommand)[]): Promise<Outcome[]>
}

/** Access to records past any transaction, for those who move members. */
export interface SplitAccess extends InsideAccess {
  /** Bytes that a record of the namespace may have. */
  maxRecordSize(namespace: string): number
  /** Records that one transaction may write there; 0 where there are no transactions. */
  mostWrites(namespace: string): number
  /** Does the work in one transaction, repeated after conflicts. False where the work says so, or could not be committed: nothing was written. */
  atOnce(work: (inside: InsideAccess) => Promise<boolean>): Promise<boolean>
  /** Of each record, whether a transaction that is not completed may hold it: it would show former values. */
  areHeld(entity: string, keys: readonly RecordKey[]): Promise<boolean[]>
  announce(done: SplitDone): void
}
