import type { RecordChange } from '../journal/entry.js'
import { nowMillis } from './clock.js'
import type { RecordState } from './record-state.js'

/** Provisional write of a transaction; `state` is undefined where it deleted the record. */
interface Provisional {
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

/** A client transaction, from the first write of its monitor until it is closed. */
export class Transaction {
  /** Set once the client has marked the commit; from then on it can only go forward. */
  committing = false
  /** The digests announced on the monitor. */
  readonly announced = new Set<string>()
  /** The records it holds. Found here and never from what was announced: the client's batch writes announce wrongly. */
  readonly held = new Set<Slot>()

  constructor(
    readonly id: string,
    readonly monitorKey: string,
    /** Seconds since 2010. */
    readonly deadline: number,
    readonly expiresAt: number,
  ) {}

  /** Provisional state that it holds ready. */
  get changes(): RecordChange[] {
    return [...this.held].map(({ digest, provisional }) => ({ digest, state: provisional?.state }))
  }

  get expired(): boolean {
    return nowMillis() > this.expiresAt
  }
}
