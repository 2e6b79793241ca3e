import { SkeinError } from '../errors/index.js'
import type { DeleteCommand, ReadCommand, WriteCommand } from '../plan/command.js'
import type { QueryCommand } from '../plan/query-command.js'
import { calls, type AerospikeClient } from './aerospike-client.js'
import { asFound, type Take } from './arrivals.js'
import {
  runBackground,
  type BackgroundOperation,
  type BackgroundOptions,
  type BackgroundProgress,
} from './background-query.js'
import { closedError } from './closed-error.js'
import type { Capabilities } from './capabilities.js'
import { Events, inSession } from './events.js'
import { exactReads } from './exact-reads.js'
import { Gates } from './gates.js'
import { areHeld, type AskedRecord } from './held-records.js'
import { NodeHealth } from './node-health.js'
import { limitsOf, retryOf, type DriverOptions, type RetryOptions } from './options.js'
import type { CallOptions, CommitOutcome, FoundRecord, Outcome, StoredRecord, TransactionHandle } from './outcome.js'
import { Policies, type PolicySet } from './policies.js'
import { PartitionOwners } from './partition-owners.js'
import { PartitionWalk, type QueryPage, type WalkOptions } from './partition-walk.js'
import { QueryRunner } from './query-runner.js'
import type { ReadRequest } from './read-request.js'
import { Reader } from './reader.js'
import { OneSettled, type WriteReceiver } from './pending-write.js'
import { Transactions } from './transactions.js'
import { Writer } from './writer.js'

// Longer than any time-out of a command, so that only a call without one can reach it.
const LONGEST_DRAIN = 30_000
// Milliseconds in which the client has noticed that a node came or went, unless it looks seldom.
const CLUSTER_CHANGE = 5000

type QueryOptions = Pick<CallOptions, 'signal'>

/** Runs commands on a connected client. See docs/internals/driver.md. */
export class Driver {
  /** The official client, for what Skein does not cover. */
  readonly client: AerospikeClient
  readonly capabilities: Capabilities
  readonly events: Events
  readonly #reader: Reader
  /** Bounds of repeated commands; transactions that get no answer are repeated alike. */
  readonly retry: RetryOptions
  readonly #writer: Writer
  readonly #queries: PartitionWalk
  readonly #policies: Policies
  readonly #durableDelete: (namespace: string) => boolean
  readonly #transactions: Transactions
  readonly #gates: Gates
  readonly #owners: PartitionOwners
  readonly #tenderInterval: number
  #closing: Promise<void> | undefined

