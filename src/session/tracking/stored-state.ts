import type { Loaded, Snapshot } from '../../codec/index.js'
import type { Bins } from '../../plan/command.js'

/** Record of an entity as the session last read or wrote it. Replaced as a whole, so that its parts never disagree. */
export class StoredState {
  readonly snapshot: Snapshot
  /** Properties that were read; undefined: all of them. */
  readonly loaded: Loaded
  readonly version: number | undefined
  /** Time to live as the entity shows it: null when it never expires, undefined while nobody knows, NaN while a write of it is in doubt. */
  readonly ttl: number | null | undefined
  /** Bytes by which writes may have made the record grow since its size was last asked for. */
  readonly unmeasured: number
  /** Known by its key alone: nothing of the record was read. */
  readonly isUnread: boolean
  /** A write through a handle makes the record where it is missing. */
  readonly createsRecord: boolean
  /** Bins as they were read, of a class with a history; a write makes them unknown. */
  readonly image: Bins | undefined

  constructor(
    snapshot: Snapshot,
    loaded: Loaded,
    version: number | undefined,
    ttl: number | null | undefined,
    unmeasured = 0,
    isUnread = false,
    createsRecord = false,
    image?: Bins,
  ) {
    this.snapshot = snapshot
    this.loaded = loaded
    this.version = version
    this.ttl = ttl
    this.unmeasured = unmeasured
    this.isUnread = isUnread
    this.createsRecord = createsRecord
    this.image = image
  }

  /** After a write was confirmed. */
  written(
    snapshot: Snapshot,
    version: number | undefined,
    ttl: number | null | undefined,
    unmeasured: number,
  ): StoredState {
    return new StoredState(snapshot, this.loaded, version, ttl, unmeasured, this.isUnread, this.createsRecord)
  }

  /** After a load has read more of the record. */
  completed(loaded: Loaded, version: number | undefined, ttl: number | null | undefined): StoredState {
    return new StoredState(this.snapshot, loaded, version, ttl, this.unmeasured)
  }

  /** A write that gives another time to live is in doubt: no value equals what is stored. */
  withUnknownTtl(): StoredState {
    return this.written(this.snapshot, this.version, NaN, this.unmeasured)
  }

  /** The next write makes an unread record where it is missing. */
  creating(): StoredState {
    if (!this.isUnread || this.createsRecord) return this
    return new StoredState(this.snapshot, this.loaded, this.version, this.ttl, this.unmeasured, true, true)
  }
}
