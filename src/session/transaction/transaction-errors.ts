import { MOST_WRITES } from '../../driver/capabilities.js'
import type { TransactionHandle } from '../../driver/outcome.js'
import {
  PartialFailureError,
  RetriesExhaustedError,
  shown,
  SkeinError,
  type RecordOutcome,
} from '../../errors/index.js'
import { showKey } from '../../plan/record-key.js'
import type { Drain } from '../../relations/contract/drain.js'

/** `conflict`: repeat all of it. `transient`: repeat it if what it did is certainly undone. */
export type Repeatable = 'conflict' | 'transient' | 'no'

const CONFLICT = 'SKEIN_4305'
/** Time-outs, overload, lost connections and answers: the server may be able the next time. */
const TRANSIENT: ReadonlySet<string> = new Set([
  'SKEIN_4201',
  'SKEIN_4202',
  'SKEIN_4205',
  'SKEIN_4206',
  'SKEIN_4212',
  'SKEIN_4213',
])
/** The end of another transaction: its conflicts are not ours. */
const FINAL: ReadonlySet<string> = new Set(['SKEIN_4002', 'SKEIN_4003'])

/** True when a transaction that failed with this error may be repeated; errors that wrap a conflict count as one. */
export function repeatable(error: unknown, depth = 0): Repeatable {
  if (!(error instanceof Error) || depth > 5) return 'no'
  if (error instanceof SkeinError) {
    if (error.code === CONFLICT) return 'conflict'
    if (TRANSIENT.has(error.code)) return 'transient'
    if (FINAL.has(error.code)) return 'no'
  }
  const causes = error instanceof PartialFailureError ? error.records.map(({ cause }) => cause) : [error.cause]
  const found = causes.map((cause) => repeatable(cause, depth + 1))
  return found.find((one) => one === 'conflict') ?? found.find((one) => one === 'transient') ?? 'no'
}

const INSIDE = new WeakMap<PartialFailureError, TransactionHandle>()

/** Notes that a flush has failed inside this transaction: what it has written depends on how that ends. */
export function noteInside(error: unknown, transaction: TransactionHandle | undefined): void {
  if (transaction !== undefined && error instanceof PartialFailureError) INSIDE.set(error, transaction)
}

/** The error of a transaction that failed: what a flush inside has called written is not, or in doubt while the rollback is not confirmed. */
export function rolledBack(error: unknown, transaction: TransactionHandle, isUndone: boolean): unknown {
  if (!(error instanceof PartialFailureError) || INSIDE.get(error) !== transaction) return error
  const undone = ({ outcome }: RecordOutcome): RecordOutcome['outcome'] =>
    isUndone || outcome === 'notWritten' ? 'notWritten' : 'inDoubt'
  const records = error.records.map((record): RecordOutcome => ({ ...record, outcome: undone(record) }))
  const causes = records.flatMap(({ className, set, key, cause }) =>
    cause instanceof Error ? `  ${className} ${set}/${String(key)}: ${cause.message}` : [],
  )
  const head = isUndone
    ? `None of ${records.length} records was written: the transaction was rolled back.`
    : `The transaction of ${records.length} records failed, and its rollback was not confirmed: the server ends it when it times out.`
  const { details, cause } = error
  return new PartialFailureError([head, ...causes.slice(0, 10)].join('\n'), {
    ...details,
    records,
    cause,
    fix: 'Run the transaction again once the cause is gone.',
  })
}

/** `heldFor`: milliseconds for which a transaction of this process that was not rolled back may still hold its records. */
export function exhausted(attempts: number, last: unknown, kind: Repeatable, heldFor: number): RetriesExhaustedError {
  const why = last instanceof Error ? ` The last failure: ${last.message}` : ''
  const held =
    heldFor === 0
      ? ''
      : ' An earlier transaction of this process was lost before the server had answered its end, and still holds its records.'
  return new RetriesExhaustedError(`The transaction failed on ${attempts} attempts.${held}${why}`, {
    attempts,
    cause: last,
    fix:
      heldFor > 0
        ? `Try again in ${Math.ceil(heldFor / 1000)} s, when the server has ended that transaction.`
        : kind === 'transient'
          ? 'Try again when the server answers; a failover is over after some seconds, and `timeout` says how long to wait for it.'
          : 'Try again later; if it persists, many write the same record at the same time: make the transaction shorter, or spread that record.',
  })
}

export function withoutTransactions(namespace: string): SkeinError {
  return new SkeinError('SKEIN_4301', `Namespace '${namespace}' has no transactions.`, {
    namespace,
    fix: 'They need an enterprise server of version 8 or later and a strongly consistent namespace.',
  })
}

export function badOption(name: string, value: unknown, what: string): SkeinError {
  return new SkeinError('SKEIN_2314', `${name}: ${shown(value)} is not ${what}.`, { fix: `Give ${what}.` })
}

/** Error for a delete whose cascade does not fit into a transaction. */
export function tooLarge({ owner: { model, key }, className, property }: Drain): SkeinError {
  const message = `Deleting ${model.name} ${showKey(key)} reaches more through ${className}.${property} than the ${MOST_WRITES} records that a transaction can write.`
  return new SkeinError('SKEIN_4302', message, {
    className: model.name,
    property,
    key: key.key,
    fix: "Delete it outside a transaction and with transactions: 'auto', which then works in steps.",
  })
}
