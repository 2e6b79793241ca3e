import type { KeyValue } from '../../keys/index.js'
import type { DeletedMode, EntityModel } from '../../model/index.js'
import type { ReadCommand } from '../../plan/command.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { CompleteWrite } from '../../plan/draft.js'
import type { SplitAccess } from '../../plan/split-access.js'
import type { IndexedBy } from './index-lookup.js'
import type { Tracked } from './tracked.js'

/** Entities that were found together, and those among them that the session did not have before. */
export interface FoundStep {
  readonly found: readonly Tracked[]
  readonly fresh: readonly Tracked[]
  /** Not among them: those that the session is to delete. */
  readonly leaving: readonly Tracked[]
}

/** Some of the entities that an index finds. */
export interface FoundPage {
  readonly found: readonly Tracked[]
  /** Undefined when there are no more. */
  readonly next: string | undefined
}

/** Reads that are allowed while planning or loading. Everything read in one tick is one batch read, in which each record is read once. */
export interface Reader {
  /** True where its reads are part of a transaction. */
  readonly isInside: boolean
  /** Entities that it finds although they were deleted softly. */
  readonly deleted?: DeletedMode
  /** Access to records past any transaction, for those who move members. */
  readonly direct: SplitAccess
  /** Adds to a write what always goes with it, such as the count of a collection. */
  readonly complete?: CompleteWrite
  /** Names whoever makes the changes. */
  readonly actor?: () => string | undefined
  /** Reader that also allows index queries, which `db.transaction` rejects because they cannot take part in it. */
  outside(): Reader
  /** Reader that also finds what was deleted softly, or only that. */
  withDeleted(mode?: DeletedMode): Reader
  /** Managed entities in the order asked, null where there is none; `along` are paths of relations that will be loaded next: what they need is read with the entities. */
  find(model: EntityModel, keys: readonly KeyValue[], along?: readonly string[]): Promise<(Tracked | null)[]>
  /** Loads the relations named by the paths, and those that are always loaded along, of all these entities. */
  load(level: readonly Tracked[], paths?: readonly string[]): Promise<void>
  /** Records as they are stored, past the identity map. */
  read(commands: readonly ReadCommand[]): Promise<(StoredRecord | null)[]>
  /** Managed entities that an index finds, a bounded number at a time; queries take no part in transactions. */
  foundBy(lookup: IndexedBy): AsyncIterable<FoundStep>
  /** Keys, without the entities. */
  keysBy(lookup: IndexedBy): AsyncIterable<readonly KeyValue[]>
  /** Entities after a cursor, in a stable order, and the cursor of the next page. */
  pageBy(lookup: IndexedBy, count: number, after?: string): Promise<FoundPage>
  /** Drops entities that were only looked at from the session. */
  release(entities: readonly Tracked[]): void
  entityModel(name: string): EntityModel
  /** The entity as this session knows it. */
  tracked(entity: object): Tracked | undefined
  /** True when a session has detached the entity, and its record was stored as far as that session knew: it stands for its key, and is not a new entity. */
  isDetached(entity: object): boolean
  /** The entity that the session already has under a key. */
  known(model: string, key: KeyValue): Tracked | undefined
  /** True when records of the class may change in transactions, whose writes no read sees before they are committed. */
  hasTransactions(model: EntityModel): boolean
  /** The create of the entity's record was rolled back: the entity is as new as before. */
  startAnew(tracked: Tracked): void
  /** The entity of that key; where the session has none, one that is known by its key alone. */
  unread(model: EntityModel, key: KeyValue): Tracked
  /** Calls back once, when the session gets the entity of that key, which it does not have yet. */
  whenKnown(model: string, key: KeyValue, then: (entity: object) => void): void
  /** Null while the entity has none. `target`: the class or classes of the relation that is to hold it; of several, the key says which. */
  keyOf(entity: object, target?: string): KeyValue | null
  recordKey(model: EntityModel, key: KeyValue): RecordKey
  /** The key people use of a stored one; one of another tenant is refused. */
  fromStored(model: EntityModel, stored: UserKey): KeyValue
  /** The key that is made of these parts. */
  keyOfParts(model: EntityModel, parts: { readonly [part: string]: KeyValue }): KeyValue
  /** The key that a reference holds, read from the key of its record, of which it is part. */
  keyPart(model: EntityModel, key: KeyValue, ref: string): KeyValue
}
