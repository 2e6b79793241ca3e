import type { AerospikeClient } from '../../driver/aerospike-client.js'
import type { Capabilities } from '../../driver/capabilities.js'
import { truncateSets } from '../../driver/truncate.js'
import type { Tenant } from '../../keys/index.js'
import type { EntityClass, Model, OutsideTransaction, SliceParts } from '../../model/index.js'
import type { IndexesOf } from '../../query/index-diff.js'
import { Indexes } from '../../query/indexes.js'
import { Copies } from '../copies/copies.js'
import { Layout } from '../layout/layout.js'
import { DatabaseQuery } from '../../query/database-query.js'
import type { Finding } from '../../relations/contract/finding.js'
import { during } from '../context/activity.js'
import { checkQueryOptions, checkTenant } from '../context/check-arguments.js'
import { finishDelete } from '../delete/finish-delete.js'
import { refuseInTransaction } from '../transaction/transaction-scope.js'
import { unmanagedRead, type ReadOptions } from '../load/unmanaged-read.js'
import { checkSlices, keysCovering, TimeSlices, type SliceOptions } from '../load/time-slices.js'
import { UnmanagedSource } from '../query/unmanaged-source.js'
import type { Session } from '../session.js'
import type { SessionContext } from '../context/session-context.js'
import { closedWithin, sharedSet } from '../context/session-errors.js'
import { isInsideHookOf } from '../tracking/lifecycle-hooks.js'
import type { KeyInput } from '../context/session-types.js'
import { verifiedClasses } from '../archive/archived.js'
import { archiveClass, checkArchiveOptions, type ArchiveOptions } from '../archive/archive-class.js'
import { purgeLinks } from '../delete/purge-links.js'
import { checkPurgeOptions, purgeClass, type PurgeOptions } from '../delete/purge.js'
import { sweepClass } from '../delete/sweep.js'
import type { TransactionOptions } from '../transaction/retry-transaction.js'
import type { FinishDelete } from '../verify/verify-access.js'
import { verifySets, type VerifySetOptions } from '../verify/verify-set.js'
import type { DatabaseQueryOptions, DrainOptions, SessionOptions } from '../context/option-types.js'
import type { DatabaseParts } from './database-parts.js'
import { SessionFactory, type Activity } from './session-factory.js'

/**
 * An open database: makes sessions. One for each process is enough.
 *
 * @example
 * const db = await open({ embedded: true, namespace: 'test', entities: [Agent] })
 * await db.withSession(async (session) => { … })
 * await db.close()
 */
export class Database {
  /** The secondary indexes that the model needs. */
  readonly indexes: Indexes
  /** Properties that are copied from other records. */
  readonly copies: Copies
  /** The order of stored lists and maps, against what the classes declare. */
  readonly layout: Layout
  readonly #parts: DatabaseParts
  readonly #sessions: SessionFactory
  readonly #activity: Activity
  #closing: Promise<void> | undefined

