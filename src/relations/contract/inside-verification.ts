import type { KeyValue } from '../../keys/index.js'
import type { Bins, WriteCommand } from '../../plan/command.js'
import type { Expression } from '../../plan/expression.js'
import type { ReadOperation, WriteOperation } from '../../plan/operation.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { Finding } from './finding.js'
import type { GrowingMembers } from './growing-members.js'

/** Something inside one record that disagrees with something else in it. */
export interface InsideFault extends Pick<Finding, 'kind' | 'repair' | 'error'> {
  readonly property: string
  readonly partKey?: KeyValue
  /** The record that a part points to, as it is stored. */
  readonly other?: { readonly className: string; readonly key: UserKey }
  /** Text that follows the name of the record, without a full stop. */
  readonly says: string
  /** Operations that repair it; none where only people can decide what is right. */
  readonly operations: readonly WriteOperation[]
}

/** A record that a part points to, and what is wrong when there is none. */
export interface InsideRef {
  readonly className: string
  readonly key: KeyValue
  readonly fault: InsideFault
}

/** A part that is in another record than it belongs in, and how to move it. */
export interface MisplacedPart {
  readonly id: KeyValue
  /** The value that chooses the record that it belongs in. */
  readonly route: KeyValue
  /** The record that it belongs in. */
  readonly home: RecordKey
  /** Above 0 where that record has it. */
  readonly holds: Expression
  /** Operations that store it where it belongs, and that take it out of where it is. */
  readonly puts: readonly WriteOperation[]
  readonly removal: readonly WriteOperation[]
}

/** Parts in other records than their owner's. */
export interface PartsApart {
  readonly property: string
  /** Bins of the owner's record that say where its parts are; `learn` takes them over. */
  readonly schemeBins: readonly string[]
  learn(owner: RecordKey, bins: Bins): void
  homes(owner: RecordKey): readonly RecordKey[]
  /** True of an owner whose own record holds its parts. */
  isInOwner?(owner: RecordKey): boolean
  /** Present where parts may move to other records while others ask. */
  readonly growing?: GrowingMembers
  /** Lets parts in again where a delete was cut short. */
  reopening(home: RecordKey): WriteCommand
  /** Parts in a record that belong in another; `bins` are what `reads` has read there. */
  misplacedIn(bins: Bins, from: RecordKey, owner: RecordKey): readonly MisplacedPart[]
  /** Says in the owner's record where its parts are, unless it knows: before the first of those records is made. */
  telling(owner: RecordKey, made: readonly RecordKey[]): WriteCommand
  /** Stores parts in the record that they belong in, which is there or is made. */
  addition(parts: readonly MisplacedPart[], owner: RecordKey, isHomeThere: boolean): WriteCommand
}

/** Verifies what a strategy stores twice in one record. A record is read as a whole, so what it shows at one time must agree. */
export interface InsideVerification {
  readonly reads: readonly ReadOperation[]
  /** Set where other records than the owner's hold the parts: those are read and checked. */
  readonly apart?: PartsApart
  /** `own` is the key of the record as people use it. */
  faultsIn(bins: Bins, own: KeyValue): readonly InsideFault[]
  /** Records that the parts refer to. */
  refsIn(bins: Bins): readonly InsideRef[]
}
