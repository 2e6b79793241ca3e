import { MOVED_BIN } from '../../model/index.js'
import type { Bins } from '../../plan/command.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { RecordKey } from '../../plan/record-key.js'

/** Namespaces between which records are moved. */
export interface Direction {
  readonly from: string
  readonly to: string
  /** The way back never overwrites: where both are, the one outside of the archive is the record. */
  readonly isBack?: true
}

/** A record on its way, which its mover has claimed. */
export interface Moving {
  readonly from: RecordKey
  readonly to: RecordKey
  readonly bins: Bins
  readonly ttl: number | null
  /** Generation of the record since it was claimed. */
  readonly generation: number
  /** Later claims are larger: an older copy never takes the place of a newer one. */
  readonly claim: number
  /** The record that the copy takes the place of. */
  readonly present: StoredRecord | null
}

/** Outcome of a move; one that was overtaken begins again. */
export type Result = 'moved' | 'missing' | 'overtaken'

/** Claim of the mover that has claimed a record last, or 0. */
export const claimOf = (bins: Bins | undefined): number => Number(bins?.[MOVED_BIN] ?? 0)

/** A claim that is later than those of a record and its copy. */
export const claimAfter = (...both: readonly (Bins | undefined)[]): number =>
  Math.max(Date.now(), ...both.map((bins) => claimOf(bins) + 1))
