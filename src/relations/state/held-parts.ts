import type { Member } from '../contract/member.js'
import type { REMEMBER } from './remember-fields.js'

/** Members that are parts of the owner's record, kept by the strategy that stores them. */
export interface HeldParts {
  readonly owner: object
  /** All stored parts are known. */
  readonly isLoaded: boolean
  /** Nothing is stored that is not known here. */
  readonly isComplete: boolean
  /** Members of a part, in no order; absent for members of a record. */
  readonly members?: Iterable<object>
  /** Refuses an instance of another class. */
  check(member: Member): void
  include(member: Member): void
  exclude(member: Member): void
  /** Everything that is known to be in the collection, in its order. */
  placed(): readonly { readonly part: object }[]
  /** All of it has to be stored anew, under another session. */
  startAnew(): void
  reset(): void
  /** Returns a function that restores the current state. */
  [REMEMBER](): () => void
}
