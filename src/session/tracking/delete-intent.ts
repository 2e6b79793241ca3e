import type { BinGuard } from '../../plan/command.js'
import type { PendingDelete } from './pending-delete.js'

/** Conditions of the delete of one entity. Present exactly while its state is `removed`, and replaced as a whole. */
export interface DeleteIntent {
  /** Number of the last call that asked for the delete; 0: only a cascade did. */
  readonly asked: number
  /** Deletes under way that have marked the entity; undefined where only `remove` or a cascade has. */
  readonly pending: PendingDelete | undefined
  /** Deletes the record whatever its version. */
  readonly ignoresVersion: boolean
  /** Deletes the entity as an orphan, and only while this holds of its record. */
  readonly orphanGuard: BinGuard | undefined
  /** Finishes a delete that was cut off, and only while the record is marked. */
  readonly resumes: boolean
  /** A part of it is done, such as references that are gone: it is to be finished. */
  readonly isBegun: boolean
}

/** Conditions that a caller may set. */
export type DeleteConditions = Partial<Pick<DeleteIntent, 'ignoresVersion' | 'orphanGuard' | 'resumes'>>

export const NO_INTENT: DeleteIntent = Object.freeze({
  asked: 0,
  pending: undefined,
  ignoresVersion: false,
  orphanGuard: undefined,
  resumes: false,
  isBegun: false,
})

let calls = 0

/** Numbers the calls that ask for a delete, so that an earlier one is told from a later one. */
export const nextCall = (): number => ++calls
