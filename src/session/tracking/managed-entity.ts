import type { Loaded, Snapshot } from '../../codec/index.js'
import type { EntityModel } from '../../model/index.js'
import type { Guard, Ttl } from '../../plan/command.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { Tracked, TrackedState } from '../../relations/contract/tracked.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import {
  deleteGuardsOf,
  nextCall,
  NO_INTENT,
  PendingDelete,
  type DeleteConditions,
  type DeleteIntent,
} from './delete-intent.js'
import { isOfWrite, type Doubt, type WriteDoubt } from './doubt.js'
import type { HomeOf } from './entity-home.js'
import type { EntityWork } from './entity-work.js'
import type { SentWrite } from './sent-write.js'
import type { StoredState } from './stored-state.js'
import { lastTtl, type WriteOptions } from './write-options.js'

export type EntityHome = HomeOf<ManagedEntity>

/**
 * Entity of a session. Its state changes by these methods alone:
 *
 * | from            | method        | to                                              |
 * | --------------- | ------------- | ----------------------------------------------- |
 * | `new`           | `written`     | `stored`                                        |
 * | `new`, `stored` | `remove`      | `removed`, with a delete intent                 |
 * | `removed`       | `keep`        | `new` or `stored`, by what is known of a record |
 * | any             | `startAnew`   | `new`, because its record is gone               |
 * | any             | `leave`       | `gone`, no longer managed                       |
 * | `gone`          | `comeBack`    | `new`                                           |
 */
export class ManagedEntity implements Tracked {
  // Fields that a flush reads of every entity stand first, so that they are found in one line of the cache.
  #state: TrackedState
  #deleteIntent: DeleteIntent | undefined
  readonly mapped: MappedClass
  readonly entity: object
  /** Copy of that of the stored state, which is one step further away. */
  #snapshot: Snapshot | undefined
  #writeOptions: readonly WriteOptions[] | undefined
  #doubt: Doubt | undefined
  #stored: StoredState | undefined
  readonly key: RecordKey
  /** Identity map of the session it belongs to, until its state is `gone`. */
  readonly home: EntityHome
  #queued: EntityWork | undefined
  #sending: SentWrite | undefined
  /** Moment of the session in which its last write has ended. */
  #writtenAt = 0

  constructor(mapped: MappedClass, entity: object, key: RecordKey, home: EntityHome, state: 'new' | 'stored') {
    this.mapped = mapped
    this.entity = entity
    this.key = key
    this.home = home
    this.#state = state
  }

  get state(): TrackedState {
    return this.#state
  }

  get shownState(): TrackedState {
    return this.#deleteIntent?.preview ?? this.#state
  }

  get model(): EntityModel {
    return this.mapped.model
  }

  /** Undefined while there is no record. */
  get stored(): StoredState | undefined {
    return this.#stored
  }

  get snapshot(): Snapshot | undefined {
    return this.#snapshot
  }

  get loaded(): Loaded {
    return this.#stored?.loaded
  }

  get version(): number | undefined {
    return this.#stored?.version
  }

