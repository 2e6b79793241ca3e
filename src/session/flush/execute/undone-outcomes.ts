import type { DeleteCommand, WriteCommand } from '../../../plan/command.js'
import type { Outcome } from '../../../plan/outcome.js'
import { recordId } from '../../../plan/record-key.js'
import { isWrite } from '../../../plan/effects.js'

/** Finds outcomes whose whole effect was undone: as good as never written. */
export function undoneOutcomes(
  outcomes: readonly Outcome[],
  undone: readonly Outcome[],
): ReadonlyMap<Outcome, Outcome> {
  const bins = new Map<string, ReadonlySet<string>>()
  const removed = new Set<string>()
  for (const { command, state, reason } of undone) {
    // A record that is missing was deleted by others, with all that was in it.
    if (command.kind === 'delete' && (state === 'written' || reason === 'missing')) removed.add(recordId(command.key))
    // A condition that did not hold: somebody else has written something else there.
    if (state === 'written' || reason === 'guard') bins.set(recordId(command.key), binsOf(command))
  }
  const found = new Map<Outcome, Outcome>()
  for (const outcome of outcomes) {
    const { command, state } = outcome
    if (state === 'written' && removed.has(recordId(command.key))) {
      found.set(outcome, { ...outcome, state: 'notWritten', reason: 'rolledBack' })
      continue
    }
    const back = state === 'written' ? bins.get(recordId(command.key)) : undefined
    if (back === undefined || command.kind === 'delete' || command.exists === 'mustNotExist') continue
    if ([...binsOf(command)].every((bin) => back.has(bin)))
      found.set(outcome, { ...outcome, state: 'notWritten', reason: 'rolledBack' })
  }
  return found
}

function binsOf({ operations }: WriteCommand | DeleteCommand): ReadonlySet<string> {
  const bins = new Set<string>()
  for (const operation of operations ?? []) if (isWrite(operation) && 'bin' in operation) bins.add(operation.bin)
  return bins
}
