import { CommitInDoubtError } from '../../../errors/index.js'
import type { ReadyStage } from '../../../plan/draft.js'
import type { Outcome } from '../../../plan/outcome.js'
import type { RunResult } from './execute-stages.js'

/** A conflict first: it says that all of it may be tried again. */
export function mostTelling(refused: readonly Outcome[]): unknown {
  const first = refused.find(({ reason }) => reason === 'conflict') ?? refused[0]
  return first.error
}

/** Nothing was written, or nobody knows. */
export function transactionFailure(
  ready: ReadyStage,
  outcomes: readonly Outcome[],
  error: unknown,
  isUndone: boolean,
): RunResult {
  const isInDoubt = error instanceof CommitInDoubtError
  const refused = new Set(outcomes.length === 0 ? [] : ready.refused(outcomes))
  const commands = ready.stage.commands as readonly Outcome['command'][]
  const told = commands.map((command, i): Outcome => {
    if (isInDoubt) return { command, state: 'inDoubt', bins: {}, reason: 'unavailable', error }
    const outcome = outcomes[i] as Outcome | undefined
    if (outcome !== undefined && refused.has(outcome)) return { ...outcome, state: 'notWritten' }
    return { command, state: 'notWritten', bins: {}, reason: isUndone ? 'undone' : 'abandoned' }
  })
  if (isInDoubt) ready.settle(told)
  const failed = [...told.filter((outcome) => !isCarried(outcome)), ...told.filter(isCarried)]
  return { stages: [ready.stage], outcomes: told, failed, error }
}

/** Failed only with its transaction. */
const isCarried = ({ reason }: Outcome): boolean => reason === 'undone' || reason === 'abandoned'