  get ttl(): number | null | undefined {
    if (this.#stored !== undefined) return this.#stored.ttl
    const doubt = this.#doubt
    return doubt !== undefined && isOfWrite(doubt) && doubt.isTtlSent ? NaN : undefined
  }

  get isUnread(): boolean {
    return this.#stored !== undefined && this.#stored.isUnread
  }

  get createsRecord(): boolean {
    return this.isUnread && this.#stored!.createsRecord
  }

  /** Replaces what is known of the record; nothing that the entity was read or written for is in doubt after it. */
  written(stored: StoredState): void {
    this.learn(stored)
    this.#doubt = undefined
    this.confirmStored()
  }

  /** Replaces what is known of the record while something else of it stays in doubt. */
  learn(stored: StoredState | undefined): void {
    this.#stored = stored
    this.#snapshot = stored?.snapshot
  }

  /** The record is there; what it holds follows. */
  confirmStored(): void {
    if (this.#state === 'new') this.#state = 'stored'
  }

  /** Forgets the record: it was deleted, or the transaction that stored it has failed. */
  forgetStored(): void {
    this.learn(undefined)
  }

  /** The record is gone, and the entity is to be stored as a new one. */
  startAnew(): void {
    this.#state = 'new'
    this.learn(undefined)
    this.#doubt = undefined
    this.#deleteIntent = undefined
  }

  /** Work that is under way on this entity, or waits as the last. */
  get queued(): EntityWork | undefined {
    return this.#queued
  }

  begin<W extends EntityWork>(work: W): W {
    this.#queued = work
    return work
  }

  end(work: EntityWork): void {
    if (this.#queued === work) this.#queued = undefined
  }

  /** The write of its record that is planned or under way. */
  get sending(): SentWrite | undefined {
    return this.#sending
  }

  beginWrite(write: SentWrite): void {
    this.#sending = write
  }

  /** The write is answered, or will never be sent. */
  endWrite(): void {
    this.#sending = undefined
  }

  /** All that was sent of the entity is answered. */
  noteWritten(): void {
    this.#writtenAt = this.home.nextMoment()
  }

  /** True where a read that was begun at that moment says what was before a write. */
  wasWrittenSince(moment: number): boolean {
    return this.#writtenAt > moment
  }

  /** The write or delete whose answer was lost. */
  get doubt(): Doubt | undefined {
    return this.#doubt
  }

  putInDoubt(doubt: Doubt): void {
    this.#doubt = doubt
  }

  /** The doubt is found out; one that was there before it is again. */
  endDoubt(before?: WriteDoubt): void {
    this.#doubt = before
  }

  /** Options of calls for the next write, in their order; most often none. */
  get writeOptions(): readonly WriteOptions[] | undefined {
    return this.#writeOptions
  }

  /** Adds to what the next write is to do; returns its rollback. */
  addWriteOptions(options: WriteOptions): () => void {
    this.#writeOptions = this.#writeOptions === undefined ? [options] : [...this.#writeOptions, options]
    return () => this.clearWriteOptions([options])
  }

  /** Drops options that were carried out or rolled back; others may have been added since. */
  clearWriteOptions(done: readonly WriteOptions[] | undefined): void {
    if (done === undefined || this.#writeOptions === undefined) return
    const left = this.#writeOptions.filter((options) => !done.includes(options))
    this.#writeOptions = left.length === 0 ? undefined : left
  }

  /** True when the next write stores all of the entity, whatever is there. */
  get overwrite(): boolean {
    return this.#writeOptions !== undefined && this.#writeOptions.some(({ overwrite }) => overwrite === true)
  }

  /** Time to live that the next write was asked to give: the last word counts. */
  get requestedTtl(): Ttl | undefined {
    return this.#writeOptions === undefined ? undefined : lastTtl(this.#writeOptions)
  }

  relinked(): void {
    this.home.relinked(this)
  }

  get deleteIntent(): DeleteIntent | undefined {
    return this.#deleteIntent
  }

  /** Marks the entity to be deleted, by a cascade. One that is marked already keeps the conditions that a caller has set. */
  remove(conditions: DeleteConditions = {}): void {
    this.#state = 'removed'
    this.#deleteIntent = { ...(this.#deleteIntent ?? NO_INTENT), orphanGuard: undefined, ...conditions }
  }

  /** Shows the entity as it was before a cascade of `explain` has marked it. */
  showAs(preview: 'new' | 'stored'): void {
    this.#deleteIntent = { ...(this.#deleteIntent ?? NO_INTENT), preview }
  }

  /** Marks the entity by `remove`: the next flush deletes it. */
  removeAtFlush(conditions?: DeleteConditions): void {
    this.remove(conditions)
    const { pending } = this.#deleteIntent!
    pending?.leaveToFlush()
    this.#ask(pending)
  }

  /** Marks the entity by a delete that is sent now. */
  removeNow(wasKnown: boolean, conditions?: DeleteConditions): PendingDelete {
    const wasMarked = this.#state === 'removed'
    this.remove(conditions)
    const pending = this.#deleteIntent!.pending ?? new PendingDelete(wasKnown, wasMarked)
    this.#ask(pending)
    return pending
  }

  #ask(pending: PendingDelete | undefined): void {
    this.#deleteIntent = { ...this.#deleteIntent!, pending, asked: nextCall(), preview: undefined }
  }

  /** Ends a delete that has failed; where the last one was refused, the entity stays, or is detached as before. */
  endDelete(pending: PendingDelete, isRefused: boolean): void {
    if (!pending.end(isRefused) || this.#deleteIntent?.pending !== pending) return
    if (pending.wasKnown) this.keep()
    else this.home.remove(this)
  }

  /** An entity that was to be deleted stays after all. */
  keep(): void {
    if (this.#state !== 'removed') return
    this.#state = this.#stored === undefined ? 'new' : 'stored'
    this.#deleteIntent = undefined
    this.home.kept(this)
  }

  /** Notes that a part of the delete is done, or undone. */
  noteDeleteBegun(isBegun: boolean): void {
    if (this.#deleteIntent !== undefined) this.#deleteIntent = { ...this.#deleteIntent, isBegun }
  }

  get isDeleteBegun(): boolean {
    return this.#deleteIntent?.isBegun === true
  }

  /** Conditions on its record without which it is not deleted: a version must not have changed since this session loaded it. */
  get deleteGuards(): readonly Guard[] {
    return deleteGuardsOf(this)
  }

  /** The entity is nobody's from now on. */
  leave(): void {
    this.#state = 'gone'
    this.#deleteIntent = undefined
  }

  /** An entity that was never stored is managed again. */
  comeBack(): void {
    this.#state = 'new'
    this.#deleteIntent = undefined
  }
}
