import { PartialFailureError, type RecordOutcome } from '../errors/index.js'
import type { Outcome } from '../plan/outcome.js'
import { showKey } from '../plan/record-key.js'
import type { RunResult } from './run-stages.js'

/** The error of a flush: the record's own where there is only one and its fate is known, otherwise a list of all records. */
export function flushFailure(
  { outcomes, failed }: Pick<RunResult, 'outcomes' | 'failed'>,
  signal?: AbortSignal,
): unknown {
  const [first] = failed
  if (signal?.aborted && outcomes.every(({ reason }) => reason === 'notSent')) return signal.reason
  if (outcomes.length === 1 && first.state === 'notWritten') return first.error
  return new PartialFailureError(message(outcomes, failed), {
    records: outcomes.map((outcome) => recordOutcome(outcome, failed)),
    className: first.command.entity,
    key: first.command.key.key,
    cause: first.error,
    fix: 'Flush again to complete it once the cause is gone.',
  })
}

function message(outcomes: readonly Outcome[], failed: readonly Outcome[]): string {
  const inDoubt = failed.filter(({ state }) => state === 'inDoubt').length
  const doubt = inDoubt === 0 ? '' : `, of ${inDoubt} it is not known`
  const head = `${failed.length - inDoubt} of ${outcomes.length} records were not written${doubt}:`
  const lines = failed.slice(0, 10).map(({ command, error, reason }) => {
    const why = error?.message ?? (reason === 'notSent' ? 'not sent, because an earlier stage failed' : String(reason))
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
