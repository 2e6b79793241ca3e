import {
  AlreadyExistsError,
  CommitInDoubtError,
  PartialFailureError,
  RetriesExhaustedError,
  type RecordOutcome,
} from '../../../errors/index.js'
import { HISTORY_BIN } from '../../../model/index.js'
import type { Outcome, Reason } from '../../../plan/outcome.js'
import type { Stage } from '../../../plan/plan.js'
import { recordId, showKey } from '../../../plan/record-key.js'
import { addsToOthers, afterDoubt, isWrite } from '../../../plan/effects.js'
import type { RunResult } from './execute-stages.js'

/** The error of a flush: the record's own where there is only one and its fate is known, otherwise a list of all records. */
export function flushFailure(
  { stages = [], error, isPart, ...all }: Pick<RunResult, 'outcomes' | 'failed'> & Partial<RunResult>,
  signal?: AbortSignal,
  advice?: string,
): unknown {
  const [outcomes, failed] = [all.outcomes.filter(isTelling), all.failed.filter(isTelling)]
  const [first] = failed
  const isWhole = error instanceof RetriesExhaustedError || error instanceof CommitInDoubtError
  if (isWhole && isPart !== true) return error
  if (outcomes.every(({ reason }) => reason === 'notSent')) {
    if (signal?.aborted) return signal.reason
    if (error !== undefined) return error
  }
  // A record that was sent and rolled back has no error of its own where a later attempt has failed before it sent anything.
  const own = first.error ?? error
  if (outcomes.length === 1 && first.state === 'notWritten' && own !== undefined) return own
  const taken = onlyDuplicate(outcomes)
  if (taken !== undefined) return taken
  const records = byRecord(outcomes, failed, stages)
  if (records.length === 1 && records[0].state === 'notWritten' && records[0].outcome.error !== undefined)
    return records[0].outcome.error
  return new PartialFailureError(message(records), {
    records: records.map(recordOutcome),
    className: first.command.entity,
    key: first.command.key.key,
    cause: failed.find((outcome) => outcome.error !== undefined)?.error ?? error,
    fix: advice ?? adviceOn(records),
  })
}

/** The error of a taken key, where nothing was written and it is the reason for all. */
function onlyDuplicate(outcomes: readonly Outcome[]): unknown {
  if (!outcomes.every(({ state }) => state === 'notWritten')) return undefined
  const errors = new Set(outcomes.flatMap(({ error }) => error ?? []))
  const [first] = errors
  return errors.size === 1 && first instanceof AlreadyExistsError ? first : undefined
}

/** True when nothing was written, and sending the same again would not help: a condition was not met, or nothing was sent at all. */
export function isRefused(all: readonly Outcome[]): boolean {
  const outcomes = all.filter(isTelling)
  if (!outcomes.every(({ state }) => state === 'notWritten')) return false
  return outcomes.some(({ reason }) => reason === 'guard') || outcomes.every(({ reason }) => reason === 'notSent')
}

/** False for a history, which goes before the change of its record and tells nothing of it, unless that is where it failed. */
function isTelling({ command, state, reason }: Outcome): boolean {
  const isHistory = command.operations.some((operation) => 'bin' in operation && operation.bin === HISTORY_BIN)
  return !isHistory || (state !== 'written' && reason !== 'undone' && reason !== 'notSent')
}

const FLUSH_AGAIN = 'Flush again to complete it once the cause is gone.'
const NEVER_AGAIN =
  'Increments and appends that are in doubt are not sent again: refresh the entity to see whether they took effect.'

function adviceOn(records: readonly Fate[]): string {
  const failed = records.filter(({ state }) => state !== 'written')
  const isFinal = ({ state, outcome: { command } }: Fate): boolean =>
    state === 'inDoubt' && (afterDoubt(command) === 'report' || addsToOthers(command))
  const advice = new Set(failed.map((fate) => (isFinal(fate) ? NEVER_AGAIN : FLUSH_AGAIN)))
  return [...advice].join(' ')
}

