import { AsyncLocalStorage } from 'node:async_hooks'
import { SkeinError } from '../errors/index.js'

/** For what a transaction cannot carry. */
export interface OutsideTransaction {
  /** Do it although a transaction is under way: it is not part of it, and is not undone with it. */
  readonly outsideTransaction?: boolean
}

// Made by the first transaction: following asynchronous calls has a price that nobody else should pay.
let storage: AsyncLocalStorage<true> | undefined

/** Runs the function of a transaction, so that what it calls can know. */
export function insideTransaction<T>(work: () => Promise<T>): Promise<T> {
  storage ??= new AsyncLocalStorage()
  return storage.run(true, work)
}

/** The server ignores or refuses the transaction of such a call, so that it would silently not take part. */
export function refuseInTransaction(what: string, { outsideTransaction = false }: OutsideTransaction = {}): void {
  if (outsideTransaction || storage?.getStore() === undefined) return
  throw new SkeinError('SKEIN_2313', `${what} cannot take part in a transaction.`, {
    fix: 'Do it before or after the transaction, or pass { outsideTransaction: true } if it need not be undone with it.',
  })
}
