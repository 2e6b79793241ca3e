import type { CallOptions, TransactionHandle } from '../../driver/outcome.js'
import type { Driver } from '../../driver/driver.js'
import { driverOf } from '../../driver/events.js'
import type { WorkCount } from './activity.js'
import type { IdentityMap } from '../tracking/identity-map.js'
import type { ReadBatcher } from '../load/read-batcher.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import type { TransactionMode } from './open-options.js'

/** State that the parts of one session share. */
export interface SessionContext {
  readonly driver: Driver
  readonly classes: MappedClasses
  readonly identity: IdentityMap
  /** Counts the session's work, so that closing the database waits for it. */
  readonly activity: WorkCount
  /** Counts its reads, which may begin while the database closes: work that is under way may need them. */
  readonly reading: WorkCount
  /** Collects the reads that all sessions of the database ask for in one tick. */
  readonly tick: ReadBatcher
  /** Everything this session reads and writes takes part in it. */
  readonly transaction: TransactionHandle | undefined
  /** In a transaction: what has to be put back in memory when it fails. */
  readonly undo?: (() => void)[]
  /** In a transaction that its user began: index queries, which take no part in it, are refused unless asked for. */
  readonly refusesQueries?: boolean
  /** How a flush uses transactions when it is not told. */
  readonly transactions: TransactionMode
  /** Checks class-validator's rules before anything is sent. */
  readonly validate: boolean
  /** Names whoever changes something, for histories. */
  readonly actor?: Actor
}

export type Actor = () => string | undefined

export const callOptions = ({ transaction }: SessionContext, signal?: AbortSignal): CallOptions => ({
  transaction,
  signal,
})

/**
 * Context whose driver names the session in events while somebody listens. A class, because an accessor in an object literal costs each
 * session a microsecond; a copy of it must name the driver, which is not its own property.
 */
export class NamedContext implements SessionContext {
  readonly #driver: Driver
  readonly classes: MappedClasses
  readonly identity: IdentityMap
  readonly activity: WorkCount
  readonly reading: WorkCount
  readonly tick: ReadBatcher
  readonly transaction: TransactionHandle | undefined
  readonly undo: (() => void)[] | undefined
  readonly refusesQueries: boolean | undefined
  readonly transactions: TransactionMode
  readonly validate: boolean
  readonly actor: Actor | undefined

  constructor(driver: Driver, parts: Omit<SessionContext, 'driver'>) {
    this.#driver = driver
    this.classes = parts.classes
    this.identity = parts.identity
    this.activity = parts.activity
    this.reading = parts.reading
    this.tick = parts.tick
    this.transaction = parts.transaction
    this.undo = parts.undo
    this.refusesQueries = parts.refusesQueries
    this.transactions = parts.transactions
    this.validate = parts.validate
    this.actor = parts.actor
  }

  get driver(): Driver {
    return driverOf(this.#driver, this.identity.session)
  }
}
