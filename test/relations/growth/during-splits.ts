import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { RetriesExhaustedError, type SplitEvent, type TransactionEvent } from 'skein'

/** Splits and transactions during the work. */
export async function told(
  work: () => Promise<unknown>,
): Promise<{ splits: SplitEvent[]; transactions: TransactionEvent[] }> {
  const splits: SplitEvent[] = []
  const transactions: TransactionEvent[] = []
  const split = (event: unknown): void => void splits.push(event as SplitEvent)
  const transaction = (event: unknown): void => void transactions.push(event as TransactionEvent)
  subscribe('skein:split', split)
  subscribe('skein:transaction', transaction)
  try {
    await work()
  } finally {
    unsubscribe('skein:split', split)
    unsubscribe('skein:transaction', transaction)
  }
  return { splits, transactions }
}

const AT_ONCE = 25

/** Runs the work for every member, a bounded number at a time. */
export async function forAll(count: number, work: (i: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
}

/** Repeats work until it is done: many transactions on one record conflict, which does not concern tests of splits. */
export async function untilDone(work: () => Promise<unknown>): Promise<void> {
  for (;;)
    try {
      return void (await work())
    } catch (error) {
      if (!(error instanceof RetriesExhaustedError)) throw error
    }
}
