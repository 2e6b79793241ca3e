import { readProperty } from '../codec/index.js'
import { NotFoundError } from '../errors/index.js'
import { describeKey, type KeyValue } from '../keys/index.js'
import type { Collection, EntityClass, OutsideTransaction, SliceParts } from '../model/index.js'
import type { Explanation } from '../plan/explain.js'
import { SessionQuery } from '../query/session-query.js'
import { forgetMembers, removalsOf } from '../relations/attach.js'
import { managedOf } from './tracking/identity-map.js'
import type { Finding } from '../relations/contract/finding.js'
import { during, abortableTurn } from './context/activity.js'
import { changesOf } from './flush/collect/describe-changes.js'
import {
  checkAtOptions,
  checkKeys,
  checkLoadOptions,
  checkCallOptions,
  checkOperateOptions,
  checkSessionQueryOptions,
} from './context/check-arguments.js'
import { isDirty } from './flush/collect/collect-changes.js'
import { forgetDetached } from './tracking/unlink-deleted.js'
import { isInsideHook } from './tracking/lifecycle-hooks.js'
import { EntityLoader } from './load/entity-loader.js'
import { RecordHandle } from '../records/record-handle.js'
import { RecordAccess } from './record-access.js'
import { RawCall, type OperateOptions, type OperateResults } from './raw-operate.js'
import type { RawOperation } from '../driver/aerospike-client.js'
import type { ManagedEntity } from './tracking/managed-entity.js'
import type { MappedClass } from './mapping/mapped-class.js'
import { newEntity } from './mapping/new-entity.js'
import { partHome } from './mapping/part-owner.js'
import { pointingTo } from './load/inverse-lookup.js'
import type { SessionContext } from './context/session-context.js'
import {
  databaseClosed,
  insideHook,
  notFound,
  partlyLoaded,
  sessionClosed,
  transactionOver,
} from './context/session-errors.js'
import type {
  AtOptions,
  Changes,
  KeyInput,
  LoadOneOptions,
  LoadOptions,
  NewValues,
  RefreshOptions,
  RelationPath,
  SaveOptions,
  UpsertOptions,
} from './context/session-types.js'
import { ManagedSource } from './query/managed-source.js'
import { checkLoadRange, keysCovering, TimeSlices, type LoadRangeOptions } from './load/time-slices.js'
import { SessionWrites } from './session-writes.js'
import type { TransactionOptions } from './transaction/retry-transaction.js'
import { checkTtl } from './flush/plan/ttl.js'
import { startWalk } from './walk/start-walk.js'
import type { Walk } from './walk/walk.js'
import type { WalkOptions } from './walk/walk-types.js'
import { verifyEntity } from './verify/verify-entity.js'
import type { VerifyOptions } from './verify/verify-options.js'
import { checkExpectedVersion } from './tracking/expected-version.js'
import type { FlushOptions, SessionOptions, SessionQueryOptions } from './context/option-types.js'

/** `db.transaction`, for sessions. */
export type Transact = <T>(
  work: (session: Session) => Promise<T> | T,
  options?: TransactionOptions & SessionOptions,
) => Promise<T>

/**
 * A short-lived unit of work: every entity exists once in it, and what is changed is found and sent by `flush`, or for one entity by
 * `save` and `delete`. Made by `db.session()`.
 *
 * @example
 * const session = db.session()
 * const agent = await session.load(Agent, 17)
 * agent.name = 'Alma'
 * await session.flush()
 */
export class Session {
  readonly #context: SessionContext
  readonly #transact: Transact
  readonly #loads: EntityLoader
  // Made when it is needed: many sessions only load.
  #sessionWork: SessionWrites | undefined
  #closing: Promise<void> | undefined

  /** @internal */
  constructor(context: SessionContext, transact: Transact) {
    this.#context = context
    this.#transact = transact
    this.#loads = new EntityLoader(context)
  }

  /** Number of the session, which events name it by; unique in the process. */
  get id(): number {
    return this.#context.identity.session
  }

