import { onAbort } from '../../driver/on-abort.js'

/** Counter of work that begins and ends. */
export interface WorkCount {
  /** True when no more may begin. */
  readonly isClosing: boolean
  begin(): void
  end(): void
}

/** Runs work that closing the database waits for, and refuses it afterwards. */
export type Counted = <T>(work: () => Promise<T>) => Promise<T>

/** Work as a whole, whatever it begins on the way. */
export async function during<T>(activity: WorkCount, work: () => Promise<T>): Promise<T> {
  activity.begin()
  try {
    return await work()
  } finally {
    activity.end()
  }
}

/** Rejects with the signal's reason as soon as it fires, otherwise settles as the promise does. */
export function abortable<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return signal === undefined ? promise : rejectedOn(signal, promise, () => true)
}

/** Aborts work while it is queued; once begun, the work handles the signal itself. */
export function abortableWhileQueued<T>(
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
  inQueue: (work: () => Promise<T>) => Promise<T>,
): Promise<T> {
  if (signal === undefined) return inQueue(work)
  let hasBegun = false
  const result = inQueue(() => {
    hasBegun = true
    return work()
  })
  return hasBegun ? result : rejectedOn(signal, result, () => !hasBegun)
}

function rejectedOn<T>(signal: AbortSignal, promise: Promise<T>, isStill: () => boolean): Promise<T> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error)
    const forget = onAbort(signal, () => isStill() && reject(signal.reason as Error))
    void promise.then(resolve, reject).finally(forget)
  })
}
