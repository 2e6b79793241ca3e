import type { CallOptions, TransactionHandle } from '../driver/outcome.js'
import type { Driver } from '../driver/driver.js'
import type { Activity } from './activity.js'
import type { IdentityMap } from './identity-map.js'
import type { MappedClasses } from './mapped-classes.js'

/** What the parts of one session share. */
export interface SessionContext {
  readonly driver: Driver
  readonly classes: MappedClasses
  readonly identity: IdentityMap
  readonly activity: Activity
  /** Everything this session reads and writes takes part in it. */
  readonly transaction: TransactionHandle | undefined
  /** Whether class-validator's rules are checked before anything is sent. */
  readonly validate: boolean
}

export const callOptions = ({ transaction }: SessionContext, signal?: AbortSignal): CallOptions => ({
  transaction,
  signal,
})