  /** A new entity with these values, stored by the next flush. A relation takes an entity or its key, or a list of them. */
  create<T extends object>(entityClass: EntityClass<T>, values: NoInfer<NewValues<T>> = {}): T {
    return this.persist(newEntity(this.#mapped(entityClass), values) as T)
  }

  /** The entity under that key; throws NotFoundError when there is none. */
  load<T extends object>(entityClass: EntityClass<T>, key: KeyInput<T>, options?: LoadOneOptions<T>): Promise<T> {
    if (options?.version !== undefined) return this.#loadSeen(entityClass, key, options)
    // One promise from here to the answer: each one between would cost a single load more than all else that is done for it.
    return new Promise((resolve, failed) => {
      const loaded = (managed: ManagedEntity | null): void =>
        managed === null ? failed(this.#notFound(entityClass, [key])) : resolve(managed.entity as T)
      this.#loads.findOne(this.#toLoad(entityClass), key, options, { loaded, failed })
    })
  }

  async #loadSeen<T extends object>(
    entityClass: EntityClass<T>,
    key: KeyInput<T>,
    options: LoadOneOptions<T>,
  ): Promise<T> {
    const entity = await this.find(entityClass, key, options)
    if (entity === null) throw this.#notFound(entityClass, [key])
    return entity
  }

  /** The entity under that key, or null. */
  find<T extends object>(
    entityClass: EntityClass<T>,
    key: KeyInput<T>,
    options?: LoadOneOptions<T>,
  ): Promise<T | null> {
    if (options?.version !== undefined) return this.#findSeen(entityClass, key, options)
    return new Promise((resolve, failed) => {
      const loaded = (managed: ManagedEntity | null): void => resolve(managed === null ? null : (managed.entity as T))
      this.#loads.findOne(this.#toLoad(entityClass), key, options, { loaded, failed })
    })
  }

  async #findSeen<T extends object>(
    entityClass: EntityClass<T>,
    key: KeyInput<T>,
    { version, ...options }: LoadOneOptions<T>,
  ): Promise<T | null> {
    const entity = await this.find(entityClass, key, options)
    if (entity !== null) checkExpectedVersion(this.#work.entities.get(entity), version)
    return entity
  }

  /** The entities in the order of the keys; throws NotFoundError, which names what is missing. */
  async loadMany<T extends object>(
    entityClass: EntityClass<T>,
    keys: readonly KeyInput<T>[],
    options?: LoadOptions<T>,
  ): Promise<T[]> {
    const found = await this.findMany(entityClass, keys, options)
    if (found.includes(null)) {
      const missing = keys.filter((_, i) => found[i] === null)
      throw this.#notFound(entityClass, missing)
    }
    return found as T[]
  }

  /** The entities in the order of the keys, null where there is none. */
  async findMany<T extends object>(
    entityClass: EntityClass<T>,
    keys: readonly KeyInput<T>[],
    options?: LoadOptions<T>,
  ): Promise<(T | null)[]> {
    checkKeys(keys)
    checkLoadOptions(options)
    const found = await this.#loads.find(this.#toLoad(entityClass), keys, options)
    return found.map((managed) => (managed === null ? null : (managed.entity as T)))
  }

  /**
   * The entities of a class with a date in its key, in the order of time: those that are stored of the slices (hours, days, months) from
   * `from` up to but not including `to`. `parts` are the other parts of the key. Awaited, it gives all of them; iterated over, it reads
   * 1,000 at a time.
   *
   * @example
   * const week = await session.loadRange(SensorDay, { sensor: 7 }, { from: new Date('2024-05-01'), to: new Date('2024-05-08') })
   */
  loadRange<T extends object>(
    entityClass: EntityClass<T>,
    parts: SliceParts<T>,
    range: LoadRangeOptions<T>,
  ): TimeSlices<T> {
    checkLoadRange(range)
    const keys = keysCovering(this.#toLoad(entityClass), parts, range, this.#context.identity.tenant)
    const { only, with: paths, signal, outsideTransaction } = range
    const options = { only, with: paths, signal, outsideTransaction }
    checkLoadOptions(options)
    return new TimeSlices(keys, (some) => this.findMany(entityClass, some as readonly KeyInput<T>[], options))
  }

  /**
   * A record that need not be loaded, by class and key or by a managed entity. Its counters, lists, sets, maps and collections can be
   * asked and changed; the next flush sends the changes. With `create`, a change makes the record where it is missing.
   *
   * @example
   * session.at(User, 'alice').list('log').append('signed in')
   */
  at<T extends object>(entity: T): RecordHandle<T>
  at<T extends object>(entityClass: EntityClass<T>, key: KeyInput<T>, options?: AtOptions): RecordHandle<T>
  at<T extends object>(target: T | EntityClass<T>, key?: KeyInput<T>, options: AtOptions = {}): RecordHandle<T> {
    this.#checkOpen()
    checkAtOptions(options)
    const { reader } = this.#loads
    const { codecs } = this.#context.classes
    if (typeof target !== 'function') {
      const managed = this.#work.entities.get(target)
      return new RecordHandle<T>(
        new RecordAccess(managed.mapped, codecs, reader, () => this.#work.entities.get(target)),
      )
    }
    const mapped = this.#mapped(target)
    const find = (): ManagedEntity => {
      this.#checkOpen()
      const managed = this.#loads.unread(mapped, key!)
      if (options.create === true && managed.stored !== undefined) managed.learn(managed.stored.creating())
      return managed
    }
    return new RecordHandle<T>(new RecordAccess(mapped, codecs, reader, find))
  }

  /**
   * The consolidated child with that id, where the id holds the key of its record: `{regionId}:{storeId}`. Neither the record's other
   * children nor its bins are read.
   */
  async findPart<T extends object>(partClass: EntityClass<T>, id: KeyInput<T>): Promise<T | null> {
    this.#checkMayLoad()
    const { owner, key, relation, id: partId } = partHome(partClass, id, this.#context.classes)
    const [managed] = await this.#loads.find(owner, [key], { only: [] })
    return managed === null ? null : (readProperty(managed.entity, relation) as Collection<T>).get(partId)
  }

  /** The consolidated child with that id; throws NotFoundError when there is none. */
  async loadPart<T extends object>(partClass: EntityClass<T>, id: KeyInput<T>): Promise<T> {
    const part = await this.findPart(partClass, id)
    if (part !== null) return part
    const { owner, id: key } = partHome(partClass, id, this.#context.classes)
    throw new NotFoundError(`There is no ${partClass.name} ${describeKey(key)} in any ${owner.model.name}.`, {
      className: partClass.name,
      key,
    })
  }

  /**
   * The entities whose consolidated children point to the target, found by one index query and streamed: every post where this user
   * commented is `session.pointingTo(Post, 'comments.author', user)`.
   */
  async *pointingTo<T extends object>(
    entityClass: EntityClass<T>,
    path: string,
    target: object | KeyValue,
    options: OutsideTransaction = {},
  ): AsyncGenerator<T> {
    const { model } = this.#mapped(entityClass)
    const reader = this.#loads.readerFor(options)
    for await (const { found } of reader.foundBy(pointingTo(model, path, target, reader))) {
      for (const { entity } of found) yield entity as T
    }
  }

  /**
   * A question for the records of a class, by conditions. What it finds, the session manages: an entity that it already has stays as
   * it is there.
   *
   * @example
   * for await (const listing of session.query(Listing).where({ city: 'Bern' }).with('agent')) listing.price += 10
   */
  query<T extends object>(
    entityClass: EntityClass<T>,
    options: SessionQueryOptions = {},
  ): SessionQuery<T, RelationPath<T>> {
    checkSessionQueryOptions(options)
    const mapped = this.#toLoad(entityClass)
    return new SessionQuery(
      new ManagedSource<T>(mapped, this.#context, this.#loads, () => this.#checkMayLoad(), options),
    )
  }

  /**
   * A way along relations from entities of this session, or from a class and keys: one batch read for each hop, whatever its width. An
   * entity is reached once, at the first hop that leads to it.
   *
   * @example
   * const nearby = await session.walk(alice).out('follows').out('follows', { to: { city: 'Bern' } }).entities()
   */
  walk<T extends object>(start: T | readonly T[], options?: WalkOptions): Walk<T>
  walk<T extends object>(
    entityClass: EntityClass<T>,
    key: KeyInput<T> | readonly KeyInput<T>[],
    options?: WalkOptions,
  ): Walk<T>
  walk<T extends object>(...args: readonly unknown[]): Walk<T> {
    this.#checkMayLoad()
    const checkMayLoad = (): void => this.#checkMayLoad()
    const managed = (entity: object): ManagedEntity => this.#work.entities.get(entity)
    return startWalk<T>({ context: this.#context, loads: this.#loads, checkMayLoad, managed }, args)
  }

  /** Takes a new entity in; the next flush stores it. */
  persist<T extends object>(entity: T, options?: Pick<SaveOptions, 'ttl'>): T {
    checkCallOptions('persist', options)
    const ttl = options?.ttl
    const managed = this.#manage(entity, ttl)
    if (ttl !== undefined) managed.addWriteOptions({ ttl })
    return entity
  }

  /** Marks an entity; the next flush deletes it. */
  remove(entity: object): void {
    this.#checkOpen()
    this.#work.remove(entity)
  }

  /** Stores the entity now: a new one must not exist yet, a loaded one must still exist. Only what changed is sent. */
  save<T extends object>(entity: T, options?: SaveOptions): Promise<T> {
    return new Promise((resolve, failed) => {
      this.#checkMaySend()
      checkCallOptions('save', options)
      const sent = (): void => resolve(entity)
      const ttl = options?.ttl
      const managed = this.#manage(entity, ttl)
      checkExpectedVersion(managed, options?.version)
      const refused = ttl === undefined ? undefined : managed.addWriteOptions({ ttl })
      this.#work.send(managed, options, { sent, failed, refused })
    })
  }

  /** Stores the entity now; whatever is stored under its key becomes this. */
  upsert<T extends object>(entity: T, options?: UpsertOptions): Promise<T> {
    return new Promise((resolve, failed) => {
      this.#checkMaySend()
      checkCallOptions('upsert', options)
      const isForeign = this.#work.entities.find(entity) === undefined
      const { relations } = this.#context.classes.ofEntity(entity)
      const removeAgain = isForeign ? removalsOf(entity, relations) : undefined
      const managed = this.#manage(entity, options?.ttl)
      if (managed.loaded !== undefined) throw partlyLoaded(managed)
      const refused = managed.addWriteOptions({ overwrite: true, ttl: options?.ttl })
      forgetMembers(managed, relations)
      removeAgain?.((member) => managedOf(member)?.home === managed.home)
      this.#work.send(managed, options, { sent: () => resolve(entity), failed, refused })
    })
  }

  /** Deletes now, by entity or by class and key; true when there was a record. */
  delete(entity: object, options?: FlushOptions): Promise<boolean>
  delete<T extends object>(entityClass: EntityClass<T>, key: KeyInput<T>, options?: FlushOptions): Promise<boolean>
  delete(target: object, second?: KeyInput | FlushOptions, third?: FlushOptions): Promise<boolean> {
    return new Promise((deleted, failed) => {
      this.#checkMaySend()
      const receiver = { deleted, failed }
      checkCallOptions('delete', typeof target === 'function' ? third : (second as FlushOptions | undefined))
      if (typeof target !== 'function') this.#work.delete(target, second as FlushOptions | undefined, receiver)
      else this.#work.deleteByKey(this.#mapped(target as EntityClass), second as KeyInput, third, receiver)
    })
  }

  /**
   * Sends operations of the official client to one record now, for what Skein does not cover, and returns their results by bin. They take part
   * in the transaction of the session. What they change in a loaded entity has to be loaded again.
   *
   * @example
   * const { visitors } = await session.operate(Page, '/home', [Aerospike.hll.getCount('visitors')])
   */
  async operate<T extends object>(
    entityClass: EntityClass<T>,
    key: KeyInput<T>,
    operations: readonly RawOperation[],
    options: OperateOptions = {},
  ): Promise<OperateResults> {
    this.#checkMaySend()
    checkOperateOptions(options)
    const mapped = this.#mapped(entityClass)
    const record = mapped.recordKeyOf(key, this.#context.identity.tenant)
    return this.#work.operate(mapped, record, new RawCall(mapped, record, operations, options), options.signal)
  }

  /** Sends everything that changed, as few commands as possible; sends nothing when nothing did. */
  async flush(options?: FlushOptions): Promise<void> {
    this.#checkMaySend()
    checkCallOptions('flush', options)
    const work = (): Promise<void> => this.#work.unit.flush(options)
    await abortableTurn(options?.signal, work, (begin) => this.#work.turns.runAlone(begin))
  }

  /**
   * Runs the function in a transaction: in that of this session, which it then joins, or else in one of its own, with a session of its
   * own, as `db.transaction` does.
   */
  async transaction<T>(work: (session: Session) => Promise<T> | T, options?: TransactionOptions): Promise<T> {
    this.#checkOpen()
    const { transaction, identity, validate } = this.#context
    return transaction === undefined
      ? this.#transact(work, { tenant: identity.tenant, validate, ...options })
      : work(this)
  }

  /** Reads the entity again; what was changed in it and not saved is lost. Completes an entity that was loaded in part. */
  async refresh<T extends object>(entity: T, options: RefreshOptions = {}): Promise<T> {
    this.#checkMaySend()
    checkCallOptions('refresh', options)
    const managed = this.#work.entities.get(entity)
    const { state, deleteIntent, writeOptions } = managed
    const work = async (): Promise<void> => {
      await this.#loads.refresh(managed, writeOptions, options.signal)
      // A delete that has begun is to be finished, and one that was asked for later is still to come.
      const isSame = managed.deleteIntent?.asked === deleteIntent?.asked
      if (state === 'removed' && isSame && !managed.isDeleteBegun) managed.keep()
    }
    await abortableTurn(options.signal, work, (begin) => this.#work.turns.runOn(managed, begin))
    return entity
  }

  /**
   * Checks whether the links that the entity's record stores are the same at their other ends. Looks at what is stored, not at unsaved
   * changes; after a repair, refresh the entity.
   */
  async verify(entity: object, options: VerifyOptions = {}): Promise<Finding[]> {
    this.#checkMaySend()
    checkCallOptions('verify', options)
    const managed = this.#work.entities.get(entity)
    return this.#work.turns.runOn(managed, () => verifyEntity(managed, this.#context, options))
  }

  /** Lets go of an entity: its changes are not sent, and any session may take it in. */
  detach(entity: object): void {
    const managed = this.#work.entities.find(entity)
    if (managed === undefined || this.#work.forgetUnsent(managed)) return
    forgetDetached(managed, this.#context)
    this.#context.identity.remove(managed)
  }

  /** Lets go of all entities. */
  clear(): void {
    this.#context.identity.clear()
  }

  /** True when a save of this entity, or without one a flush, would send something. */
  isDirty(entity?: object): boolean {
    this.#checkOpen()
    if (entity !== undefined) return isDirty(this.#work.entities.get(entity))
    return this.#context.identity.filter(isDirty).length > 0
  }

  /** Changes that a save of this entity would send. */
  changes(entity: object): Changes {
    this.#checkOpen()
    return changesOf(this.#work.entities.get(entity))
  }

  /** Plan of a flush (or of a save of this entity), without sending it and without running hooks. */
  async explain(entity?: object, options?: Pick<FlushOptions, 'transactions'>): Promise<Explanation> {
    this.#checkMaySend()
    checkCallOptions('explain', options)
    const { identity, reading } = this.#context
    const managed = entity === undefined ? undefined : this.#work.entities.get(entity)
    const explain = (): Promise<Explanation> => {
      const members = managed === undefined ? identity.filter(isDirty) : [managed].filter(isDirty)
      return during(reading, () => this.#work.unit.explain(members, options?.transactions))
    }
    // A plan marks what it deletes until it is made, so no other may be made or sent beside it.
    return this.#work.turns.runAlone(explain)
  }

  /** Waits for what is under way and lets go of all entities; what was not flushed is not sent. */
  close(): Promise<void> {
    if (isInsideHook(this.#context.identity)) return Promise.reject(insideHook())
    this.#closing ??= this.#work.turns.idle().then(() => this.#context.identity.close())
    return this.#closing
  }

  #manage(entity: object, ttl: SaveOptions['ttl']): ManagedEntity {
    this.#checkOpen()
    if (ttl !== undefined) checkTtl({ mapped: this.#context.classes.ofEntity(entity) }, ttl)
    return this.#work.entities.manage(entity)
  }

  get #work(): SessionWrites {
    return (this.#sessionWork ??= new SessionWrites(this.#context, this.#loads))
  }

  #mapped(entityClass: EntityClass): MappedClass {
    this.#checkOpen()
    return this.#context.classes.of(entityClass)
  }

  #toLoad(entityClass: EntityClass): MappedClass {
    this.#checkMayLoad()
    return this.#context.classes.of(entityClass)
  }

  #notFound(entityClass: EntityClass, keys: readonly KeyInput[]): NotFoundError {
    const mapped = this.#context.classes.of(entityClass)
    const { scheme } = mapped.codec.key
    return notFound(
      mapped,
      keys.map((key) => scheme.toKey(key, this.#context.identity.tenant)),
    )
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw this.#context.refusesQueries === true ? transactionOver() : sessionClosed()
  }

  /** What a hook loads belongs to work that began before the database was closed. */
  #checkMayLoad(): void {
    this.#checkOpen()
    const { activity, identity } = this.#context
    if (activity.isClosing && !isInsideHook(identity)) throw databaseClosed()
  }

  /** Asked before anything is noted: what is refused leaves nothing behind. A hook would wait for the work that waits for it. */
  #checkMaySend(): void {
    this.#checkOpen()
    if (isInsideHook(this.#context.identity)) throw insideHook()
  }
}
