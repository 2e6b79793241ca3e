import type { EntityClass, OutsideTransaction } from '../model/index.js'
import type { Explanation } from '../plan/explain.js'
import { forgetMembers, removalsOf } from '../relations/attach.js'
import { managedOf } from './tracking/identity-map.js'
import type { Finding } from '../relations/contract/finding.js'
import { during, abortableWhileQueued } from './context/activity.js'
import { changesOf } from './flush/collect/describe-changes.js'
import { checkCallOptions, checkOperateOptions, checkRestoreOptions } from './context/check-arguments.js'
import { isDirty } from './flush/collect/collect-changes.js'
import { forgetDetached } from './tracking/unlink-deleted.js'
import { RawCall, type OperateOptions, type OperateResults } from './raw-operate.js'
import type { RawOperation } from '../driver/aerospike-client.js'
import type { ManagedEntity } from './tracking/managed-entity.js'
import { newEntity } from './mapping/new-entity.js'
import type { SessionContext } from './context/session-context.js'
import { partlyLoaded } from './context/session-errors.js'
import type {
  Changes,
  KeyInput,
  NewValues,
  RefreshOptions,
  SaveOptions,
  UpsertOptions,
} from './context/session-types.js'
import type { TransactionOptions } from './transaction/retry-transaction.js'
import { archiveOne, unarchiveOne, type ArchiveOneOptions } from './archive/archive-one.js'
import { notRestorable, restoreEntity } from './delete/restore.js'
import { verifyEntity } from './verify/verify-entity.js'
import type { VerifyOptions } from './verify/verify-options.js'
import { checkExpectedVersion } from './tracking/assigned-values.js'
import type { FlushOptions, SessionOptions } from './context/option-types.js'
import { SessionReads } from './session-reads.js'
import { OneDeleted, OneSent } from './session-writes.js'

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
export class Session extends SessionReads {
  readonly #transact: Transact

  /** @internal */
  constructor(context: SessionContext, transact: Transact) {
    super(context)
    this.#transact = transact
  }

  /** Number of the session, which events name it by; unique in the process. */
  get id(): number {
    return this.core.context.identity.session
  }

  /** A new entity with these values, stored by the next flush. A relation takes an entity or its key, or a list of them. */
  create<T extends object>(entityClass: EntityClass<T>, values: NoInfer<NewValues<T>> = {}): T {
    return this.persist(newEntity(this.core.mapped(entityClass), values) as T)
  }

  /** Takes a new entity in; the next flush stores it. */
  persist<T extends object>(entity: T, options?: Pick<SaveOptions, 'ttl'>): T {
    checkCallOptions('persist', options)
    const ttl = options?.ttl
    const managed = this.core.manage(entity, ttl)
    if (ttl !== undefined) managed.addWriteOptions({ ttl })
    return entity
  }

  /** Marks an entity; the next flush deletes it. */
  remove(entity: object): void {
    this.core.checkOpen()
    this.core.work.remove(entity)
  }

  /** Stores the entity now: a new one must not exist yet, a loaded one must still exist. Only what changed is sent. */
  save<T extends object>(entity: T, options?: SaveOptions): Promise<T> {
    return new Promise((resolve, failed) => {
      this.core.checkMaySend()
      if (options !== undefined) checkCallOptions('save', options)
      const ttl = options?.ttl
      const managed = this.core.manage(entity, ttl)
      if (options?.version !== undefined) checkExpectedVersion(managed, options.version)
      const refused = ttl === undefined ? undefined : managed.addWriteOptions({ ttl })
      this.core.work.send(managed, options, new OneSent(entity, resolve, failed, refused))
    })
  }

  /** Stores the entity now; whatever is stored under its key becomes this. */
  upsert<T extends object>(entity: T, options?: UpsertOptions): Promise<T> {
    return new Promise((resolve, failed) => {
      this.core.checkMaySend()
      if (options !== undefined) checkCallOptions('upsert', options)
      const isForeign = this.core.work.entities.find(entity) === undefined
      const { relations } = this.core.context.classes.ofEntity(entity)
      const removeAgain = isForeign ? removalsOf(entity, relations) : undefined
      const managed = this.core.manage(entity, options?.ttl)
      if (managed.loaded !== undefined) throw partlyLoaded(managed)
      const refused = managed.addWriteOptions({ overwrite: true, ttl: options?.ttl })
      forgetMembers(managed, relations)
      removeAgain?.((member) => managedOf(member)?.home === managed.home)
      this.core.work.send(managed, options, new OneSent(entity, resolve, failed, refused))
    })
  }

