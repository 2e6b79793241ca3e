import type { Existence, Ttl } from '../plan/command.js'
import { policy, type ClientPolicies, type NativeTransaction, type PolicyObject } from './aerospike-client.js'
import { ownValues } from './own-values.js'

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
  // A query may take long as a whole, but not between two answers. The driver repeats it with fewer partitions.
  query: { socketTimeout: 10_000, totalTimeout: 0, maxRetries: 0 },
  // Truncating, and creating or dropping an index, may take a server longer than the client's one second.
  info: { timeout: 10_000 },
}

/** The policies a client connects with, by kind. */
export type PolicySet = Readonly<Record<keyof typeof DEFAULTS, PolicyObject>>

const TIMES = ['socketTimeout', 'totalTimeout', 'connectTimeout', 'timeoutDelay'] as const
const READ_TERMS = [
  ...TIMES,
  'maxRetries',
  'sleepBetweenRetries',
  'replica',
  'readModeAP',
  'readModeSC',
  'readTouchTtlPercent',
] as const
/** Terms of the plain call hold for all: whether commands share a batch, and by which call they go, is not the user's choice. */
const FOLLOWS: { readonly [kind: string]: readonly ['read' | 'write', readonly string[]] } = {
  batch: ['read', READ_TERMS],
  operate: ['write', TIMES],
  remove: ['write', TIMES],
  batchParentWrite: ['write', TIMES],
}

/** Skein's defaults under the policies the user gave, kind by kind. */
export function mergePolicies(given: ClientPolicies = {}): PolicySet {
  const byKind = given as Readonly<Record<string, PolicyObject | undefined>>
  const merged = Object.entries(DEFAULTS).map(([kind, defaults]) => {
    const [leader, terms] = FOLLOWS[kind] ?? []
    const led = leader === undefined ? {} : termsOf(byKind[leader], terms)
    // The client's policy classes set every property, most of them to undefined.
    return [kind, { ...defaults, ...led, ...ownValues(byKind[kind]) }]
  })
  return { ...given, ...Object.fromEntries(merged) } as PolicySet
}

const termsOf = (policy: PolicyObject | undefined, terms: readonly string[]): PolicyObject =>
  ownValues(Object.fromEntries(terms.map((term) => [term, policy?.[term]])))

const EXISTS: Record<Existence, number> = {
  mustNotExist: policy.exists.CREATE,
  mustExist: policy.exists.UPDATE,
  upsert: policy.exists.IGNORE,
  replace: policy.exists.CREATE_OR_REPLACE,
}

const TTL = { default: 0, never: -1, keep: -2 }

/** Terms of a single write or a batch row, beyond its operations. */
export interface WriteTerms {
  readonly exists: Existence
  readonly ttl: Ttl
  readonly sendKey: boolean
  readonly durableDelete: boolean
  readonly filter?: string
  readonly generation?: number
}

const ttlNumber = (ttl: Ttl): number => (typeof ttl === 'number' ? ttl : TTL[ttl])

const META = {
  default: Object.freeze({ ttl: TTL.default }),
  never: Object.freeze({ ttl: TTL.never }),
  keep: Object.freeze({ ttl: TTL.keep }),
}

/** Metadata of a single call, which it takes beside its policy. */
export function metaOf({ ttl, generation }: WriteTerms): object {
  if (generation === undefined && typeof ttl !== 'number') return META[ttl]
  return { ttl: ttlNumber(ttl), gen: generation }
}

/**
 * Builds the policy of each call. A policy given to a call replaces all configured defaults, even the time-outs,
 * so each one is put together from the configured policy of its kind.
 */
export class Policies {
  readonly #config: PolicySet
  readonly #readOperations: PolicyObject
  readonly #operate: PolicyTable
  readonly #put: PolicyTable
  readonly #remove: PolicyTable
  readonly #removeRow: PolicyTable
  readonly #writeRow = new Map<Ttl, PolicyTable>()

  constructor(config: PolicySet) {
    this.#config = config
    this.#readOperations = Object.freeze({ ...config.operate, ...termsOf(config.read, READ_TERMS) })
    this.#operate = new PolicyTable((terms) => ({ ...config.operate, ...rowTerms(terms) }))
    this.#put = new PolicyTable((terms) => ({ ...config.write, ...rowTerms(terms) }))
    this.#remove = new PolicyTable(({ durableDelete }) => ({ ...config.remove, durableDelete }))
    this.#removeRow = new PolicyTable(({ durableDelete }) => ({ ...config.batchRemove, durableDelete }))
  }

