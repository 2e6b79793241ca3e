import type { Expression } from './expression.js'

/** A condition on the stored record; where it does not hold, nothing is written and the outcome says so. */
export type Guard =
  /** Optimistic lock: the version bin holds this number (`null`: there is no such bin). */
  | { readonly kind: 'version'; readonly bin: string; readonly expected: number | null }
  /** Compare and set: the bin holds this value (`null`: there is no such bin). */
  | {
      readonly kind: 'binEquals'
      readonly bin: string
      readonly expected: null | number | bigint | string | Uint8Array
      /** Says for `explain()` what the value means. */
      readonly meaning?: string
      /** The record is a home of members: a refused command goes elsewhere, so nobody asks which value is stored. */
      readonly isOfHome?: true
    }
  /** With `isGoneUnless`, a record for which it does not hold counts as gone. */
  | {
      readonly kind: 'filter'
      readonly expression: Expression
      readonly isGoneUnless?: true
      /** Holds for records of the class that was asked for, which others of its set are not. */
      readonly isOfClass?: true
      /** Property of which another value is stored where it does not hold: that never changes. */
      readonly immutable?: string
      /** Condition in a command that removes this bin itself: it brings back what was deleted softly. */
      readonly ifRemoved?: { readonly bin: string; readonly guard: Guard }
    }

export type BinGuard = Extract<Guard, { readonly kind: 'binEquals' }>
