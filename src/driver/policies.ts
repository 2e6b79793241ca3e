import type { Existence, Ttl } from '../plan/command.js'
import { policy, type ClientPolicies, type NativeTransaction, type PolicyObject } from './aerospike-client.js'

// A stalled event loop must not look like a dead server, so the totals are longer than the client's one second.
const READ = { socketTimeout: 1000, totalTimeout: 3000, maxRetries: 2 }
// The driver repeats writes itself, because it knows which of them may be repeated.
const WRITE = { socketTimeout: 0, totalTimeout: 3000, maxRetries: 0 }

const DEFAULTS = {
  read: READ,
  batch: READ,
  write: WRITE,
  operate: WRITE,
  remove: WRITE,
  batchParentWrite: WRITE,
  batchWrite: {},
  batchRemove: {},
  // A query may take long as a whole, but not between two answers.
  query: { socketTimeout: 10_000, totalTimeout: 0, maxRetries: 2 },
}

/** The policies a client connects with, by kind. */
export type PolicySet = Readonly<Record<keyof typeof DEFAULTS, PolicyObject>>

/** Skein's defaults under the policies the user gave, kind by kind. */
export function mergePolicies(given: ClientPolicies = {}): PolicySet {
  const byKind = given as Readonly<Record<string, object | undefined>>
  const merged = Object.entries(DEFAULTS).map(([kind, defaults]) => [kind, { ...defaults, ...ownValues(byKind[kind]) }])
  return { ...given, ...Object.fromEntries(merged) } as PolicySet
}

// The client's policy classes set every property, most of them to undefined.
function ownValues(given: object | undefined): PolicyObject {
  return Object.fromEntries(Object.entries(given ?? {}).filter(([, value]) => value !== undefined))
}

const EXISTS: Record<Existence, number> = {
  mustNotExist: policy.exists.CREATE,
  mustExist: policy.exists.UPDATE,
  upsert: policy.exists.IGNORE,
  replace: policy.exists.CREATE_OR_REPLACE,
}

const TTL = { default: 0, never: -1, keep: -2 }

/** What a single write or a batch row is sent with, beyond its operations. */
export interface WriteTerms {
  readonly exists: Existence
  readonly ttl: Ttl
  readonly sendKey: boolean
  readonly durableDelete: boolean
  readonly filter?: string
  readonly generation?: number
  readonly transaction?: NativeTransaction
}

export const ttlNumber = (ttl: Ttl): number => (typeof ttl === 'number' ? ttl : TTL[ttl])

/**
 * Builds the policy of each call. A policy given to a call replaces all configured defaults, even the time-outs,
 * so each one is put together from the configured policy of its kind.
 */
export class Policies {
  readonly #config: PolicySet
  readonly #cache = new Map<string, PolicyObject>()

  constructor(config: PolicySet) {
    this.#config = config
  }

  /** For `get` and `select`; without a transaction the client's configured default is used as it is. */
  read(transaction?: NativeTransaction): PolicyObject | null {
    return transaction === undefined ? null : { ...this.#config.read, txn: transaction }
  }

  batchRead(transaction?: NativeTransaction): PolicyObject | null {
    return transaction === undefined ? null : { ...this.#config.batch, txn: transaction }
  }

  query(filter?: string): PolicyObject {
    return filter === undefined ? this.#config.query : { ...this.#config.query, filterExpression: filter }
  }

  operate(terms: WriteTerms): PolicyObject {
    const base = this.#cached('operate', terms, () => ({
      ...this.#config.operate,
      ...rowTerms(terms),
    }))
    return withExtras(base, terms)
  }

  remove(terms: WriteTerms): PolicyObject {
    const base = this.#cached('remove', terms, () => ({ ...this.#config.remove, durableDelete: terms.durableDelete }))
    return withExtras(terms.generation === undefined ? base : { ...base, generation: terms.generation }, terms)
  }

  /** Rows carry their own terms; the time-outs are those of the whole batch. */
  writeRow(terms: WriteTerms): PolicyObject {
    const base = this.#cached(`row ${terms.ttl}`, terms, () => ({
      ...this.#config.batchWrite,
      ...rowTerms(terms),
      ttl: ttlNumber(terms.ttl),
    }))
    return withExtras(base, terms)
  }

  removeRow(terms: WriteTerms): PolicyObject {
    const base = this.#cached('remove row', terms, () => ({
      ...this.#config.batchRemove,
      durableDelete: terms.durableDelete,
    }))
    return withExtras(base, terms)
  }

  #cached(kind: string, terms: WriteTerms, make: () => PolicyObject): PolicyObject {
    const id = `${kind} ${terms.exists} ${terms.sendKey} ${terms.durableDelete}`
    let found = this.#cache.get(id)
    if (found === undefined) {
      // A TTL of the caller's choice would otherwise let the cache grow without end.
      if (this.#cache.size > 500) this.#cache.clear()
      this.#cache.set(id, (found = Object.freeze(make())))
    }
    return found
  }
}

function rowTerms(terms: WriteTerms): PolicyObject {
  const key = terms.sendKey ? { key: policy.key.SEND } : {}
  return { exists: EXISTS[terms.exists], durableDelete: terms.durableDelete, ...key }
}

function withExtras(base: PolicyObject, terms: WriteTerms): PolicyObject {
  if (terms.filter === undefined && terms.generation === undefined && terms.transaction === undefined) return base
  const extras: Record<string, unknown> = { ...base }
  if (terms.filter !== undefined) extras.filterExpression = terms.filter
  if (terms.generation !== undefined) extras.gen = policy.gen.EQ
  if (terms.transaction !== undefined) extras.txn = terms.transaction
  return extras
}