  /** @internal */
  constructor(parts: DatabaseParts) {
    this.#parts = parts
    this.#sessions = new SessionFactory(parts)
    this.#activity = this.#sessions.activity
    const { classes, driver } = parts
    const indexesOf: IndexesOf = (entity) => classes.indexesOf(entity)
    this.indexes = new Indexes(driver, classes.model, indexesOf, (work) => during(this.#activity, work))
    this.copies = new Copies(driver, classes, (work) => during(this.#activity, work))
    this.layout = new Layout(driver, classes, (work) => during(this.#activity, work))
  }

  get model(): Model {
    return this.#parts.classes.model
  }

  /** Capabilities of the server: edition, build, and for each namespace strong consistency, expiry and size of records. */
  get capabilities(): Capabilities {
    return this.#parts.driver.capabilities
  }

  /** The official client, for what Skein does not cover. */
  get client(): AerospikeClient {
    return this.#parts.driver.client
  }

  session(options?: SessionOptions): Session {
    return this.#sessions.session(options)
  }

  /**
   * Runs the function with a session whose reads and writes are one transaction: all of them happen, or none. On a conflict with another
   * transaction it runs again, with a fresh session, so it should do nothing else that must not happen twice. What is still to be
   * sent when it returns is flushed; if it throws, everything is undone and its error is thrown on.
   *
   * @example
   * await db.transaction(async (session) => {
   *   const [from, to] = await session.loadMany(Account, [1, 2])
   *   from.balance -= 10
   *   to.balance += 10
   * })
   */
  async transaction<T>(
    work: (session: Session) => Promise<T> | T,
    options?: TransactionOptions & SessionOptions,
  ): Promise<T> {
    return this.#sessions.transaction(work, options)
  }

  /** Runs the function with a session of its own. What is still to be sent when it returns is flushed; if it throws, nothing more is sent. */
  async withSession<T>(work: (session: Session) => Promise<T> | T, options?: SessionOptions): Promise<T> {
    return this.#sessions.withSession(work, options)
  }

  /** Plain instances in the order of the keys, null where there is none. No session manages them: the cheapest way to read. */
  async read<T extends object>(
    entityClass: EntityClass<T>,
    keys: readonly KeyInput<T>[],
    options?: ReadOptions<T>,
  ): Promise<(T | null)[]> {
    const { classes, driver } = this.#parts
    return unmanagedRead(classes.of(entityClass), keys, classes, driver, options)
  }

  /**
   * Reads the slices of a class with a date in its key, in the order of time, without a session: those that are stored of the hours, days or months
   * from `from` up to but not including `to`. Awaited, it gives all of them; iterated over, it reads 1,000 at a time and holds no more.
   *
   * @example
   * for await (const day of db.slices(SensorDay, { sensor: 7 }, { from, to, only: ['samples'] })) console.log(day.samples)
   */
  slices<T extends object>(entityClass: EntityClass<T>, parts: SliceParts<T>, range: SliceOptions<T>): TimeSlices<T> {
    checkSlices(range)
    const keys = keysCovering(this.#parts.classes.of(entityClass), parts, range, checkTenant(range?.tenant))
    const { only, tenant, signal } = range
    const options = { only, tenant, signal }
    return new TimeSlices(keys, (some) => this.read(entityClass, some as readonly KeyInput<T>[], options))
  }

  /**
   * A query for the records of a class, by conditions; no session manages what it finds.
   *
   * @example
   * const cheap = await db.query(Listing).where({ city: 'Bern', price: { lt: 500 } }).toArray()
   */
  query<T extends object>(entityClass: EntityClass<T>, options: DatabaseQueryOptions = {}): DatabaseQuery<T> {
    const { classes, driver, validate } = this.#parts
    checkQueryOptions(options)
    const openSession = (tenant: Tenant | undefined): Session => this.#sessions.inside({ tenant })
    const own = { activity: this.#activity, validate, openSession }
    return new DatabaseQuery<T>(new UnmanagedSource<T>(classes.of(entityClass), classes, driver, own, options))
  }

  /** Queries all records of a class, or of a tenant: no index is needed, and the whole set is read. */
  scan<T extends object>(entityClass: EntityClass<T>, options?: DatabaseQueryOptions): DatabaseQuery<T> {
    return this.query(entityClass, options).scan()
  }

  /** Deletes all records of the class's set at once. Sessions do not notice: clear them. */
  async truncate(entityClass: EntityClass, options?: OutsideTransaction): Promise<void> {
    refuseInTransaction('truncate', options)
    const mapped = this.#parts.classes.of(entityClass)
    if (mapped.model.base !== undefined) throw sharedSet(mapped)
    const counters = mapped.shards?.counters ?? []
    const sets = [mapped.model.set, ...counters.map(({ set }) => set), ...mapped.companionSets]
    await during(this.#activity, () => truncateSets(this.client, mapped.model, sets))
  }

  /**
   * Streams the records of a class, or of several, and finds where the links they store disagree with the records at their other ends. With
   * `repair: true` the side that is not the owner is brought in line.
   *
   * @example
   * for await (const finding of db.verify([Agent, Listing], { repair: true })) console.log(finding.message, finding.state)
   */
  async *verify(
    entityClass: EntityClass | readonly EntityClass[],
    options: VerifySetOptions = {},
  ): AsyncGenerator<Finding, void, undefined> {
    refuseInTransaction('verify', options)
    checkTenant(options.tenant)
    const { driver } = this.#parts
    const given = [entityClass].flat().map((each) => this.#parts.classes.of(each))
    const classes = verifiedClasses(this.#parts.classes, given, options.from)
    const sets = given.map(({ model }) => classes.of(model.name))
    const finish: FinishDelete = (marked, key) =>
      finishDelete(classes.of(marked), key, this.#sessions.contextInside({ tenant: options.tenant }))
    const findings = verifySets(sets, classes, driver, options, finish)
    // Only its steps are waited for: whoever closes the database between two findings would wait for itself.
    const next = (): ReturnType<typeof findings.next> => during(this.#activity, () => findings.next())
    try {
      for (let step = await next(); step.done !== true; step = await next()) yield step.value
    } finally {
      await findings.return(undefined)
    }
  }

  /**
   * Finishes deletes of this class, and splits of its collections, that a crash has cut off; says how many. Safe at any time, also while others delete and add. With a tenant,
   * only its own; a class whose tenant only stands in front of the key needs one.
   */
  async sweep(
    entityClass: EntityClass,
    options: SessionOptions & DrainOptions & OutsideTransaction = {},
  ): Promise<number> {
    refuseInTransaction('sweep', options)
    checkTenant(options.tenant)
    const mapped = this.#parts.classes.of(entityClass)
    const newContext = (tenant?: Tenant): SessionContext => this.#sessions.contextInside({ ...options, tenant })
    const { deletes, moves } = await during(this.#activity, () =>
      sweepClass(mapped, this.#parts.driver, newContext, options),
    )
    return deletes + moves
  }

  /**
   * Removes the records of a class with `@DeletedAt` for good that were deleted before a time, with the links to them; says how many. Safe
   * at any time, and can be repeated: what is restored meanwhile stays. With `links`, removes the links of a relation that were ended before
   * then.
   *
   * @example
   * await db.purge(Order, { olderThan: new Date(Date.now() - 30 * 86_400_000) })
   */
  async purge(entityClass: EntityClass, options: PurgeOptions & OutsideTransaction): Promise<number> {
    refuseInTransaction('purge', options)
    const mapped = this.#parts.classes.of(entityClass)
    checkPurgeOptions(mapped, options)
    const newContext = (tenant?: Tenant): SessionContext => this.#sessions.contextInside({ tenant })
    const { classes, driver } = this.#parts
    return during(this.#activity, () =>
      options.links === undefined
        ? purgeClass(mapped, driver, newContext, options)
        : purgeLinks(mapped, classes, driver, options),
    )
  }

  /**
   * Moves the records of a class whose time lies before another one to its archive; says how many. Safe at any time, and can be repeated.
   *
   * @example
   * await db.archive(Order, { olderThan: new Date(Date.now() - 365 * 86_400_000), by: 'paidAt' })
   */
  async archive(entityClass: EntityClass, options: ArchiveOptions): Promise<number> {
    const { classes, driver } = this.#parts
    const mapped = classes.of(entityClass)
    checkArchiveOptions(mapped, classes, options)
    refuseInTransaction('archive', options)
    return during(this.#activity, () => archiveClass(mapped, classes, driver, options))
  }

  /** Waits for what is under way, transactions and `withSession` as a whole, closes the connections and stops the embedded server that `open` started. */
  close(): Promise<void> {
    if (isInsideHookOf(this.#parts.classes.all)) return Promise.reject(closedWithin('A hook'))
    if (this.#sessions.isCalling) return Promise.reject(closedWithin('The function of withSession or transaction'))
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const { driver, stopAfter } = this.#parts
    const closed = this.#activity.close().then(() => driver.close())
    await (stopAfter ? stopAfter(closed) : closed)
  }
}
