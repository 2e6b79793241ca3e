import { DELETING_BIN } from '../../model/index.js'
import { holds, versionIs, type BinGuard, type Guard } from '../../plan/command.js'
import { binExists } from '../../plan/expression.js'
import type { MappedClass } from '../mapping/mapped-class.js'

/** Conditions of the delete of one entity. Present exactly while its state is `removed`, and replaced as a whole. */
export interface DeleteIntent {
  /** Number of the last call that asked for the delete; 0: only a cascade did. */
  readonly asked: number
  /** Deletes under way that have marked the entity; undefined where only `remove` or a cascade has. */
  readonly pending: PendingDelete | undefined
  /** Deletes the record whatever its version. */
  readonly ignoresVersion: boolean
  /** Deletes the entity as an orphan, and only while this holds of its record. */
  readonly orphanGuard: BinGuard | undefined
  /** Finishes a delete that was cut off, and only while the record is marked. */
  readonly resumes: boolean
  /** Removes the record of a class with soft deletes for good. */
  readonly purges: boolean
  /** State before a cascade of `explain` marked it, which is all that anybody else may see of it. */
  readonly preview: 'new' | 'stored' | undefined
  /** A part of it is done, such as references that are gone: it is to be finished. */
  readonly isBegun: boolean
}

/** Conditions that a caller may set. */
export type DeleteConditions = Partial<Pick<DeleteIntent, 'ignoresVersion' | 'orphanGuard' | 'resumes' | 'purges'>>

export const NO_INTENT: DeleteIntent = Object.freeze({
  asked: 0,
  pending: undefined,
  ignoresVersion: false,
  orphanGuard: undefined,
  resumes: false,
  purges: false,
  preview: undefined,
  isBegun: false,
})

let calls = 0

/** Numbers the calls that ask for a delete, so that an earlier one is told from a later one. */
export const nextCall = (): number => ++calls

/**
 * Deletes of one entity that are under way. When the last of them was refused, the entity stays, so that no later flush deletes what a
 * caller was told stays; a save or a refresh meanwhile ends it.
 */
export class PendingDelete {
  /** The session had the entity before. */
  readonly wasKnown: boolean
  /** The entity is to be deleted also without these calls: a refusal changes nothing about that. */
  #isLasting: boolean
  #calls = 0
  #wasStored = false

  constructor(wasKnown: boolean, isLasting: boolean) {
    this.wasKnown = wasKnown
    this.#isLasting = isLasting
  }

  begin(): this {
    this.#calls++
    return this
  }

  get isUnderWay(): boolean {
    return this.#calls > 0
  }

  /** The next flush deletes the entity, whatever becomes of these calls. */
  leaveToFlush(): void {
    this.#isLasting = true
  }

  settled(wasStored: boolean): void {
    this.#wasStored = wasStored
  }

  /** Says whether there was a record, to one caller alone: only one of several can have deleted it. */
  takeWasStored(): boolean {
    const wasStored = this.#wasStored
    this.#wasStored = false
    return wasStored
  }

  /** Ends one of the calls; true when it was the last one, and the entity is not to be deleted any more. */
  end(isRefused: boolean): boolean {
    return --this.#calls === 0 && isRefused && !this.#isLasting
  }
}

const WHILE_MARKED = holds(binExists(DELETING_BIN))

/** Entity as its conditions ask for it. */
interface Deletable {
  readonly version: number | undefined
  readonly mapped: MappedClass
  readonly isUnread: boolean
  readonly deleteIntent: DeleteIntent | undefined
}

/** Conditions on the record of an entity without which it is not deleted. */
export function deleteGuardsOf({ version, mapped, isUnread, deleteIntent }: Deletable): readonly Guard[] {
  const { ignoresVersion, orphanGuard, resumes } = deleteIntent ?? NO_INTENT
  const isFree = version === undefined || ignoresVersion
  const ofClass = isUnread ? mapped.classGuards : mapped.ownGuards
  const guards = isFree ? ofClass : [versionIs(mapped.binOf(mapped.model.version)!, version), ...ofClass]
  if (resumes) return [...guards, WHILE_MARKED]
  return orphanGuard === undefined ? guards : [...guards, orphanGuard]
}
