import type { Reveal } from '../plan/show-command.js'
import type { ClientConfig } from './aerospike-client.js'
import type { ByteKeyedSets } from './exact-reads.js'
import { ownValues } from './own-values.js'

/** Bounds on what is in flight to one node; together they never exceed the connections that the client may open to a node. */
export interface Limits {
  /** Round trips of each kind (reads, writes) in flight before further commands wait and leave together as a batch. */
  readonly roundTrips: number
  /** Commands in flight that cannot share a batch: increments, generation checks, everything inside a transaction; and as many queries. */
  readonly alone: number
  /** Rows of one batch. */
  readonly batchRows: number
  /** Bytes of one batch's request. */
  readonly batchBytes: number
  /** Transactions open at a time; one more waits. */
  readonly transactions: number
  /** Records of one step of a query; up to three steps are held at a time. */
  readonly queryRecords: number
  /** A record that grows past this many bytes causes a warning. */
  readonly warnRecordSize: number
  /** Bytes of the longest key: the native client crashes on one of megabytes. */
  readonly keyBytes: number
}

const DEFAULT_LIMITS: Limits = Object.freeze({
  roundTrips: 4,
  alone: 40,
  batchRows: 256,
  batchBytes: 1024 * 1024,
  transactions: 500,
  queryRecords: 4000,
  warnRecordSize: 128 * 1024,
  keyBytes: 64 * 1024,
})

const CLIENT_CONNECTIONS = 100
/** Queues: for reads, for writes, and for commands that cannot share a batch. */
export const LEAST_CONNECTIONS = 3

/**
 * The given limits over the defaults. Both shrink with the connections the client may open to a node: it refuses a command that
 * finds none free.
 */
export function limitsOf({
  limits: given,
  maxConnsPerNode = CLIENT_CONNECTIONS,
}: Pick<DriverOptions, 'limits' | 'maxConnsPerNode'>): Limits & { readonly spanning: number } {
  const limits = ownValues(given)
  const wanted = { ...DEFAULT_LIMITS, ...limits }
  const most = Math.floor(limits.roundTrips === undefined ? maxConnsPerNode / 4 : (maxConnsPerNode - 1) / 2)
  const roundTrips = Math.max(1, Math.min(wanted.roundTrips, most))
  const left = maxConnsPerNode - 2 * roundTrips
  const alone = Math.max(1, Math.min(wanted.alone, left - 1))
  const spanning = Math.max(0, Math.min(wanted.alone, left - alone))
  return { ...wanted, roundTrips, alone, spanning }
}

/** Repetition of commands that the server could not answer or refused for the moment. */
export interface RetryOptions {
  /** Tries in all, the first one included. */
  readonly attempts: number
  /** Milliseconds from the first failure after which no further try begins. */
  readonly deadline: number
  /** Milliseconds before the second try, on average; each further wait is twice as long, */
  readonly backoff: number
  /** but not longer than this many milliseconds, on average. */
  readonly longestWait: number
}

/** By time and not by number: a cluster needs some seconds to notice that a node is gone. */
const DEFAULT_RETRY: RetryOptions = Object.freeze({
  attempts: Infinity,
  deadline: 10_000,
  backoff: 8,
  longestWait: 250,
})

export const retryOf = ({ retry }: Pick<DriverOptions, 'retry'>): RetryOptions => ({
  ...DEFAULT_RETRY,
  ...ownValues(retry),
})

/** Options of a connection. Every option of the official client can be given too and is passed on to it. */
export interface DriverOptions extends Omit<ClientConfig, 'log'> {
  /** Namespaces the model uses: each must exist on the server. */
  readonly namespaces: readonly string[]
  /** Milliseconds for connecting and logging in. Default 3000. */
  readonly connectTimeout?: number
  readonly limits?: Partial<Limits>
  readonly retry?: Partial<RetryOptions>
  /** `'commands'` prints each command to standard error. */
  readonly log?: 'commands' | 'off'
  /** Parts that events and the log may show. Default: neither keys nor values. */
  readonly reveal?: Partial<Reveal>
  /** Sets whose records have maps with bytes as keys. */
  readonly byteKeyed?: ByteKeyedSets
  /** The native client's own log; off unless given. */
  readonly clientLog?: ClientConfig['log']
}
