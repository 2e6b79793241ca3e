import type { Loaded, Snapshot } from '../../codec/index.js'
import { DELETING_BIN, type EntityModel } from '../../model/index.js'
import { holds, versionIs, type BinGuard, type Guard, type Ttl } from '../../plan/command.js'
import { binExists } from '../../plan/expression.js'
import type { Outcome } from '../../plan/outcome.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { Tracked, TrackedState } from '../../relations/contract/tracked.js'
import type { PendingDelete } from './pending-delete.js'
import { DeleteState, NO_DELETION } from './delete-state.js'
import type { IdentityMap } from './identity-map.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import type { QueuedWork } from './work-queue.js'
import type { WriteOptions } from './write-options.js'

/** A write whose answer was lost: until it is found out, or the same is sent again, what it changed is not known to be as in the snapshot. */
export interface WriteDoubt {
  readonly command: Outcome['command']
  /** The entity as it was sent. */
  readonly sent: Snapshot
  /** Takes over the write as if it had just been confirmed. */
  readonly confirm: (outcome: Outcome) => void
}

/** A delete whose answer was lost. */
export interface DeleteDoubt {
  readonly command: Outcome['command']
  /** What was in doubt before. */
  readonly before: WriteDoubt | undefined
}

export type Doubt = WriteDoubt | DeleteDoubt

export const isOfWrite = (doubt: Doubt): doubt is WriteDoubt => 'confirm' in doubt

const NONE: readonly Guard[] = Object.freeze([])
const WHILE_MARKED = holds(binExists(DELETING_BIN))

/** What a session knows of one entity. */
export class ManagedEntity implements Tracked {
  // What a flush looks at in every entity stands first, so that it is found in one line of the cache.
  state: TrackedState
  readonly mapped: MappedClass
  readonly entity: object
  /** The entity as it is stored, as far as this session knows; undefined while it is new. */
  snapshot: Snapshot | undefined
  /** What calls have asked of the next write, in their order; most often nothing. */
  writeOptions: readonly WriteOptions[] | undefined
  doubt: Doubt | undefined
  readonly key: RecordKey
  /** The map of the session it belongs to, until its state is `gone`. */
  readonly home: IdentityMap
  /** Undefined: all of it. */
  loaded: Loaded
  version: number | undefined
  /** The time to live as the entity shows it: null when it never expires, undefined while nobody knows. */
  ttl: number | null | undefined
  /** By how many bytes writes may have made the record grow since its size was last asked for. */
  unmeasured = 0
  /** Known by its key alone: nothing of its record was read. */
  isUnread = false
  /** A write through a handle makes the record where it is missing. */
  createsRecord = false
  /** The work that is under way on this entity, or waits as the last. */
  queued: QueuedWork | undefined
  #deletion: DeleteState | undefined

  constructor(mapped: MappedClass, entity: object, key: RecordKey, home: IdentityMap, state: TrackedState) {
    this.mapped = mapped
    this.entity = entity
    this.key = key
    this.home = home
    this.state = state
  }

  /** The next write stores all of the entity, whatever is there. */
  get overwrite(): boolean {
    return this.writeOptions !== undefined && this.writeOptions.some(({ overwrite }) => overwrite === true)
  }

  /** The time to live that the next write was asked to give: the last word counts. */
  get requestedTtl(): Ttl | undefined {
    return this.writeOptions?.findLast(({ ttl }) => ttl !== undefined)?.ttl
  }

  // What concerns its delete is looked up in one place, which only those have that are deleted: every loaded entity has one of these.

  get #told(): Readonly<DeleteState> {
    return this.#deletion ?? NO_DELETION
  }

  get #own(): DeleteState {
    return (this.#deletion ??= new DeleteState())
  }

  get ignoresVersion(): boolean {
    return this.#told.removeAny
  }

  set ignoresVersion(value: boolean) {
    if (value !== this.#told.removeAny) this.#own.removeAny = value
  }

  get orphanGuard(): BinGuard | undefined {
    return this.#told.orphanGuard
  }

  set orphanGuard(value: BinGuard | undefined) {
    if (value !== this.#told.orphanGuard) this.#own.orphanGuard = value
  }

  get resumesDelete(): boolean {
    return this.#told.isFinishing
  }

  set resumesDelete(value: boolean) {
    if (value !== this.#told.isFinishing) this.#own.isFinishing = value
  }

  get deleteMark(): PendingDelete | undefined {
    return this.#told.deleteMark
  }

  set deleteMark(value: PendingDelete | undefined) {
    if (value !== this.#told.deleteMark) this.#own.deleteMark = value
  }

  get deleteRequests(): number {
    return this.#told.marked
  }

  set deleteRequests(value: number) {
    if (value !== this.#told.marked) this.#own.marked = value
  }

  get isDeleteBegun(): boolean {
    return this.#told.isBegun
  }

  set isDeleteBegun(value: boolean) {
    if (value !== this.#told.isBegun) this.#own.isBegun = value
  }

  get wasStored(): boolean {
    return this.#told.wasStored
  }

  set wasStored(value: boolean) {
    if (value !== this.#told.wasStored) this.#own.wasStored = value
  }

  /** Whether there was a record, told to one caller alone: only one of several can have deleted it. */
  takeWasStored(): boolean {
    const { wasStored } = this
    this.wasStored = false
    return wasStored
  }

  /** One that was to be deleted stays after all. */
  keep(): void {
    if (this.state !== 'removed') return
    this.state = this.snapshot === undefined ? 'new' : 'stored'
    this.ignoresVersion = false
    this.orphanGuard = undefined
    this.resumesDelete = false
    this.deleteMark = undefined
    this.isDeleteBegun = false
  }

  /** Its record is gone, and it is to be stored as a new one. */
  startAnew(): void {
    this.state = 'new'
    this.snapshot = undefined
    this.loaded = undefined
    this.version = undefined
    this.ttl = undefined
    this.doubt = undefined
    this.isUnread = false
  }

  get model(): EntityModel {
    return this.mapped.model
  }

  /** One with a version must not have changed since this session loaded it. */
  get deleteGuards(): readonly Guard[] {
    const { version, ignoresVersion, orphanGuard, resumesDelete, model, mapped } = this
    const guards = version === undefined || ignoresVersion ? NONE : [versionIs(mapped.binOf(model.version)!, version)]
    if (resumesDelete) return [...guards, WHILE_MARKED]
    return orphanGuard === undefined ? guards : [...guards, orphanGuard]
  }
}
