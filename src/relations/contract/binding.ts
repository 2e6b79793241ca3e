import type { DeletedMode, RelationModel } from '../../model/index.js'
import type { Tracked } from './tracked.js'
import type { Reader } from './reader.js'
import type { RelationStrategy } from './relation-strategy.js'

/** Ties a Ref or a Collection to the entity it belongs to and to the session that manages it. */
export interface Binding {
  readonly tracked: Tracked
  readonly relation: RelationModel
  readonly reader: Reader
  readonly strategy: RelationStrategy
  /** The class that has it, where that is not the entity's but that of a part. */
  readonly className?: string
  /** Deleted members that a read is about. */
  readonly deleted?: DeletedMode
  /** Loads it, where it is not a property of the entity itself. */
  readonly load?: () => Promise<unknown>
}
