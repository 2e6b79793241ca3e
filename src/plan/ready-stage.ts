import type { SkeinError } from '../errors/index.js'
import type { DeleteCommand, WriteCommand } from './command.js'
import {
  RETRIED,
  type CompleteWrite,
  type Contribution,
  type PendingStage,
  type ReadyStage,
  type Settle,
} from './draft.js'
import { mergeCommands } from './merge-commands.js'
import type { Outcome } from './outcome.js'
import { recordId } from './record-key.js'
import { settleFailure } from './settle-failure.js'

/** Merges what contributors add to one record. */
function mergeContributions(
  added: readonly Contribution[],
  complete: CompleteWrite | undefined,
): WriteCommand | DeleteCommand {
  const command = mergeCommands(added.map(({ command }) => command))[0] as WriteCommand | DeleteCommand
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

/** Merges the commands of each record of a stage; those that must wait are held back. */
export function readyStage(
  { name, entries }: PendingStage,
  complete: CompleteWrite | undefined,
  mustWait?: (id: string) => boolean,
): ReadyStage {
  const all: (readonly Contribution[])[] = []
  const held: (readonly Contribution[])[] = []
  const broken: SkeinError[] = []
  const retried = new Set<Outcome>()
  for (const added of entries.values()) {
    const isWaiting = mustWait?.(recordId(added[0].command.key)) === true
    const [sent, waiting] = isWaiting ? [added.filter(isOwed), added.filter((each) => !isOwed(each))] : [added, []]
    if (sent.length > 0) all.push(sent)
    if (waiting.length > 0) held.push(waiting)
  }
  return {
    name,
    stage: { title: name, commands: all.map((added) => mergeContributions(added, complete)) },
    broken,
    retried,
    holdBack: (missing) =>
      held.map((added) => {
        const command = mergeContributions(added, complete)
        const found = missing.get(recordId(command.key))
        if (found === undefined) return { command, state: 'notWritten', bins: {}, reason: 'notSent' }
        const outcome: Outcome = { ...found, command }
        for (const { settle } of added) tell(settle, outcome, broken)
        return outcome
      }),
    settle: (outcomes) =>
      outcomes.flatMap((outcome, i) => {
        // Every contributor must be settled, so no short cut at the first refusal.
        const accepted = all[i].map(({ settle }) => tell(settle, outcome, broken))
        const error = accepted.find((answer) => typeof answer === 'object')
        if (accepted.includes(RETRIED)) retried.add(outcome)
        if (error !== undefined) {
          const isPartlyWritten = outcome.state === 'written' && accepted.includes(true)
          const told = { ...outcome, state: 'notWritten' as const, reason: 'missing' as const, error }
          return isPartlyWritten ? { ...told, isPartlyWritten } : told
        }
        return accepted.includes(false) ? outcome : []
      }),
    refused: (outcomes) =>
      outcomes.filter(({ state, reason }, i) => {
        if (state === 'written') return false
        return state === 'inDoubt' || !all[i].every(({ tolerated }) => tolerated.includes(reason!))
      }),
    remedies: (outcomes) =>
      outcomes.flatMap((outcome, i) =>
        outcome.state === 'written' ? [] : all[i].flatMap(({ settle }) => settle.remedy?.(outcome) ?? []),
      ),
  }
}

const isOwed = ({ settle }: Contribution): boolean => settle.isOwed === true

/** Adds to what is to be merged for one record. */
export function addTo(entries: PendingStage['entries'], id: string, contribution: Contribution, isFirst = false): void {
  const known = entries.get(id)
  if (known === undefined) entries.set(id, [contribution])
  else if (isFirst) known.unshift(contribution)
  else known.push(contribution)
}
