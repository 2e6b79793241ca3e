import type { EntityLoader } from './load/entity-loader.js'
import type { ManagedEntity } from './tracking/managed-entity.js'
import type { MappedClass } from './mapping/mapped-class.js'
import type { SessionContext } from './context/session-context.js'
import { otherClass } from './context/session-errors.js'
import type { KeyInput } from './context/session-types.js'
import type { RecordKey } from '../plan/record-key.js'
import { abortableWhileQueued } from './context/activity.js'
import { deleteBlindly, type DeleteReceiver } from './delete/delete-by-key.js'
import type { DeleteConditions } from './tracking/delete-intent.js'
import { forgetKey, rollbackLinksTo } from './tracking/unlink-deleted.js'
import { executeSingle, type SendReceiver } from './flush/execute/execute-single.js'
import { isInsideHook } from './tracking/lifecycle-hooks.js'
import type { OpenWrites } from './tracking/entity-home.js'
import { mayBeChangedAfter, recordAfter } from './record-after-delete.js'
import { askBetweenWrites } from './tracking/ask-between-writes.js'
import { EntityTracker } from './tracking/entity-tracker.js'
import { WorkQueue } from './tracking/work-queue.js'
import type { OperateResults, RawCall } from './raw-operate.js'
import { UnitOfWork } from './flush/unit-of-work.js'
import type { FlushOptions } from './context/option-types.js'

/** Saves and deletes of single entities, queued per entity. */
export class SessionWrites implements OpenWrites<ManagedEntity> {
  readonly entities: EntityTracker
  readonly queue: WorkQueue
  readonly #context: SessionContext
  readonly #loads: EntityLoader
  #unit: UnitOfWork | undefined

  constructor(context: SessionContext, loads: EntityLoader) {
    this.entities = new EntityTracker(context, loads)
    this.queue = new WorkQueue(context.activity)
    this.#context = context
    this.#loads = loads
    context.identity.writes = this
  }