const WHY: { readonly [reason in Reason]?: string } = {
  notSent: 'not sent, because a record that changes together with it has failed.',
  undone: 'rolled back with the transaction it was part of.',
  abandoned:
    'its transaction failed, and the rollback was not confirmed: the server rolls it back when the transaction times out, and holds the record until then.',
  rolledBack: 'rolled back, because a record that changes together with it has failed.',
}

/** Record with the most telling outcome of its commands. */
interface Fate {
  readonly state: RecordOutcome['outcome']
  readonly outcome: Outcome
}

/** A record may have been written in several stages: it is written only if all of them are, and not written only if none is. */
function byRecord(outcomes: readonly Outcome[], failed: readonly Outcome[], stages: readonly Stage[]): Fate[] {
  const refused = new Set(failed)
  // Rollbacks store nothing.
  const undoing = new Set(stages.flatMap(({ title, commands }) => (title === 'undo' ? commands : [])))
  const begun = new Set<string>()
  const fates = new Map<string, Fate>()
  for (const outcome of outcomes) {
    if (isTouch(outcome.command) && !refused.has(outcome)) continue
    const id = recordId(outcome.command.key)
    // A delete that found nothing is as good as done.
    const state = !refused.has(outcome) ? 'written' : outcome.state === 'inDoubt' ? 'inDoubt' : 'notWritten'
    const isBegun = outcome.state === 'written' || outcome.isPartlyWritten === true
    if (isBegun && !undoing.has(outcome.command)) begun.add(id)
    const known = fates.get(id)
    if (known === undefined || isWorse({ state, outcome }, known)) fates.set(id, { state, outcome })
  }
  return [...fates].map(([id, fate]) =>
    fate.state === 'notWritten' && begun.has(id) ? { ...fate, state: 'partlyWritten' } : fate,
  )
}

/** Stores nothing: it only asks, or says that the record takes part. */
const isTouch = ({ kind, operations }: Outcome['command']): boolean =>
  kind === 'write' && operations.every((operation) => operation.kind === 'touch' || !isWrite(operation))

/** Compares two outcomes: of two that are as bad, the one with a reason tells more. */
function isWorse({ state, outcome }: Fate, known: Fate): boolean {
  const by = WORSE.indexOf(state) - WORSE.indexOf(known.state)
  return by > 0 || (by === 0 && outcome.error !== undefined && known.outcome.error === undefined)
}

const WORSE: readonly RecordOutcome['outcome'][] = ['written', 'notWritten', 'inDoubt']

function message(records: readonly Fate[]): string {
  const failed = records.filter(({ state }) => state !== 'written')
  const lines = failed.slice(0, 10).map(({ state, outcome: { command, error, reason } }) => {
    const why = error?.message ?? WHY[reason!] ?? `${reason}.`
    const part = state === 'partlyWritten' ? 'only in part: ' : ''
    return `  ${command.kind} ${command.entity} ${showKey(command.key)}: ${part}${why}`
  })
  const more = failed.length > lines.length ? [`  and ${failed.length - lines.length} more.`] : []
  return [head(records), ...lines, ...more].join('\n')
}

function head(records: readonly Fate[]): string {
  const count = (wanted: Fate['state']): number => records.filter(({ state }) => state === wanted).length
  const [refused, begun, inDoubt] = [count('notWritten'), count('partlyWritten'), count('inDoubt')]
  const all = `of ${records.length} records`
  if (refused + begun === 0) return `${inDoubt} ${all} may or may not have been written:`
  const doubt = inDoubt === 0 ? '' : `, ${inDoubt} may or may not have been`
  if (refused === 0) return `${begun} ${all} were written only in part${doubt}:`
  return `${refused} ${all} were not written${begun === 0 ? '' : `, ${begun} only in part`}${doubt}:`
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
