import type { Driver } from '../../driver/driver.js'
import type { TransactionMode } from '../context/open-options.js'
import type { Actor } from '../context/session-context.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'

/** Parts of a database; put together by `open`. */
export interface DatabaseParts {
  readonly driver: Driver
  readonly classes: MappedClasses
  readonly validate: boolean
  readonly transactions: TransactionMode
  readonly actor?: Actor
  /** True when errors show where the session was called. */
  readonly stacks?: boolean
  /** Ends what was started for this database alone, such as an embedded server. */
  readonly stopAfter?: (work: Promise<void>) => Promise<void>
}