  /** Deletes now, by entity or by class and key; true when there was a record. */
  delete(entity: object, options?: FlushOptions): Promise<boolean>
  delete<T extends object>(entityClass: EntityClass<T>, key: KeyInput<T>, options?: FlushOptions): Promise<boolean>
  delete(target: object, second?: KeyInput | FlushOptions, third?: FlushOptions): Promise<boolean> {
    return new Promise((deleted, failed) => {
      this.core.checkMaySend()
      const receiver = new OneDeleted(deleted, failed)
      const options = typeof target === 'function' ? third : (second as FlushOptions | undefined)
      if (options !== undefined) checkCallOptions('delete', options)
      if (typeof target !== 'function') this.core.work.delete(target, options, receiver)
      else this.core.work.deleteByKey(this.core.mapped(target as EntityClass), second as KeyInput, options, receiver)
    })
  }

  /** Moves an entity to the `archive` of its class, by entity or by class and key; true when it was moved. It leaves this session. */
  archive(entity: object, options?: ArchiveOneOptions): Promise<boolean>
  archive<T extends object>(type: EntityClass<T>, key: KeyInput<T>, options?: ArchiveOneOptions): Promise<boolean>
  async archive(target: object, second?: KeyInput | ArchiveOneOptions, third?: ArchiveOneOptions): Promise<boolean> {
    this.core.checkMaySend()
    return archiveOne(this.core, target, second, third)
  }

  /** Moves an archived entity back; true when it was moved. Load it to change it. */
  async unarchive<T extends object>(
    type: EntityClass<T>,
    key: KeyInput<T>,
    options?: ArchiveOneOptions,
  ): Promise<boolean> {
    this.core.checkMaySend()
    return unarchiveOne(this.core, type, key, options)
  }

  /**
   * Restores an entity that was deleted softly, and what its delete took along; it was loaded with `{ deleted: 'include' }`, or is named by
   * class and key. False when it was not deleted.
   *
   * @example
   * await session.restore(Order, 17)
   */
  restore(entity: object, options?: OutsideTransaction): Promise<boolean>
  restore<T extends object>(
    entityClass: EntityClass<T>,
    key: KeyInput<T>,
    options?: OutsideTransaction,
  ): Promise<boolean>
  async restore(target: object, second?: KeyInput | OutsideTransaction, third?: OutsideTransaction): Promise<boolean> {
    this.core.checkMaySend()
    const isByKey = typeof target === 'function'
    const options = isByKey ? third : (second as OutsideTransaction | undefined)
    checkRestoreOptions(options)
    const managed = isByKey
      ? await this.#findDeleted(target as EntityClass, second as KeyInput)
      : this.core.work.entities.get(target)
    const save = (members: readonly ManagedEntity[]): Promise<void> => this.core.work.unit.some(members)
    return this.core.work.queue.runAlone(() => restoreEntity(managed, this.core.loads.readerFor(options ?? {}), save))
  }