  get unit(): UnitOfWork {
    return (this.#unit ??= new UnitOfWork({
      context: this.#context,
      entities: this.entities,
      reader: this.#loads.flushReader(this.#context),
      readerIn: (inside) => this.#loads.flushReader(inside),
    }))
  }

  /** Deletes one entity now. */
  delete(
    entity: object,
    options: FlushOptions | undefined,
    { deleted, failed }: DeleteReceiver,
    conditions?: DeleteConditions,
  ): void {
    if (this.#forgetUnsent(entity)) return deleted(false)
    const pending = this.entities.removeNow(entity, conditions).begin()
    const managed = this.entities.get(entity)
    let isRefused = false
    this.send(managed, options, {
      sent: () => deleted(pending.takeWasStored()),
      refused: () => {
        if (isRefused) return
        isRefused = true
        managed.endDelete(pending, true)
      },
      failed: (error) => {
        if (!isRefused) managed.endDelete(pending, false)
        failed(error)
      },
    })
  }

  /** Deletes the record of a key now, whether or not the session has its entity. */
  deleteByKey(mapped: MappedClass, input: KeyInput, options: FlushOptions | undefined, receiver: DeleteReceiver): void {
    const key = mapped.recordKeyOf(input, this.#context.identity.tenant)
    const known = this.#context.identity.get(mapped, key.key)
    if (known !== undefined && !mapped.is(known.entity)) throw otherClass(mapped, known)
    if (known !== undefined && !this.forgetUnsent(known)) {
      this.delete(known.entity, options, receiver, { ignoresVersion: true })
      return
    }
    // Reserves the key: a new entity under it would be mistaken for the one to delete.
    const left = mapped.needsEntityToDelete ? this.#context.identity.leave(mapped, key.key) : undefined
    this.queue.onRecord(key, (end) => {
      if (left !== undefined) {
        // The delete is queued by itself as soon as the entity is loaded.
        this.#deleteLoaded(mapped, key, input, options, receiver, left).catch(receiver.failed).finally(end)
      } else {
        deleteBlindly(mapped, key, this.#context, options?.signal, this.#forgetting(mapped, key, receiver), end)
      }
    })
  }

  async #deleteLoaded(
    mapped: MappedClass,
    key: RecordKey,
    input: KeyInput,
    options: FlushOptions | undefined,
    receiver: DeleteReceiver,
    left: () => void,
  ): Promise<void> {
    const found = await this.#findToDelete(mapped, key, input, options).finally(left)
    if (found === undefined) this.#forgetting(mapped, key, receiver).deleted(false)
    else
      this.delete(
        found.managed.entity,
        options,
        receiver,
        found.isCutOff ? { ignoresVersion: true, purges: true } : undefined,
      )
  }

  async #findToDelete(
    mapped: MappedClass,
    key: RecordKey,
    input: KeyInput,
    options: FlushOptions | undefined,
  ): Promise<{ readonly managed: ManagedEntity; readonly isCutOff: boolean } | undefined> {
    const [managed] = await this.#loads.find(mapped, [input], { ...options, isOwn: true })
    if (managed !== null) return { managed, isCutOff: false }
    const [cutOff] = await this.#loads.cutOff(mapped, [key], options?.signal)
    return cutOff && { managed: cutOff, isCutOff: true }
  }

  /** Forgets links to a record that the session has no entity of: it may be linked to by its key. */
  #forgetting(mapped: MappedClass, key: RecordKey, receiver: DeleteReceiver): DeleteReceiver {
    if (mapped.standsAlone) return receiver
    const deleted = (wasStored: boolean): void => {
      forgetKey(mapped, key, this.#context)
      receiver.deleted(wasStored)
    }
    return { deleted, failed: receiver.failed }
  }

  /** Sends operations of the official client, queued behind other work on their record. */
  operate(mapped: MappedClass, key: RecordKey, call: RawCall, signal?: AbortSignal): Promise<OperateResults> {
    const { identity } = this.#context
    const known = identity.get(mapped, key.key)
    if (known !== undefined && !mapped.is(known.entity)) throw otherClass(mapped, known)
    const work = (): Promise<OperateResults> =>
      call.run(identity.get(mapped, key.key), this.#context, () => this.#loads.reader)
    return abortableWhileQueued(signal, work, (begin) =>
      known === undefined ? this.queue.runOnRecord(key, begin) : this.queue.runOn(known, begin),
    )
  }

  endOfWrite(managed: ManagedEntity): Promise<unknown> | undefined {
    return this.entities.isWriting(managed) ? this.queue.endBefore(managed) : undefined
  }

  between<T>(managed: ManagedEntity, work: () => Promise<T>): Promise<T> {
    return this.queue.runOn(managed, work)
  }

  /** Asks about an entity while no write of it is under way. */
  ask<T>(find: () => ManagedEntity, ask: (managed: ManagedEntity) => Promise<T>): Promise<T> {
    return askBetweenWrites(this, find, ask, {
      deleted: (managed) => this.#endOfDelete(managed),
      // A write that may be done would be shown on top of itself; a new entity shows all by itself.
      resolve: (managed) =>
        managed.doubt !== undefined && managed.state === 'stored' ? this.unit.resolveDoubt(managed) : undefined,
    })
  }

  /** End of a delete of the record that is under way; undefined where none is. */
  #endOfDelete(managed: ManagedEntity): Promise<unknown> | undefined {
    const known = this.#context.identity.get(managed.mapped, managed.key.key)
    if (known !== undefined && this.entities.isDeleting(known)) return this.queue.endBefore(known)
    return this.queue.endOnRecord(managed)
  }

  /** The record as it is after the delete of the entity, where that is under way: what handles change is sent after it. */
  afterDelete(managed: ManagedEntity): ManagedEntity {
    const { identity } = this.#context
    const isAfter = this.entities.isDeleting(managed) && mayBeChangedAfter(managed) && !isInsideHook(identity)
    if (!isAfter) return managed
    return identity.nextOf(managed) ?? recordAfter(managed, identity, this.#loads.hydrator)
  }

  /** Marks an entity to be deleted by the next flush. */
  remove(entity: object): void {
    if (!this.#forgetUnsent(entity)) this.entities.removeAtFlush(entity)
  }

  #forgetUnsent(entity: object): boolean {
    const known = this.entities.find(entity)
    return known !== undefined && this.forgetUnsent(known)
  }

  /** Detaches an entity that was never sent; false for all others. An entity that still links to it would store it after all. */
  forgetUnsent(managed: ManagedEntity): boolean {
    const isForgotten = this.entities.forgetUnsent(managed)
    if (isForgotten) rollbackLinksTo([managed], this.#context)
    return isForgotten
  }

  /** True when a save or delete of the entity is one command and nothing else: no relations, hooks, transaction, doubts or signal. */
  #isSimple({ mapped, doubt }: ManagedEntity, options: FlushOptions | undefined): boolean {
    const { transaction } = this.#context
    return mapped.isSimple && doubt === undefined && transaction === undefined && options?.signal === undefined
  }

  /** Flushes a session that has changed one record through a handle and has nothing else; false for all others. */
  flushHandle({ sent, failed }: { readonly sent: () => void; readonly failed: (error: unknown) => void }): boolean {
    const { sole } = this.#context.identity
    if (sole?.isUnread !== true || sole.state !== 'stored') return false
    if (!this.#isSimple(sole, undefined) || !this.queue.isIdle) return false
    executeSingle(sole, this.#context, this.queue, { sent: () => sent(), failed })
    return true
  }

  /** Saves or deletes one entity, behind earlier work on it. */
  send(managed: ManagedEntity, options: FlushOptions | undefined, receiver: SendReceiver): void {
    if (this.#isSimple(managed, options) && this.queue.isFree(managed)) {
      return executeSingle(managed, this.#context, this.queue, receiver)
    }
    let hasBegun = false
    const work = (): Promise<void> => {
      hasBegun = true
      return this.unit.one(managed, options, () => receiver.refused?.())
    }
    // Entities that it reaches are known only when the work has begun, so nothing else may run beside it.
    const inQueue = (begin: typeof work): Promise<void> =>
      managed.mapped.standsAlone ? this.queue.runOn(managed, begin) : this.queue.runAlone(begin)
    const sending = options?.signal === undefined ? inQueue(work) : abortableWhileQueued(options.signal, work, inQueue)
    sending.then(
      () => receiver.sent(managed),
      (error: unknown) => {
        // Aborted while queued: withdraw the request, or the flush ahead would carry it out.
        if (!hasBegun) receiver.refused?.()
        receiver.failed(error)
      },
    )
  }
}

/** Receiver of a save that resolves with the entity. */
export class OneSent<T extends object> implements SendReceiver {
  readonly #entity: T
  readonly #resolve: (entity: T) => void
  readonly failed: (error: unknown) => void
  readonly refused: (() => void) | undefined

  constructor(
    entity: T,
    resolve: (entity: T) => void,
    failed: (error: unknown) => void,
    refused: (() => void) | undefined,
  ) {
    this.#entity = entity
    this.#resolve = resolve
    this.failed = failed
    this.refused = refused
  }

  sent(): void {
    this.#resolve(this.#entity)
  }
}

/** Receiver of a delete that calls functions. */
export class OneDeleted implements DeleteReceiver {
  readonly deleted: (wasStored: boolean) => void
  readonly failed: (error: unknown) => void

  constructor(deleted: (wasStored: boolean) => void, failed: (error: unknown) => void) {
    this.deleted = deleted
    this.failed = failed
  }
}
