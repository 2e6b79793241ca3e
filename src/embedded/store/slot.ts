import type { RecordState } from './record-state.js'
import type { Transaction } from '../transaction/transaction.js'

/** Provisional write of a transaction; `state` is undefined where it deleted the record. */
export interface Provisional {
  readonly transaction: Transaction
  readonly state: RecordState | undefined
}

/** The place of one digest: what is committed, and what a transaction holds ready. */
export class Slot {
  committed: RecordState | undefined = undefined
  provisional: Provisional | undefined = undefined

  constructor(
    readonly digest: Buffer,
    readonly digestKey: string,
    readonly partition: number,
  ) {}
}
