import type { EntityModel } from '../../model/index.js'
import type { Guard } from '../../plan/command.js'
import type { RecordKey } from '../../plan/record-key.js'

/** `new`: not stored yet, as far as the session knows. `removed`: to be deleted by the next flush. `gone`: no longer managed. */
export type TrackedState = 'new' | 'stored' | 'removed' | 'gone'

/** An entity that a session manages, as those see it that take part in saving, deleting and loading it. */
export interface Tracked {
  readonly entity: object
  readonly model: EntityModel
  readonly key: RecordKey
  readonly state: TrackedState
  /** State as people see it: without the marks of an `explain` that is under way. */
  readonly shownState?: TrackedState
  /** Known by its key alone: nothing of its record was read. */
  readonly isUnread: boolean
  /** Known by its key alone, and made by its first write where it is missing. */
  readonly createsRecord?: boolean
  /** True when whatever is stored becomes what the entity is. */
  readonly overwrite?: boolean
  /** Conditions on its record without which it is not deleted. */
  readonly deleteGuards: readonly Guard[]
  /** Tells the session that one of its relations may lead to others than before; does nothing where no session manages it. */
  relinked?(): void
}
