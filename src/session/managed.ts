import type { Loaded, Snapshot } from '../codec/index.js'
import type { EntityModel } from '../model/index.js'
import { versionIs, type BinGuard, type Guard, type Ttl } from '../plan/command.js'
import type { Outcome } from '../plan/outcome.js'
import type { RecordKey } from '../plan/record-key.js'
import type { Tracked, TrackedState } from '../relations/contributor.js'
import type { DeleteMark } from './delete-mark.js'
import type { IdentityMap } from './identity-map.js'
import type { MappedClass } from './mapped-class.js'
import type { Turn } from './turns.js'

/** A guarded write whose answer was lost; the next flush looks first whether it took effect. */
export interface Doubt {
  readonly command: Outcome['command']
  /** Takes over the write as if it had just been confirmed. */
  readonly confirm: (outcome: Outcome) => void
}

const NONE: readonly Guard[] = Object.freeze([])

/** What a session knows of one entity. */
export class Managed implements Tracked {
  // What a flush looks at in every entity stands first, so that it is found in one line of the cache.
  state: TrackedState
  readonly mapped: MappedClass
  readonly entity: object
  /** The entity as it is stored, as far as this session knows; undefined while it is new. */
  snapshot: Snapshot | undefined
  /** The next write stores all of the entity, whatever is there. */
  overwrite = false
  /** The time to live that the next write was asked to give. */
  ttlWish: Ttl | undefined
  readonly key: RecordKey
  /** The map of the session it belongs to, until its state is `gone`. */
  readonly home: IdentityMap
  /** Undefined: all of it. */
  loaded: Loaded
  version: number | undefined
  /** The time to live as the entity shows it. */
  ttl: number | null | undefined
  /** The next delete takes the record whatever its version. */
  removeAny = false
  /** It is deleted as an orphan, and only while this holds of its record. */
  orphanGuard: BinGuard | undefined
  /** Why it is marked to be deleted, unless that is left to the next flush. */
  deleteMark: DeleteMark | undefined
  /** How often it was marked to be deleted. */
  marked = 0
  /** A part of its delete is done, such as references to it that are gone: it is to be finished. */
  isDeleteBegun = false
  doubt: Doubt | undefined
  /** By how many bytes writes may have made the record grow since its size was last asked for. */
  unmeasured = 0
  /** Known by its key alone: nothing of its record was read. */
  isUnread = false
  /** What is being sent deletes it; one that is only marked for the next flush may stay. */
  isGoing = false
  /** A flush is sending it. */
  isOut = false
  /** How many cascades away from what was asked to be deleted. */
  depth = 0
  /** Set by a delete: whether there was a record. */
  wasStored = false
  /** The work that is under way on this entity, or waits as the last. */
  turn: Turn | undefined

  constructor(mapped: MappedClass, entity: object, key: RecordKey, home: IdentityMap, state: TrackedState) {
    this.mapped = mapped
    this.entity = entity
    this.key = key
    this.home = home
    this.state = state
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
    this.removeAny = false
    this.orphanGuard = undefined
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
    this.depth = 0
  }

  get model(): EntityModel {
    return this.mapped.model
  }

  /** One with a version must not have changed since this session loaded it. */
  get deleteGuards(): readonly Guard[] {
    const { version, removeAny, orphanGuard, model, mapped } = this
    const guards = version === undefined || removeAny ? NONE : [versionIs(mapped.binOf(model.version)!, version)]
    return orphanGuard === undefined ? guards : [...guards, orphanGuard]
  }
}