  /** For `get` and `select`; without a filter the client's configured default is used as it is. */
  read(filter?: string): PolicyObject | null {
    return filter === undefined ? null : { ...this.#config.read, filterExpression: filter }
  }

  /** For a read that gets lists and maps as bytes. */
  rawRead(filter?: string): PolicyObject {
    return { ...this.#config.read, ...ownValues({ filterExpression: filter }), deserialize: false }
  }

  /** For `operate` calls that only read: the time-outs and retries of a read. */
  readOperations(filter?: string): PolicyObject {
    return filter === undefined ? this.#readOperations : { ...this.#readOperations, filterExpression: filter }
  }

  /** For a row of a batch that has a filter of its own. */
  readRow(filter: string): PolicyObject {
    const { readModeAP, readModeSC, readTouchTtlPercent } = this.#config.batch
    return { ...ownValues({ readModeAP, readModeSC, readTouchTtlPercent }), filterExpression: filter }
  }

  /** `isRaw` for a batch that gets lists and maps as bytes. */
  batchRead(transaction?: NativeTransaction, isRaw = false): PolicyObject | null {
    if (transaction === undefined && !isRaw) return null
    return { ...this.#config.batch, txn: transaction, ...(isRaw && { deserialize: false }) }
  }

  query(filter?: string): PolicyObject {
    return filter === undefined ? this.#config.query : { ...this.#config.query, filterExpression: filter }
  }

  /** For write operations that the server runs on what a query finds; the time-outs are those of starting it. */
  background(filter: string | undefined, durableDelete: boolean): PolicyObject {
    const base = { ...this.#config.write, durableDelete }
    return filter === undefined ? base : { ...base, filterExpression: filter }
  }

  operate(terms: WriteTerms, transaction?: NativeTransaction): PolicyObject {
    return withExtras(this.#operate.get(terms), terms, transaction)
  }

  put(terms: WriteTerms, transaction?: NativeTransaction): PolicyObject {
    return withExtras(this.#put.get(terms), terms, transaction)
  }

  remove(terms: WriteTerms, transaction?: NativeTransaction): PolicyObject {
    const { generation } = terms
    const base = this.#remove.get(terms)
    return withExtras(generation === undefined ? base : { ...base, generation }, terms, transaction)
  }

  /** Rows carry their own terms; the time-outs are those of the whole batch. */
  writeRow(terms: WriteTerms): PolicyObject {
    const table = this.#writeRow.get(terms.ttl) ?? this.#newWriteRow(terms.ttl)
    return withExtras(table.get(terms), terms)
  }

  #newWriteRow(ttl: Ttl): PolicyTable {
    const table = new PolicyTable((terms) => ({
      ...this.#config.batchWrite,
      ...rowTerms(terms),
      ttl: ttlNumber(ttl),
    }))
    // Expiries of the caller's choice would otherwise let the tables grow without end.
    if (this.#writeRow.size > 100) this.#writeRow.clear()
    this.#writeRow.set(ttl, table)
    return table
  }

  removeRow(terms: WriteTerms): PolicyObject {
    return withExtras(this.#removeRow.get(terms), terms)
  }
}

const EXISTENCES = Object.keys(EXISTS)

/** Policies that differ only in a few terms, each made once. */
class PolicyTable {
  readonly #make: (terms: WriteTerms) => PolicyObject
  readonly #made: PolicyObject[] = []

  constructor(make: (terms: WriteTerms) => PolicyObject) {
    this.#make = make
  }

  get(terms: WriteTerms): PolicyObject {
    const at = 4 * EXISTENCES.indexOf(terms.exists) + (terms.sendKey ? 2 : 0) + (terms.durableDelete ? 1 : 0)
    return (this.#made[at] ??= Object.freeze(this.#make(terms)))
  }
}

function rowTerms(terms: WriteTerms): PolicyObject {
  const key = terms.sendKey ? { key: policy.key.SEND } : {}
  return { exists: EXISTS[terms.exists], durableDelete: terms.durableDelete, ...key }
}

function withExtras(base: PolicyObject, terms: WriteTerms, transaction?: NativeTransaction): PolicyObject {
  if (terms.filter === undefined && terms.generation === undefined && transaction === undefined) return base
  const extras: Record<string, unknown> = { ...base }
  if (terms.filter !== undefined) extras.filterExpression = terms.filter
  if (terms.generation !== undefined) extras.gen = policy.gen.EQ
  if (transaction !== undefined) extras.txn = transaction
  return extras
}
