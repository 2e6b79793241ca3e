import type { Driver } from '../../driver/driver.js'
import { driverOf } from '../../driver/events.js'
import type { TransactionHandle } from '../../driver/outcome.js'
import type { TransactionMode } from '../context/open-options.js'
import type { MappedClasses } from '../mapping/mapped-classes.js'
import { during, type WorkCount } from '../context/activity.js'
import { AwaitedWork } from '../context/awaited-work.js'
import { checkTenant } from '../context/check-arguments.js'
import type { SessionOptions } from '../context/option-types.js'
import type { Actor, SessionContext } from '../context/session-context.js'
import { databaseClosed } from '../context/session-errors.js'
import { ReadBatcher } from '../load/read-batcher.js'
import { Session, type Transact } from '../session.js'
import { IdentityMap } from '../tracking/identity-map.js'
import { inTransaction, type Attempt, type TransactionOptions } from '../transaction/retry-transaction.js'
import { withoutTransactions } from '../transaction/transaction-errors.js'
import { insideTransaction } from '../transaction/transaction-scope.js'
import type { DatabaseParts } from './database-parts.js'
import { SkeinError } from '../../errors/index.js'

const NO_OPTIONS: SessionOptions = Object.freeze({})
const NO_TRANSACTION = Object.freeze({ transaction: undefined })
type Inside = Pick<SessionContext, 'transaction' | 'undo'>
type Work<T> = (session: Session) => Promise<T> | T

/** Counts the work under way in all sessions of a database, so that closing can wait for it. */
export class Activity implements WorkCount {
  #count = 0
  #isClosing = false
  #onIdle: (() => void) | undefined

  /** For what belongs to work that is counted already, and waited for: it may begin also while the database closes. */
  readonly inside: WorkCount = { isClosing: false, begin: () => void this.#count++, end: () => this.end() }

  get isClosing(): boolean {
    return this.#isClosing
  }

  begin(): void {
    if (this.#isClosing) throw databaseClosed()
    this.#count++
  }

  end(): void {
    if (--this.#count === 0) this.#onIdle?.()
  }

  /** Lets nothing new begin; resolves when everything has ended. */
  close(): Promise<void> {
    this.#isClosing = true
    return this.#count === 0 ? Promise.resolve() : new Promise((resolve) => (this.#onIdle = resolve))
  }
}

/**
 * Context whose driver names the session in events while somebody listens. A class, because an accessor in an object literal costs each
 * session a microsecond; a copy of it must name the driver, which is not its own property.
 */
class NamedContext implements SessionContext {
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

/** Makes the sessions of a database, and runs functions with a session or a transaction of their own. */
export class SessionFactory {
  readonly activity = new Activity()
  readonly #parts: DatabaseParts
  readonly #awaited = new AwaitedWork()
  readonly #tick: ReadBatcher
  readonly #transact: Transact
  readonly #transactInside: Transact

  constructor(parts: DatabaseParts) {
    this.#parts = parts
    this.#tick = new ReadBatcher(parts.driver, this.activity.inside)
    this.#transact = (work, options) => this.transaction(work, options)
    this.#transactInside = (work, options) => this.#inTransaction(this.activity.inside, work, options)
  }

  /** True in a function that was given to `withSession` or `transaction`, and in what it calls and awaits. */
  get isCalling(): boolean {
    return this.#awaited.isCalling
  }

  session(options: SessionOptions = NO_OPTIONS): Session {
    if (this.activity.isClosing) throw databaseClosed()
    return this.#session(options, this.activity)
  }

  /** A session for work that closing the database waits for. */
  inside(options: SessionOptions = NO_OPTIONS): Session {
    return this.#session(options, this.activity.inside)
  }

  /** The context of such a session, for work that needs no more of it. */
  contextInside(options: SessionOptions): SessionContext {
    return this.#context(options, this.activity.inside)
  }

  async withSession<T>(work: Work<T>, options?: SessionOptions): Promise<T> {
    return during(this.activity, () => this.#useSession(this.inside(options), work))
  }

  async transaction<T>(work: Work<T>, options?: TransactionOptions & SessionOptions): Promise<T> {
    return this.#inTransaction(this.activity, work, options)
  }

  async #inTransaction<T>(
    activity: WorkCount,
    work: Work<T>,
    options: TransactionOptions & SessionOptions = {},
  ): Promise<T> {
    const { driver, classes } = this.#parts
    const namespace = options.namespace ?? classes.model.namespace
    if (driver.capabilities.namespaces[namespace]?.transactions !== true) throw withoutTransactions(namespace)
    return during(activity, () =>
      insideTransaction(() => inTransaction(driver, () => this.#attempt(work, options), options)),
    )
  }

  #attempt<T>(work: Work<T>, options: SessionOptions): Attempt<T> {
    const undo: (() => void)[] = []
    return {
      run: (transaction) => this.#useSession(this.#session(options, this.activity.inside, { transaction, undo }), work),
      // The latest first: one that was handed in twice goes back to what it was at first.
      undone: () => undo.reverse().forEach((each) => each()),
    }
  }

  async #useSession<T>(session: Session, work: Work<T>): Promise<T> {
    try {
      const result = await this.#awaited.run(() => work(session))
      await session.flush()
      return result
    } finally {
      await session.close()
    }
  }

  #session(options: SessionOptions, activity: WorkCount, inside?: Inside): Session {
    const context = this.#context(options, activity, inside)
    const transact = activity === this.activity ? this.#transact : this.#transactInside
    return this.#parts.stacks ? new TracedSession(context, transact) : new Session(context, transact)
  }

  #context(options: SessionOptions, activity: WorkCount, inside: Inside = NO_TRANSACTION): SessionContext {
    const { driver, classes, validate, transactions, actor } = this.#parts
    const identity = new IdentityMap(classes, options.tenant === undefined ? undefined : checkTenant(options.tenant))
    return new NamedContext(driver, {
      classes,
      activity,
      reading: this.activity.inside,
      tick: this.#tick,
      identity,
      transaction: inside.transaction,
      undo: inside.undo,
      refusesQueries: inside.transaction !== undefined,
      transactions,
      validate: options.validate ?? validate,
      actor,
    })
  }
}

type Call = (this: Session, ...args: unknown[]) => Promise<unknown>

const CALLS = [
  'load',
  'find',
  'loadMany',
  'findMany',
  'linkOf',
  'findPart',
  'loadPart',
  'save',
  'upsert',
  'operate',
  'delete',
  'flush',
  'refresh',
  'transaction',
  'verify',
  'explain',
] as const

/**
 * A session whose errors show where it was called: they are made when the server has answered, and the stack of the caller is gone by
 * then. Looking at the stack costs some microseconds a call, so production does without.
 */
class TracedSession extends Session {}

for (const name of CALLS) {
  const call = Reflect.get(Session.prototype, name) as Call
  const traced: Call = function (...args) {
    const caller: { stack?: string } = {}
    Error.captureStackTrace(caller, traced)
    return call.apply(this, args).catch((error: unknown) => {
      addCaller(error, caller.stack)
      throw error
    })
  }
  Object.defineProperty(TracedSession.prototype, name, { value: traced, writable: true, configurable: true })
}

const seen = new WeakSet<object>()

function addCaller(error: unknown, stack: string | undefined): void {
  if (!(error instanceof SkeinError) || stack === undefined || seen.has(error)) return
  seen.add(error)
  const frames = stack.slice(stack.indexOf('\n') + 1)
  // An error that was thrown at once has the caller in its stack already.
  if (!error.stack?.includes(frames.split('\n')[0])) error.stack = `${error.stack}\n${frames}`
}
