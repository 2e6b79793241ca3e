import type { SkeinError } from '../errors/index.js'
import type { DeleteCommand, Guard, ReadCommand, WriteCommand } from './command.js'
import type { DescribeStep } from './deferred-steps.js'
import type { Outcome, Reason, StoredRecord } from './outcome.js'
import type { Stage } from './plan.js'
import type { RecordKey } from './record-key.js'
import type { SplitAccess } from './split-access.js'

/**
 * Stages in the order in which they run where no transaction carries them. `history` keeps what the record is that changes; `mark` says of a record that its delete has begun; `undo`
 * rolls back references to records that turned out to be gone, and runs whatever else failed.
 */
export const STAGE_NAMES = [
  'history',
  'write',
  'add references',
  'mark',
  'remove references',
  'delete',
  'history of deletes',
  'undo',
] as const
export type StageName = (typeof STAGE_NAMES)[number]

/**
 * Receives the outcome of a command. Returns true when the change counts as done, an error when the command is done but the change it
 * belongs to is not, and `RETRIED` when another command does it instead, which then tells. May add commands to later stages.
 */
export interface Settle {
  (outcome: Outcome): boolean | SkeinError | typeof RETRIED
  /** Failures that do no harm, beyond those of the stage: a transaction asks before it commits. */
  readonly tolerates?: readonly Reason[]
  /** True for a command that follows from what is written already: it is sent also where a tied record has failed. */
  readonly isOwed?: boolean
  /** Makes room for a command that was refused in a transaction, once that is rolled back: then it is tried again. */
  readonly remedy?: (refused: Outcome) => FollowUp | undefined
}

/** Outcome of a command that another one replaces: it is not a failure, and nobody is told of it. */
export const RETRIED = 'retried'

/** Settles a command that must be sent whatever else has failed, because it follows from what is written already. */
export const owed = (settle: Settle): Settle => Object.assign((outcome: Outcome) => settle(outcome), { isOwed: true })

/** Settles a command that may also fail for these reasons: one list says what counts as done here, and what a transaction tolerates. */
export function tolerating(reasons: readonly Reason[], then: (isDone: boolean, outcome: Outcome) => void): Settle {
  const settle = (outcome: Outcome): boolean => {
    const isDone = outcome.state === 'written' || (outcome.reason !== undefined && reasons.includes(outcome.reason))
    then(isDone, outcome)
    return isDone
  }
  return Object.assign(settle, { tolerates: reasons })
}

/** A read that goes out beside the next stage, with its continuation. */
export interface Check {
  readonly command: ReadCommand
  readonly then: (record: StoredRecord | null) => void
}

/** Work between the stages of a plan, with reads and writes of its own. It must not throw. */
export type FollowUp = (access: SplitAccess) => Promise<void>

/** Adds to a write what always goes with it. */
export type CompleteWrite = <C extends WriteCommand | DeleteCommand>(command: C) => C

export interface DraftOptions {
  readonly complete?: CompleteWrite
  /** Plans for one transaction: one write for each record, no stages. */
  readonly isTransaction?: boolean
  /** True once the transaction has begun: reads for this plan take part in it. */
  readonly isInside?: boolean
  /** Tests by its id whether the flush deletes a record; a part of a plan knows of the deletes of the others. */
  readonly deletes?: (id: string) => boolean
  /** Notes by its id that a record is left to a transaction after the stages; false where none can carry it. */
  readonly defer?: (id: string) => boolean
}

/** View of the plan that contributors to a flush get. */
export interface Draft {
  /** Timestamp of everything in this plan. */
  readonly now: Date
  readonly isTransaction: boolean
  readonly isInside: boolean
  /** True once its first stage is taken out: contributors settle, and nobody waits for what they read. */
  readonly isBegun: boolean
  /** `isFirst`: the command of a record itself that had to wait for a read goes before what relations have added to it meanwhile. */
  add(name: StageName, command: WriteCommand | DeleteCommand, settle: Settle, isFirst?: boolean): void
  /**
   * Adds a command that is never merged, or only with those of the same group: its guards must not decide about other changes to the
   * record. Only in stages.
   */
  addApart(name: StageName, command: WriteCommand, settle: Settle, group?: string): void
  /** Runs between stages, after those that are being settled; may add commands. */
  followUp(work: FollowUp): void
  /** Runs when the plan is sent; a plan that is only explained changes nothing. */
  beforeSending(then: () => void): void
  /** Describes for `explain()` what a read will decide once this stage is sent. */
  follow(name: StageName, tell: DescribeStep): void
  /** Reads a record again once the stage that is being settled is done. */
  check(command: ReadCommand, then: Check['then']): void
  /** Collects what stages that are being settled have to say, and hands it over in one list when they are. */
  collect<T>(id: string, item: T, then: (items: readonly T[]) => void): void
  /** True the first time: a change that both sides of a relation would plan is planned once. */
  once(id: string): boolean
  /** True when `once` has already been called with this id. */
  isPlanned(id: string): boolean
  /** Ties records that must change together. */
  tie(a: RecordKey, b: RecordKey): void
  /** True for a record that the same flush deletes; one that is only marked for the next flush may stay. */
  isDeleting(key: RecordKey): boolean
  /** Leaves changes that turn out to concern other records, too, to a transaction after the stages; false where none can carry them. */
  deferToTransaction(key: RecordKey): boolean
}

/** A command to a record, from one contributor. */
export interface Contribution {
  readonly command: WriteCommand | DeleteCommand
  readonly settle: Settle
  /** Reasons for failure that the contributor tolerates. */
  readonly tolerated: readonly Reason[]
}

/** Stage that is being planned. */
export interface PendingStage {
  readonly name: StageName
  /** Deletes run from the deepest level up: a child is deleted before the parent that cascades to it. */
  readonly depth: number
  /** Commands by the record that they change: those of one are merged. */
  readonly entries: Map<string, Contribution[]>
}

/** A stage that is ready to run; `settle` takes one outcome for each of its commands. */
export interface ReadyStage {
  readonly name: StageName
  readonly stage: Stage
  /**
   * Outcomes of commands held back because a tied record failed. Contributors that would write to a record that turned out to be
   * missing are settled as if their command had been sent: they may have to roll something back.
   */
  holdBack(missing: ReadonlyMap<string, Outcome>): Outcome[]
  /** Outcomes that some contributor does not accept. */
  settle(outcomes: readonly Outcome[]): Outcome[]
  /** Outcomes of commands that others replace, known once they are settled. */
  readonly retried: ReadonlySet<Outcome>
  /** Errors thrown by contributors while they were settled; the others are settled all the same. */
  readonly broken: readonly SkeinError[]
  /** Outcomes that would not be accepted, known before settling: a transaction asks before it commits. */
  refused(outcomes: readonly Outcome[]): Outcome[]
  /** Work that lets refused commands succeed when they are sent again. */
  remedies(outcomes: readonly Outcome[]): FollowUp[]
}

/** Record that contributors to a view plan for. */
export interface Subject {
  readonly key: RecordKey
  readonly depth: number
  readonly guards: readonly Guard[]
}

/** Items that stages have handed in for one piece of work. */
export interface Collected {
  readonly items: unknown[]
  readonly then: (items: readonly unknown[]) => void
}
