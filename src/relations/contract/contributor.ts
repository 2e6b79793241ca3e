import type { KeyValue } from '../../keys/index.js'
import type { BinGuard } from '../../plan/command.js'
import type { Draft } from '../../plan/draft.js'
import type { RecordKey } from '../../plan/record-key.js'
import type { DeletedKeys } from './deleted-keys.js'
import type { Drain } from './drain.js'
import type { Reader } from './reader.js'
import type { Tracked } from './tracked.js'

/** The keys that are deleted, of those that a relation to that class may lead to. */
export type Deleted = (target: string) => DeletedKeys

/** Notes what puts something back that was changed for a plan, should that not be sent; `about`: the entity that shows the change, where it is another one. */
export type OnRollback = (undo: () => void, about?: object) => void

/** Collects the entities that a save or delete cascades to, each of them once. */
export interface Cascade {
  /** `overwrites`: a new entity replaces whatever is stored under its key. */
  save(entity: object, overwrites?: boolean): void
  /** Saves an entity that was taken off its parent, which this reference of it names. */
  detach(entity: object, relation: string): void
  /** `only`: a child whose record says by then that it is somebody else's stays. */
  remove(entity: object, only?: BinGuard): void
  /** Takes along what the session deletes anyway, under the condition that it has, unless that is about a bin of which this is `certain`. */
  join(entity: object, certain?: string): void
  /** Number of further entities that the plan can hold. */
  readonly room: number
  /** True where the record of the entity is removed, not only stamped by a soft delete. */
  readonly isForGood: boolean
  /** Members that the plan cannot hold. */
  drain(drain: Drain): void
  /** True for a record that a flush around this one deletes in steps. */
  isDeletedAround(key: RecordKey): boolean
  readonly onRollback: OnRollback
  /** True for `explain`: until it ends, people see entities as they were. */
  readonly isPreview: boolean
  /** True for the second pass: owners are marked now, so only members that the mark keeps away need to be looked for again. */
  readonly isAgain: boolean
}

/**
 * Contributes one part of storing a class. The plain bins of a class are one contributor, each of its relations is another.
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
  /** True where the rest of the cascade waits until the entity is marked. */
  isWaiting?(tracked: Tracked): boolean
  /** Forgets what was planned before for this entity: it was not sent, or not answered. */
  dropPlan?(tracked: Tracked): void
  /** Adds what saving this entity sends. */
  save(tracked: Tracked, draft: Draft, reader: Reader): void | Promise<void>
  /** Adds what deleting this entity sends. */
  remove(tracked: Tracked, draft: Draft, reader: Reader): void | Promise<void>
  /** Loads the next level of a graph for all these entities at once and says what it found. */
  load?(level: readonly Tracked[], reader: Reader, along?: readonly string[]): Promise<readonly Tracked[]>
}