  async #findDeleted(entityClass: EntityClass, key: KeyInput): Promise<ManagedEntity> {
    const mapped = this.core.mapped(entityClass)
    if (mapped.model.deletedAt === undefined) throw notRestorable(mapped.model)
    const [managed] = await this.core.loads.find(mapped, [key], { deleted: 'include' })
    if (managed === null) throw this.core.notFound(entityClass, [key])
    return managed
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
    this.core.checkMaySend()
    checkOperateOptions(options)
    const mapped = this.core.mapped(entityClass)
    const record = mapped.recordKeyOf(key, this.core.context.identity.tenant)
    return this.core.work.operate(mapped, record, new RawCall(mapped, record, operations, options), options.signal)
  }

  /** Sends everything that changed, as few commands as possible; sends nothing when nothing did. */
  flush(options?: FlushOptions): Promise<void> {
    return new Promise((sent, failed) => {
      this.core.checkMaySend()
      if (options !== undefined) checkCallOptions('flush', options)
      if (options === undefined && this.core.work.flushHandle({ sent, failed })) return
      const work = (): Promise<void> => this.core.work.unit.flush(options)
      abortableWhileQueued(options?.signal, work, (begin) => this.core.work.queue.runAlone(begin)).then(sent, failed)
    })
  }

  /**
   * Runs the function in a transaction: in that of this session, which it then joins, or else in one of its own, with a session of its
   * own, as `db.transaction` does.
   */
  async transaction<T>(work: (session: Session) => Promise<T> | T, options?: TransactionOptions): Promise<T> {
    this.core.checkOpen()
    const { transaction, identity, validate } = this.core.context
    return transaction === undefined
      ? this.#transact(work, { tenant: identity.tenant, validate, ...options })
      : work(this)
  }

  /** Reads the entity again; what was changed in it and not saved is lost. Completes an entity that was loaded in part. */
  async refresh<T extends object>(entity: T, options: RefreshOptions = {}): Promise<T> {
    this.core.checkMaySend()
    checkCallOptions('refresh', options)
    const managed = this.core.work.entities.get(entity)
    const { state, deleteIntent, writeOptions } = managed
    const work = async (): Promise<void> => {
      await this.core.loads.refresh(managed, writeOptions, options.signal)
      // A delete that has begun is to be finished, and one that was asked for later is still to come.
      const isSame = managed.deleteIntent?.asked === deleteIntent?.asked
      if (state === 'removed' && isSame && !managed.isDeleteBegun) managed.keep()
    }
    await abortableWhileQueued(options.signal, work, (begin) => this.core.work.queue.runOn(managed, begin))
    return entity
  }

  /**
   * Checks whether the links that the entity's record stores are the same at their other ends. Looks at what is stored, not at unsaved
   * changes; after a repair, refresh the entity.
   */
  async verify(entity: object, options: VerifyOptions = {}): Promise<Finding[]> {
    this.core.checkMaySend()
    checkCallOptions('verify', options)
    const managed = this.core.work.entities.get(entity)
    return this.core.work.queue.runOn(managed, () => verifyEntity(managed, this.core.context, options))
  }

  /** Detaches an entity: its changes are not sent, and any session may take it in. */
  detach(entity: object): void {
    const managed = this.core.work.entities.find(entity)
    if (managed === undefined || this.core.work.forgetUnsent(managed)) return
    forgetDetached(managed, this.core.context)
    this.core.context.identity.remove(managed)
  }

  /** Detaches all entities. */
  clear(): void {
    this.core.context.identity.clear()
  }

  /** True when a save of this entity, or without one a flush, would send something. */
  isDirty(entity?: object): boolean {
    this.core.checkOpen()
    if (entity !== undefined) return isDirty(this.core.work.entities.getShown(entity))
    return this.core.context.identity.filter(isDirty).length > 0
  }

  /** Changes that a save of this entity would send. */
  changes(entity: object): Changes {
    this.core.checkOpen()
    return changesOf(this.core.work.entities.getShown(entity))
  }

  /** Plan of a flush (or of a save of this entity), without sending it and without running hooks. */
  async explain(entity?: object, options?: Pick<FlushOptions, 'transactions'>): Promise<Explanation> {
    this.core.checkMaySend()
    checkCallOptions('explain', options)
    const { identity, reading } = this.core.context
    const managed = entity === undefined ? undefined : this.core.work.entities.get(entity)
    const explain = (): Promise<Explanation> => {
      const members = managed === undefined ? identity.filter(isDirty) : [managed].filter(isDirty)
      return during(reading, () => this.core.work.unit.explain(members, options?.transactions))
    }
    // A plan marks what it deletes until it is made, so no other may be made or sent beside it.
    return this.core.work.queue.runAlone(explain)
  }

  /** Waits for what is under way and detaches all entities; what was not flushed is not sent. */
  close(): Promise<void> {
    return this.core.close()
  }
}
