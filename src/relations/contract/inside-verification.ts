import type { KeyValue } from '../../keys/index.js'
import type { Bins } from '../../plan/command.js'
import type { ReadOperation, WriteOperation } from '../../plan/operation.js'
import type { UserKey } from '../../plan/record-key.js'
import type { Finding } from './finding.js'

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

/** How a strategy answers for what it stores twice in one record. A record is read as a whole, so what it shows at one time must agree. */
export interface InsideVerification {
  readonly reads: readonly ReadOperation[]
  /** `own` is the key of the record as people use it. */
  faultsIn(bins: Bins, own: KeyValue): readonly InsideFault[]
  /** Records that the parts refer to. */
  refsIn(bins: Bins): readonly InsideRef[]
}
