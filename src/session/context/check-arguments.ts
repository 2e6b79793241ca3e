import { SkeinError } from '../../errors/index.js'
import { describeKey, keyProblem, type Tenant } from '../../keys/index.js'
import {
  checkChoice,
  checkNames,
  checkTexts,
  isOptions,
  notValid,
  shown,
  type NamesOf,
} from '../../model/call-options.js'
import type { OutsideTransaction } from '../../model/index.js'
import type { MappedClass } from '../mapping/mapped-class.js'
import { TRANSACTION_MODES } from './open-options.js'
import type { VerifyOptions } from '../verify/verify-options.js'
import type { AtOptions, LoadOptions, RefreshOptions, SaveOptions, UpsertOptions } from './session-types.js'
import type { OperateOptions } from '../raw-operate.js'
import type { DatabaseQueryOptions, FlushOptions, SessionQueryOptions } from './option-types.js'

const SAVE: NamesOf<SaveOptions> = {
  ttl: true,
  version: true,
  signal: true,
  transactions: true,
  outsideTransaction: true,
}
const UPSERT: NamesOf<UpsertOptions> = { ttl: true, signal: true, transactions: true, outsideTransaction: true }
const FLUSH: NamesOf<FlushOptions> = {
  signal: true,
  step: true,
  onProgress: true,
  transactions: true,
  outsideTransaction: true,
}
const LOAD: NamesOf<LoadOptions<object>> = {
  only: true,
  with: true,
  from: true,
  signal: true,
  outsideTransaction: true,
  deleted: true,
}

const SESSION_QUERY: NamesOf<SessionQueryOptions> = {
  signal: true,
  onProgress: true,
  outsideTransaction: true,
  deleted: true,
  allTenants: true,
}
const QUERY: NamesOf<DatabaseQueryOptions> = {
  tenant: true,
  signal: true,
  onProgress: true,
  outsideTransaction: true,
  deleted: true,
  allTenants: true,
}
const AT: NamesOf<AtOptions> = { create: true }
const OPERATE: NamesOf<OperateOptions> = { idempotent: true, ttl: true, signal: true }

const REFRESH: NamesOf<RefreshOptions> = { signal: true }

// A save takes the options of a flush: it may delete orphans.
const KNOWN = {
  save: { ...FLUSH, ...SAVE },
  upsert: { ...FLUSH, ...UPSERT },
  flush: FLUSH,
  delete: FLUSH,
  refresh: REFRESH,
  persist: { ttl: true },
  explain: { transactions: true },
  verify: { repair: true, settle: true, signal: true } satisfies NamesOf<VerifyOptions>,
} as const

/** Options of a call of a session; unknown ones are rejected. */
export function checkCallOptions(call: keyof typeof KNOWN, options: object | undefined): void {
  if (options === undefined) return
  checkNames(`${call}()`, options, KNOWN[call])
  checkChoice('transactions', (options as FlushOptions).transactions, TRANSACTION_MODES)
}

export const checkOperateOptions = (options: OperateOptions): void => checkNames('operate()', options, OPERATE)
export const checkRestoreOptions = (options: OutsideTransaction | undefined): void =>
  checkNames('restore()', options, { outsideTransaction: true })

export function checkAtOptions(options: AtOptions | undefined): void {
  if (options === undefined) return
  checkNames('at()', options, AT)
  if (options.create !== undefined && typeof options.create !== 'boolean')
    throw notValid(`${shown(options.create)} is not a valid value for the option create.`, 'Use true or false.')
}

/** Throws for a key or options beside an entity, which would have no effect. */
export function checkEntityAlone(call: 'at' | 'history', ...others: readonly unknown[]): void {
  if (others.every((one) => one === undefined)) return
  const fix = 'Leave out key and options, or give its class and key instead of the entity.'
  throw new SkeinError('SKEIN_2321', `${call}() takes nothing beside an entity, whose record is known.`, { fix })
}

export function checkLoadOptions(options: { readonly only?: unknown; readonly with?: unknown } | undefined): void {
  if (options === undefined) return
  checkNames('A load', options, LOAD)
  checkOnly(options.only)
  checkTexts('with', options.with)
  checkChoice('from', (options as { readonly from?: unknown }).from, ['archive', 'any'])
  checkDepth(options.with as readonly string[] | undefined)
}

/** Names, and objects that say what is wanted of some properties. */
export function checkOnly(only: unknown): void {
  if (!Array.isArray(only) || !only.some(isOptions)) return checkTexts('only', only)
  checkTexts(
    'only',
    only.filter((item) => !isOptions(item)),
  )
}

const MOST_STEPS = 64

/** Each step is a round trip, and a step of calls here. */
function checkDepth(paths: readonly string[] | undefined): void {
  const deep = paths?.find((path) => path.length > MOST_STEPS && path.split('.', MOST_STEPS + 1).length > MOST_STEPS)
  if (deep === undefined) return
  throw notValid(
    `The option with takes paths of at most ${MOST_STEPS} steps, and ${shown(deep)} has more.`,
    'Load the rest from what the path leads to.',
  )
}

export const checkSessionQueryOptions = (options: SessionQueryOptions): void =>
  checkNames('A query of a session', options, SESSION_QUERY)
export function checkQueryOptions(options: DatabaseQueryOptions): void {
  checkNames('A query', options, QUERY)
  checkTenant(options.tenant)
}

export function checkTenant(given: Tenant | undefined): Tenant | undefined {
  if (given === undefined) return undefined
  const isNumber = typeof given === 'bigint' || Number.isSafeInteger(given)
  const problem =
    isNumber || typeof given === 'string'
      ? keyProblem(String(given), 'string')
      : `${describeKey(given)} is not a string, integer or bigint`
  if (problem === undefined) return given
  throw new SkeinError('SKEIN_2101', `The tenant cannot be part of a key: ${problem}.`, {
    fix: 'Give the name or number of the tenant.',
  })
}

/** The values of a new entity. */
export function checkValues(given: unknown, className: string): void {
  if (typeof given === 'object' && given !== null && !Array.isArray(given)) return
  throw notTaken(`create(${className}) takes an object of values, not ${shown(given)}.`, 'Give { property: value }.')
}

export function checkKeys(given: unknown): void {
  if (Array.isArray(given)) return
  throw notTaken(`${shown(given)} is not a list of keys.`, 'Give a list: [17], or ask for one with load or find.')
}

export function notTaken(message: string, fix: string): SkeinError {
  return new SkeinError('SKEIN_2321', message, { fix })
}

/** Refuses to show deleted entities of a class whose deletes leave nothing to show. */
export function checkDeleted({ model }: MappedClass, deleted: unknown): void {
  if (deleted === undefined) return
  checkChoice('deleted', deleted, ['include', 'only'])
  if (model.deletedAt !== undefined) return
  throw new SkeinError('SKEIN_2320', `${model.name} has no @DeletedAt, so there are no deleted ones to show.`, {
    className: model.name,
    fix: 'Leave the option deleted out, or declare @DeletedAt() deletedAt?: Date.',
  })
}
