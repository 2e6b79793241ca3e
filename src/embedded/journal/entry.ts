import type { RecordState } from '../store/record-state.js'

/** A record as it is after a change; without a state it was deleted. */
export interface RecordChange {
  readonly digest: Buffer
  readonly state: RecordState | undefined
}

/** Something that was acknowledged. Each entry is in the file as a whole or not at all. */
export type JournalEntry =
  | { readonly kind: 'records'; readonly namespace: string; readonly changes: readonly RecordChange[] }
  /** `definition` holds the parameters of the info command. */
  | { readonly kind: 'index'; readonly definition: string }
  | { readonly kind: 'no index'; readonly namespace: string; readonly name: string }
  /** By how many milliseconds the clock is ahead. */
  | { readonly kind: 'clock'; readonly offset: number }