  constructor(client: AerospikeClient, capabilities: Capabilities, policySet: PolicySet, options: DriverOptions) {
    this.client = client
    this.capabilities = capabilities
    const limits = limitsOf(options)
    const reveal = { keys: false, values: false, ...options.reveal }
    this.events = new Events(reveal, options.log === 'commands' ? printLine : undefined)
    this.#owners = new PartitionOwners(calls(client))
    this.#gates = new Gates(this.#owners, limits)
    this.retry = retryOf(options)
    this.#tenderInterval = options.tenderInterval ?? 1000
    const parts = {
      client: calls(client),
      policies: new Policies(policySet),
      events: this.events,
      limits,
      retry: this.retry,
      gates: this.#gates,
      owners: this.#owners,
      exact: exactReads(options.byteKeyed),
      health: new NodeHealth(this.#owners),
    }
    this.#policies = parts.policies
    this.#durableDelete = (namespace) =>
      wantsDurableDeletes(policySet) || (capabilities.namespaces[namespace]?.strongConsistency ?? false)
    this.#reader = new Reader(parts)
    this.#queries = new PartitionWalk(new QueryRunner(parts), limits.queryRecords)
    this.#writer = new Writer({
      ...parts,
      reader: this.#reader,
      durableDelete: this.#durableDelete,
      maxRecordSize: (namespace) => capabilities.namespaces[namespace]?.maxRecordSize ?? 1024 * 1024,
    })
    this.#transactions = new Transactions({
      ...parts,
      capabilities,
      reader: this.#reader,
      writer: this.#writer,
      limit: limits.transactions,
    })
  }

  /** Learns which node holds which partitions. */
  start(): Promise<void> {
    return this.#owners.start()
  }

  /** Reads a record for each command, in their order; `null` where there is none. Rejects when a record cannot be read. */
  read(commands: readonly ReadCommand[], options: CallOptions = {}): Promise<(StoredRecord | null)[]> {
    return this.#start(() => {
      options.signal?.throwIfAborted()
      const { transaction } = options
      return transaction === undefined
        ? this.#reader.readAll(commands, options.signal)
        : this.#transactions.read(transaction, commands)
    })
  }

  /** Reads a record for each command and tells each receiver its own answer: one that fails does not fail the others. Nothing is told before this returns. */
  readInto(requests: readonly ReadRequest[], areOfMany: boolean, transaction?: TransactionHandle): void {
    if (this.#closing === undefined && transaction === undefined) return this.#reader.readInto(requests, areOfMany)
    const commands = requests.map(({ command }) => command)
    const read = (): Promise<(StoredRecord | null)[]> => this.read(commands, { transaction })
    const session = requests[0]?.session
    const reading = session === undefined ? read() : inSession(session, read)
    reading.then(
      (records) => requests.forEach((request, i) => request.found(records[i])),
      (error: unknown) => requests.forEach((request) => request.failed(error)),
    )
  }

  /** Reads one record. */
  readOne(command: ReadCommand, options?: CallOptions): Promise<StoredRecord | null> {
    if (options?.transaction !== undefined) return this.read([command], options).then(([found]) => found)
    if (this.#closing !== undefined) return Promise.reject(closedError())
    return this.#reader.read(command, options?.signal)
  }

  /** Of each record, whether a transaction that is not completed may hold it: it would show former values. */
  areHeld(records: readonly AskedRecord[]): Promise<boolean[]> {
    return this.#start(() => areHeld(records, this.#transactions, this.capabilities))
  }

  /** Sends the commands of one stage together; one outcome for each, in their order. */
  run(commands: readonly (WriteCommand | DeleteCommand)[], options: CallOptions = {}): Promise<Outcome[]> {
    return this.#start(() => {
      const { transaction, signal } = options
      if (transaction === undefined) return this.#writer.writeAll(commands, signal)
      signal?.throwIfAborted()
      return this.#transactions.write(transaction, commands)
    })
  }

  /**
   * All records that a query finds, a bounded number at a time; the next are asked for when these have been taken. Queries
   * take no part in transactions: the server would silently ignore them.
   */
  query(command: QueryCommand, options: WalkOptions = {}): AsyncGenerator<readonly FoundRecord[]> {
    return this.queryAs(command, asFound, options)
  }

  /** Runs a query and keeps of each record only what `take` makes of it on arrival; a repeated step is taken again. */
  async *queryAs<R>(command: QueryCommand, take: Take<R>, options: WalkOptions = {}): AsyncGenerator<readonly R[]> {
    if (this.#closing !== undefined) throw closedError()
    yield* this.#queries.all(command, take, options)
  }

  /** `count` records that a query finds, whichever come first, or all where there are fewer. */
  querySome(command: QueryCommand, count: number, options: QueryOptions = {}): Promise<readonly FoundRecord[]> {
    return this.#start(() => this.#queries.some(command, count, options.signal))
  }

  /** Lets the server change all records that a query finds, and waits for it; nothing is repeated. */
  background(
    command: QueryCommand,
    operations: readonly BackgroundOperation[],
    options: BackgroundOptions & { readonly durableDelete?: boolean } = {},
  ): Promise<BackgroundProgress> {
    const { durableDelete = this.#durableDelete(command.namespace), ...rest } = options
    const parts = { client: this.client, policies: this.#policies, retry: this.retry }
    return this.#start(() => runBackground(parts, command, operations, durableDelete, rest))
  }

  /** The records that follow a position, in an order that changes of other records do not move. */
  queryPage(
    command: QueryCommand,
    count: number,
    options: QueryOptions & { readonly after?: string } = {},
  ): Promise<QueryPage> {
    return this.#start(() => this.#queries.page(command, count, options.after, options.signal))
  }

  /** Sends one command. */
  runOne(command: WriteCommand | DeleteCommand, options?: CallOptions): Promise<Outcome> {
    if (options?.transaction !== undefined || options?.signal !== undefined) {
      return this.run([command], options).then(([outcome]) => outcome)
    }
    return new Promise((settled) => this.runInto(command, new OneSettled(settled)))
  }

  /** Sends one command for a receiver, at the lowest cost. Throws when the command cannot be sent at all. */
  runInto(command: WriteCommand | DeleteCommand, receiver: WriteReceiver): void {
    if (this.#closing !== undefined) throw closedError()
    this.#writer.writeInto(command, receiver)
  }

  /** `timeout`: seconds after which the server gives up on the transaction. */
  begin(options: { timeout?: number } = {}): Promise<TransactionHandle> {
    return this.#start(() => this.#transactions.begin(options))
  }

  commit(transaction: TransactionHandle, options?: { deadline?: number }): Promise<CommitOutcome> {
    return this.#start(() => this.#transactions.commit(transaction, options))
  }

  /** True when everything it wrote is certainly undone. */
  abort(transaction: TransactionHandle): Promise<boolean> {
    return this.#start(() => this.#transactions.abort(transaction))
  }

  /** Milliseconds for which transactions whose end the server has not confirmed may still hold their records. */
  get abandonedFor(): number {
    return this.#transactions.abandonedFor
  }

  /** Waits for everything in flight, then closes the connections. Calling it again does nothing. */
  close(): Promise<void> {
    this.#closing ??= this.#drainAndClose()
    return this.#closing
  }

  // A synchronous throw would escape callers that only handle rejections.
  #start<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) return Promise.reject(closedError())
    try {
      return work()
    } catch (error) {
      return rethrow(error)
    }
  }

  async #drainAndClose(): Promise<void> {
    await this.#transactions.abortAll()
    // The client calls back about a node that came or went into memory which close() has freed.
    if (this.#tenderInterval <= CLUSTER_CHANGE) await this.#owners.untilSettled(CLUSTER_CHANGE)
    await this.#owners.stop()
    const began = performance.now()
    // Closing a client with commands in flight, also those of its raw users, ends the process.
    while (!this.#isIdle) {
      if (performance.now() - began > LONGEST_DRAIN) throw notDrained()
      await new Promise((resolve) => setTimeout(resolve, 2))
    }
    // Transactions that have just ended are freed on the next turn; the client must still be there.
    await new Promise((resolve) => setImmediate(resolve))
    calls(this.client).close()
  }

  get #isIdle(): boolean {
    if (!this.#reader.isIdle || !this.#writer.isIdle || !this.#gates.isIdle || !this.#transactions.isIdle) return false
    const { inFlight, queued } = calls(this.client).stats().commands
    return inFlight === 0 && queued === 0
  }
}

// Either policy counts for all deletes: whether one goes alone or in a batch is not the user's choice.
function wantsDurableDeletes({ remove, batchRemove }: PolicySet): boolean {
  return remove.durableDelete === true || batchRemove.durableDelete === true
}

function rethrow(error: unknown): Promise<never> {
  return Promise.resolve().then(() => {
    throw error
  })
}

function printLine(line: string): void {
  process.stderr.write(`${line}\n`)
}

function notDrained(): SkeinError {
  return new SkeinError(
    'SKEIN_4105',
    `Commands were still in flight after ${LONGEST_DRAIN / 1000} seconds, so the client was left open.`,
    {
      fix: 'Give the calls you make on db.client a total time-out.',
    },
  )
}
