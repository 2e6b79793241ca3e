import type { RecordKey } from '../../plan/record-key.js'
import type { MappedClass } from '../mapping/mapped-class.js'

/** Entity or consolidated child that a walk has reached. */
export interface WalkNode {
  /** Identity: equal for the same record or child. */
  readonly id: string
  /** Class that the way here promises; that of the record, for a child inside it. */
  readonly mapped: MappedClass
  readonly key: RecordKey
  readonly part?: object
  /** Nodes of the hop before that lead here. */
  readonly from: WalkNode[]
}
