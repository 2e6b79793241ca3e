import { CommitInDoubtError, PartialFailureError, RetriesExhaustedError, type RecordOutcome } from '../errors/index.js'
import type { Outcome, Reason } from '../plan/outcome.js'
import { recordId, showKey } from '../plan/record-key.js'
import { afterDoubt } from '../plan/repeatable.js'
import type { RunResult } from './run-stages.js'

/** The error of a flush: the record's own where there is only one and its fate is known, otherwise a list of all records. */
export function flushFailure(
  { outcomes, failed, error, isPart }: Pick<RunResult, 'outcomes' | 'failed' | 'error' | 'isPart'>,
  signal?: AbortSignal,
  advice?: string,
): unknown {
  const [first] = failed
  const isWhole = error instanceof RetriesExhaustedError || error instanceof CommitInDoubtError
  if (isWhole && isPart !== true) return error
  if (signal?.aborted && outcomes.every(({ reason }) => reason === 'notSent')) return signal.reason
  if (outcomes.length === 1 && first.state === 'notWritten') return first.error
  const records = byRecord(outcomes, failed)
  return new PartialFailureError(message(records), {
    records: records.map(recordOutcome),
    className: first.command.entity,
    key: first.command.key.key,
    cause: first.error ?? error,
    fix: advice ?? adviceOn(records),
  })
}

/** True when nothing was written, and sending the same again would not help: a condition was not met, or nothing was sent at all. */
export function isRefused(outcomes: readonly Outcome[]): boolean {
  if (!outcomes.every(({ state }) => state === 'notWritten')) return false
  return outcomes.some(({ reason }) => reason === 'guard') || outcomes.every(({ reason }) => reason === 'notSent')
}

const FLUSH_AGAIN = 'Flush again to complete it once the cause is gone.'
const NEVER_AGAIN =
  'Increments and appends that are in doubt are not sent again: refresh the entity to see whether they took effect.'

function adviceOn(records: readonly Fate[]): string {
  const failed = records.filter(({ state }) => state !== 'written')
  const isFinal = ({ state, outcome: { command } }: Fate): boolean =>
    state === 'inDoubt' && afterDoubt(command) === 'report'
  const advice = new Set(failed.map((fate) => (isFinal(fate) ? NEVER_AGAIN : FLUSH_AGAIN)))
  return [...advice].join(' ')
}

const WHY: { readonly [reason in Reason]?: string } = {
  notSent: 'not sent, because something that it changes with has failed.',
  undone: 'undone with the transaction it was part of.',
  takenBack: 'taken back, because something that it changes with has failed.',
}

/** One record, and the most telling of what became of its commands. */
interface Fate {
  readonly state: RecordOutcome['outcome']
  readonly outcome: Outcome
}

/** A record may have been written in several stages: it is written only if all of them are. */
function byRecord(outcomes: readonly Outcome[], failed: readonly Outcome[]): Fate[] {
  const refused = new Set(failed)
  const fates = new Map<string, Fate>()
  for (const outcome of outcomes) {
    const id = recordId(outcome.command.key)
    // A delete that found nothing is as good as done.
    const state = !refused.has(outcome) ? 'written' : outcome.state === 'inDoubt' ? 'inDoubt' : 'notWritten'
    const known = fates.get(id)
    if (known === undefined || WORSE.indexOf(state) > WORSE.indexOf(known.state)) fates.set(id, { state, outcome })
  }
  return [...fates.values()]
}

const WORSE: readonly RecordOutcome['outcome'][] = ['written', 'notWritten', 'inDoubt']

function message(records: readonly Fate[]): string {
  const failed = records.filter(({ state }) => state !== 'written')
  const inDoubt = failed.filter(({ state }) => state === 'inDoubt').length
  const refused = failed.length - inDoubt
  const doubt = inDoubt === 0 ? '' : `, of ${inDoubt} it is not known`
  const head =
    refused === 0
      ? `Of ${inDoubt} of ${records.length} records it is not known whether it was written:`
      : `${refused} of ${records.length} records were not written${doubt}:`
  const lines = failed.slice(0, 10).map(({ outcome: { command, error, reason } }) => {
    const why = error?.message ?? WHY[reason!] ?? `${reason}.`
    return `  ${command.kind} ${command.entity} ${showKey(command.key)}: ${why}`
  })
  const more = failed.length > lines.length ? [`  and ${failed.length - lines.length} more.`] : []
  return [head, ...lines, ...more].join('\n')
}

function recordOutcome({ state, outcome: { command, error } }: Fate): RecordOutcome {
  const { namespace, set, key } = command.key
  return {
    className: command.entity,
    namespace,
    set,
    key,
    outcome: state,
    ...(error === undefined ? {} : { cause: error }),
  }
}
