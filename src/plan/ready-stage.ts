import type { SkeinError } from '../errors/index.js'
import type { DeleteCommand, WriteCommand } from './command.js'
import { RETRIED, type CompleteWrite, type Settle, type StageName } from './draft.js'
import { mergeCommands } from './merge-commands.js'
import type { Outcome, Reason } from './outcome.js'
import type { Stage } from './plan.js'
import { recordId } from './record-key.js'
import { settleFailure } from './settle-failure.js'

/** Commands to one record of a stage, and those who added them. */
export interface Entry {
  readonly commands: (WriteCommand | DeleteCommand)[]
  readonly settle: Settle[]
  /** Reasons for failure that each contributor tolerates, per command. */
  readonly tolerated: (readonly Reason[])[]
}

/** Stage that is being planned. */
export interface PendingStage {
  readonly name: StageName
  /** Deletes run from the deepest level up: a child is deleted before the parent that cascades to it. */
  readonly depth: number
  readonly entries: Map<string, Entry>
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
}

function merged({ commands }: Entry, complete: CompleteWrite | undefined): WriteCommand | DeleteCommand {
  const command = mergeCommands(commands)[0] as WriteCommand | DeleteCommand
  return complete === undefined ? command : complete(command)
}

function tell(settle: Settle, outcome: Outcome, broken: SkeinError[]): ReturnType<Settle> {
  try {
    return settle(outcome)
  } catch (error) {
    broken.push(settleFailure(outcome, error))
    return outcome.state === 'written'
  }
}

/** Merges the commands of each record; those that must wait are held back. */
export function readyStage(
  { name, entries }: PendingStage,
  complete: CompleteWrite | undefined,
  mustWait?: (id: string) => boolean,
): ReadyStage {
  const all: Entry[] = []
  const held: Entry[] = []
  const broken: SkeinError[] = []
  const retried = new Set<Outcome>()
  for (const entry of entries.values()) (mustWait?.(recordId(entry.commands[0].key)) ? held : all).push(entry)
  return {
    name,
    stage: { title: name, commands: all.map((entry) => merged(entry, complete)) },
    broken,
    retried,
    holdBack: (missing) =>
      held.map((entry) => {
        const command = merged(entry, complete)
        const found = missing.get(recordId(command.key))
        if (found === undefined) return { command, state: 'notWritten', bins: {}, reason: 'notSent' }
        const outcome: Outcome = { ...found, command }
        for (const settle of entry.settle) tell(settle, outcome, broken)
        return outcome
      }),
    settle: (outcomes) =>
      outcomes.flatMap((outcome, i) => {
        // Every contributor must be settled, so no short cut at the first refusal.
        const accepted = all[i].settle.map((settle) => tell(settle, outcome, broken))
        const error = accepted.find((answer) => typeof answer === 'object')
        if (accepted.includes(RETRIED)) retried.add(outcome)
        if (error !== undefined) return { ...outcome, state: 'notWritten' as const, reason: 'missing' as const, error }
        return accepted.includes(false) ? outcome : []
      }),
    refused: (outcomes) =>
      outcomes.filter(({ state, reason }, i) => {
        if (state === 'written') return false
        return state === 'inDoubt' || !all[i].tolerated.every((reasons) => reasons.includes(reason!))
      }),
  }
}
