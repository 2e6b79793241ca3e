import type { Driver } from '../../driver/driver.js'
import type { TransactionHandle } from '../../driver/outcome.js'
import { Tries } from '../../driver/retry.js'
import { badOption, exhausted, repeatable, rolledBack, type Repeatable } from './transaction-errors.js'

export interface TransactionOptions {
  /** Number of tries in all. Unless given, 10 times after conflicts; while the server cannot be reached or is busy, until `timeout` or as `retry` of `open` says. */
  readonly attempts?: number
  /** Seconds after which the server gives up on an attempt, and after which no further one begins. 1 to 120, default 10. */
  readonly timeout?: number
  /** The namespace it works in, when that is not the one that `open` was given. */
  readonly namespace?: string
}

/** An attempt of a transaction. */
export interface Attempt<T> {
  /** Sends everything; what it throws aborts the transaction. */
  run(transaction: TransactionHandle): Promise<T>
  /** Called when what was sent is undone, or was never done; not confirmed where the server will do it when the time is up. */
  undone?(isConfirmed: boolean): void
}

const ATTEMPTS = 10
const TIMEOUT = 10
// The first wait in milliseconds, on average; each further one is twice as long, up to a limit.
const BACKOFF = 4
const LONGEST_WAIT = 250

/**
 * Tries until an attempt is committed. A conflict is tried again, and so is a server that was busy or silent, if what the attempt
 * did is certainly undone. A commit whose fate is unknown is never aborted and never tried again.
 */
export async function inTransaction<T>(
  driver: Driver,
  next: (count: number) => Attempt<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const { attempts, timeout } = checked(options)
  const began = performance.now()
  let tries: Tries | undefined
  const patience = { deadline: timeout * 1000, backoff: BACKOFF, longestWait: LONGEST_WAIT }
  // A failover takes seconds, and ten attempts are over in one.
  const isPatient = options.attempts === undefined && driver.retry.attempts === Infinity
  let unanswered = 0
  for (;;) {
    const end = await tryOnce(driver, next(tries?.count ?? 1), timeout, options.timeout)
    if ('result' in end) return end.result
    if (end.again === 'no') throw end.error
    // A transaction of this process that could not be rolled back holds its records until the server ends it.
    const isHeldUp = end.again === 'conflict' && driver.abandonedFor > 0
    if ((end.again === 'transient' || isHeldUp) && isPatient) unanswered++
    tries ??= new Tries(began)
    const wait = tries.next({ ...patience, attempts: attempts + unanswered })
    if (wait === undefined) throw exhausted(tries.count, end.error, end.again, isHeldUp ? driver.abandonedFor : 0)
    await new Promise((resolve) => setTimeout(resolve, wait))
  }
}

type End<T> = { readonly result: T } | { readonly error: unknown; readonly again: Repeatable }

async function tryOnce<T>(driver: Driver, attempt: Attempt<T>, timeout: number, asked?: number): Promise<End<T>> {
  const transaction = await driver.begin({ timeout })
  let result: T
  try {
    result = await attempt.run(transaction)
  } catch (error) {
    const isUndone = await driver.abort(transaction)
    attempt.undone?.(isUndone)
    const kind = repeatable(error)
    return {
      error: rolledBack(error, transaction, isUndone),
      again: kind === 'transient' && !isUndone ? 'no' : kind,
    }
  }
  const outcome = await driver.commit(transaction, asked === undefined ? {} : { deadline: asked * 1000 })
  if (outcome.state === 'committed') return { result }
  if (outcome.state === 'aborted') attempt.undone?.(outcome.isAbandoned !== true)
  return { error: outcome.error, again: outcome.state === 'aborted' ? 'conflict' : 'no' }
}

function checked({ attempts = ATTEMPTS, timeout = TIMEOUT }: TransactionOptions): {
  attempts: number
  timeout: number
} {
  if (!Number.isInteger(attempts) || attempts < 1) throw badOption('attempts', attempts, 'a whole number of at least 1')
  if (!Number.isInteger(timeout) || timeout < 1 || timeout > 120) {
    throw badOption('timeout', timeout, 'a whole number of seconds between 1 and 120')
  }
  return { attempts, timeout }
}
