import { AsyncLocalStorage } from 'node:async_hooks'
import { SkeinError } from '../../errors/index.js'
import type { EntityModel, IndexModel, OutsideTransaction } from '../../model/index.js'

// Made by the first transaction: following asynchronous calls has a price that nobody else should pay.
let storage: AsyncLocalStorage<true> | undefined

/** Runs the function of a transaction, so that what it calls can know. */
export function insideTransaction<T>(work: () => Promise<T>): Promise<T> {
  storage ??= new AsyncLocalStorage()
  return storage.run(true, work)
}

/** The server ignores or refuses the transaction of such a call, so that it would silently not take part. */
export function refuseInTransaction(what: string, { outsideTransaction = false }: OutsideTransaction = {}): void {
  if (outsideTransaction || !isInside()) return
  throw cannotTakePart(what, 'Do it before or after the transaction', 'if it need not be undone with it')
}

/** Refuses a query of the database inside the function of a transaction. */
export function refuseQuery(model: EntityModel, { outsideTransaction = false }: OutsideTransaction): void {
  if (!outsideTransaction && isInside()) throw queryInTransaction(model)
}

const isInside = (): boolean => storage?.getStore() !== undefined

/** Refuses a query by index: it would see neither what this transaction has written nor whether others change it. */
export function queryInTransaction({ name: entity }: EntityModel, index?: IndexModel): SkeinError {
  const what = `A query for ${entity}${index === undefined ? '' : ` by its index on '${index.bin}'`}`
  const to = index === undefined ? `to query(${entity}, …)` : 'to load, delete or flush'
  return cannotTakePart(what, 'Ask before the transaction', `${to} if what is committed will do`)
}

function cannotTakePart(what: string, instead: string, unless: string): SkeinError {
  return new SkeinError('SKEIN_2313', `${what} cannot take part in a transaction.`, {
    fix: `${instead}, or pass { outsideTransaction: true } ${unless}.`,
  })
}
