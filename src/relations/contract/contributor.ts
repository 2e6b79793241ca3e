import type { KeyValue } from '../../keys/index.js'
import type { EntityModel } from '../../model/index.js'
import type { BinGuard, Guard, ReadCommand } from '../../plan/command.js'
import type { Draft } from '../../plan/plan-draft.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import type { Drain } from './drain.js'
import type { IndexedBy } from './index-lookup.js'

/** `new`: not stored yet, as far as the session knows. `removed`: to be deleted by the next flush. `gone`: no longer managed. */
export type TrackedState = 'new' | 'stored' | 'removed' | 'gone'

/** An entity that a session manages, as those see it that take part in saving, deleting and loading it. */
export interface Tracked {
  readonly entity: object
  readonly model: EntityModel
  readonly key: RecordKey
  readonly state: TrackedState
  /** Known by its key alone: nothing of its record was read. */
  readonly isUnread: boolean
  /** Whatever is stored becomes what the entity is. */
  readonly overwrite?: boolean
  /** What is being sent deletes it; one that is only marked for the next flush may stay. */
  readonly isGoing?: boolean
  /** How many cascades away from what was asked to be deleted. */
  readonly depth: number
  /** What must hold of its record for it to be deleted. */
  readonly deleteGuards: readonly Guard[]
}

/** Its record is certainly not there yet: what is upserted may be. */
export const isCreation = ({ state, overwrite }: Tracked): boolean => state === 'new' && overwrite !== true

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

/** What may be asked and read while something is planned or loaded. Everything read in one tick is one batch read, in which each record is read once. */
export interface Reader {
  /** What it reads is part of a transaction. */
  readonly isInside: boolean
  /** The same, with queries by index, which the transaction of a session's user refuses: they take no part in it. */
  outside(): Reader
  /** Managed entities in the order asked, null where there is none; `along` are paths of relations that will be loaded next: what they need is read with the entities. */
  find(model: EntityModel, keys: readonly KeyValue[], along?: readonly string[]): Promise<(Tracked | null)[]>
  /** Loads the relations named by the paths, and those that are always loaded along, of all these entities. */
  load(level: readonly Tracked[], paths?: readonly string[]): Promise<void>
  /** Records as they are stored, past the identity map. */
  read(commands: readonly ReadCommand[]): Promise<(StoredRecord | null)[]>
  /** Managed entities that an index finds, a bounded number at a time; queries take no part in transactions. */
  foundBy(lookup: IndexedBy): AsyncIterable<FoundStep>
  /** Their keys alone. */
  keysBy(lookup: IndexedBy): AsyncIterable<readonly KeyValue[]>
  /** Those that follow a position, in an order that stays, and the position of the next. */
  pageBy(lookup: IndexedBy, count: number, after?: string): Promise<FoundPage>
  /** Lets go of entities that were only looked at. */
  release(entities: readonly Tracked[]): void
  entityModel(name: string): EntityModel
  /** The entity as this session knows it. */
  tracked(entity: object): Tracked | undefined
  /** Whether a session has let go of the entity, and its record is stored as far as that one knew: it is a key, and no new entity. */
  isDetached(entity: object): boolean
  /** The entity that the session already has under a key. */
  known(model: string, key: KeyValue): Tracked | undefined
  /** The entity of that key; where the session has none, one that is known by its key alone. */
  unread(model: EntityModel, key: KeyValue): Tracked
  /** Calls back once, when the session gets the entity of that key, which it does not have yet. */
  whenKnown(model: string, key: KeyValue, then: (entity: object) => void): void
  /** Null while the entity has none. */
  keyOf(entity: object): KeyValue | null
  recordKey(model: EntityModel, key: KeyValue): RecordKey
  /** The key people use of a stored one; one of another tenant is refused. */
  fromStored(model: EntityModel, stored: UserKey): KeyValue
  /** The key that a reference holds, read from the key of its record, of which it is part. */
  keyPart(model: EntityModel, key: KeyValue, ref: string): KeyValue
}

/** Notes what puts something back that was changed for a plan, should that not be sent. */
export type OnRollback = (undo: () => void) => void

/** Where a contributor says which entities a save or delete reaches; those already known are taken once. */
export interface Cascade {
  save(entity: object): void
  /** `only`: an orphan that the record says to be somebody's is none, and stays. */
  remove(entity: object, only?: BinGuard): void
  /** How many more entities the plan can hold. */
  readonly room: number
  /** Members that the plan cannot hold. */
  drain(drain: Drain): void
  readonly onTakeBack: OnRollback
  /** It was asked before; now that owners are marked, only what a mark keeps away need be looked for again. */
  readonly isAgain: boolean
}

/**
 * One part of what storing a class means. The plain bins of a class are one contributor, each of its relations is another.
 * `hasChanges` runs for every managed entity at each flush, so it must be cheap; the rest runs only for those that changed.
 */
export interface Contributor {
  /** The relation's property name; absent for what is always loaded with the record. */
  readonly relation?: string
  hasChanges(tracked: Tracked): boolean
  /** The keys in the record that `reach` of a delete goes by. All contributors are asked in one tick, so that the record is read once. */
  cascadeKeys?(tracked: Tracked, reach: Cascade, reader: Reader): Promise<readonly KeyValue[]> | undefined
  /** Names what is saved or deleted together with this entity. Called again for everything that is reached. */
  cascade?(tracked: Tracked, reach: Cascade, reader: Reader, listed?: readonly KeyValue[]): void | Promise<void>
  /** Adds what saving this entity sends. */
  save(tracked: Tracked, draft: Draft, reader: Reader): void | Promise<void>
  /** Adds what deleting this entity sends. */
  remove(tracked: Tracked, draft: Draft, reader: Reader): void | Promise<void>
  /** Loads the next level of a graph for all these entities at once and says what it found. */
  load?(level: readonly Tracked[], reader: Reader, along?: readonly string[]): Promise<readonly Tracked[]>
}
