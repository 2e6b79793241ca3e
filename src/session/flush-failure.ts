import { CommitInDoubtError, PartialFailureError, RetriesExhaustedError, type RecordOutcome } from '../errors/index.js'
import type { Outcome, Reason } from '../plan/outcome.js'
import { showKey } from '../plan/record-key.js'
import type { RunResult } from './run-stages.js'

/** The error of a flush: the record's own where there is only one and its fate is known, otherwise a list of all records. */
export function flushFailure(
  { outcomes, failed, error, isPart }: Pick<RunResult, 'outcomes' | 'failed' | 'error' | 'isPart'>,
  signal?: AbortSignal,
): unknown {
  const [first] = failed
  const isWhole = error instanceof RetriesExhaustedError || error instanceof CommitInDoubtError
  if (isWhole && isPart !== true) return error
  if (signal?.aborted && outcomes.every(({ reason }) => reason === 'notSent')) return signal.reason
  if (outcomes.length === 1 && first.state === 'notWritten') return first.error
  return new PartialFailureError(message(outcomes, failed), {
    records: outcomes.map((outcome) => recordOutcome(outcome, failed)),
    className: first.command.entity,
    key: first.command.key.key,
    cause: first.error ?? error,
    fix: 'Flush again to complete it once the cause is gone.',
  })
}

const WHY: { readonly [reason in Reason]?: string } = {
  notSent: 'not sent, because something that it changes with has failed',
  undone: 'undone with the transaction it was part of',
}

function message(outcomes: readonly Outcome[], failed: readonly Outcome[]): string {
  const inDoubt = failed.filter(({ state }) => state === 'inDoubt').length
  const doubt = inDoubt === 0 ? '' : `, of ${inDoubt} it is not known`
  const head = `${failed.length - inDoubt} of ${outcomes.length} records were not written${doubt}:`
  const lines = failed.slice(0, 10).map(({ command, error, reason }) => {
    const why = error?.message ?? WHY[reason!] ?? String(reason)
    return `  ${command.kind} ${command.entity} ${showKey(command.key)}: ${why}`
  })
  const more = failed.length > lines.length ? [`  and ${failed.length - lines.length} more`] : []
  return [head, ...lines, ...more].join('\n')
}

function recordOutcome(outcome: Outcome, failed: readonly Outcome[]): RecordOutcome {
  const { command, error, state } = outcome
  const { namespace, set, key } = command.key
  return {
    className: command.entity,
    namespace,
    set,
    key,
    // A delete that found nothing is as good as done.
    outcome: failed.includes(outcome) ? (state === 'inDoubt' ? 'inDoubt' : 'notWritten') : 'written',
    ...(error === undefined ? {} : { cause: error }),
  }
}
