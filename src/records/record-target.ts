import type { Codecs } from '../codec/index.js'
import type { EntityModel } from '../model/index.js'
import type { PathLevel } from '../plan/expression.js'
import type { Value } from '../plan/value.js'
import type { KeyValue } from '../keys/index.js'
import type { Change } from './change.js'
import type { Place } from './place.js'
import type { Question } from './question.js'

/** Children of one child, as the session takes their changes. */
export interface ChildrenAccess {
  /** True for the key of one of them in the map of the child. */
  isKey(key: string): boolean
  keyOf(member: unknown): string
  add(member: object): void
  remove(member: unknown): void
}

/** The record behind a handle: the session takes its changes and answers its questions. */
export interface RecordTarget {
  readonly model: EntityModel
  readonly codecs: Codecs
  readonly key: KeyValue
  /** Records a change; the next flush sends it. */
  record(change: Change): void
  /** Answers all questions by one command, with the session's unsent changes applied; undefined where there is nothing to ask. */
  ask(place: Place, questions: readonly Question[]): Promise<readonly (Value | undefined)[]>
  /** The entity, whose collection of that name can be asked and changed; throws where there is none. */
  withCollection(name: string): object
  /** A consolidated child, which need not be loaded, as a record of its own. */
  child(collection: string, id: unknown): { readonly target: RecordTarget; readonly place: Place }
  /** Children of a consolidated child; throws where this is a record, or has no such children. */
  children(collection: string): ChildrenAccess
  /** Asks while no write of the record is under way: an answer beside one could count its change twice. */
  betweenWrites<T>(ask: () => Promise<T>): Promise<T>
  /** Throws where the server has no path expressions. */
  requirePaths(property: string): void
  /** The values that a path leads to, or their number, with the session's unsent changes applied. */
  askPath(place: Place, levels: readonly PathLevel[], isCount: boolean): Promise<Value | undefined>
  /** The value of a counter with the session's unsent changes. */
  count(property: string): Promise<number | bigint>
}
