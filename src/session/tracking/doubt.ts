import type { Snapshot } from '../../codec/index.js'
import type { Outcome } from '../../plan/outcome.js'
import type { SentWrite } from './sent-write.js'

/** A write whose answer was lost: until it is found out, or the same is sent again, what it changed is not known to be as in the snapshot. */
export interface WriteDoubt {
  readonly command: Outcome['command']
  readonly write: SentWrite
  /** The entity as it was sent. */
  readonly sent: Snapshot
  /** Properties that handles have changed since: their recorded changes say all that is to be sent. */
  readonly recorded: ReadonlySet<string>
  /** The write would give the record another time to live. */
  readonly isTtlSent: boolean
  /** Takes over the write as if it had just been confirmed. */
  readonly confirm: (outcome: Outcome) => void
}

/** A delete whose answer was lost. */
interface DeleteDoubt {
  readonly command: Outcome['command']
  /** Write that was in doubt before. */
  readonly before: WriteDoubt | undefined
}

export type Doubt = WriteDoubt | DeleteDoubt

export const isOfWrite = (doubt: Doubt): doubt is WriteDoubt => 'confirm' in doubt
