import { SkeinError } from '../errors/index.js'
import type { DeleteCommand, ReadCommand, WriteCommand } from '../plan/command.js'
import { recordId, type RecordKey } from '../plan/record-key.js'
import { ABORT_STATUS, closeTransaction, newTransaction, transactionPool, TXN_STATE } from './aerospike-client.js'
import type { ClientCalls, ClientError, NativeTransaction } from './aerospike-client.js'
import { MOST_WRITES, type Capabilities } from './capabilities.js'
import type { Events } from './events.js'
import { Gate, type Gates } from './gates.js'
import { closedError } from './closed-error.js'
import type { NodeHealth } from './node-health.js'
import type { RetryOptions } from './options.js'
import type { CommitOutcome, Outcome, StoredRecord, TransactionHandle } from './outcome.js'
import type { PartitionOwners } from './partition-owners.js'
import type { Reader } from './reader.js'
import { Tries } from './retry.js'
import { noRoom, notCommitted, otherNamespace, tooManyWrites } from './transaction-errors.js'
import type { Writer } from './writer.js'

/** Committed: at once, before, or with the monitor left to the server. */
const COMMITTED = new Set([0, 1, 6])
/** Aborted: at once, before, or with only the monitor left to the server. */
const UNDONE = new Set([ABORT_STATUS.OK, ABORT_STATUS.ALREADY_ABORTED, ABORT_STATUS.CLOSE_ABANDONED])
/** Committed, and some records have not heard of it. */
const ROLL_FORWARD_ABANDONED = 5
/** Seconds after which a server ends a transaction that says nothing else, and milliseconds by which it may be late. */
const SERVER_TIMEOUT = 10
const GRACE = 1000
/** Milliseconds in which a cluster has noticed that a node is gone. */
const FAILOVER = 5000
const ALREADY_COMMITTED = -18
const ALREADY_ABORTED = -19

class OpenTransaction implements TransactionHandle {
  readonly id: number
  readonly began = performance.now()
  readonly written = new Map<string, RecordKey>()
  readonly inFlight = new Set<Promise<unknown>>()
  namespace: string | undefined
  isOpen = true
  /** The server keeps a monitor record for the transaction once a write has succeeded. */
  hasMonitor = false
  /** Time at which the server ends the transaction by itself. */
  endsAt = 0
  firstWrite: Promise<Outcome> | undefined

  constructor(
    readonly native: NativeTransaction,
    /** Bounds its writes in flight. */
    readonly room: Gate,
    /** Seconds that the server gives it. */
    readonly timeout: number,
  ) {
    this.id = native.getId()
  }

  get writes(): number {
    return this.written.size
  }
}

interface TransactionParts {
  readonly client: ClientCalls
  readonly capabilities: Capabilities
  readonly reader: Reader
  readonly writer: Writer
  readonly events: Events
  readonly gates: Gates
  readonly limit: number
  readonly retry: RetryOptions
  readonly owners: PartitionOwners
  readonly health: NodeHealth
}

/** Multi-record transactions on a client whose own handling of them is not safe; see docs/internals/driver.md. */
export class Transactions {
  readonly #parts: TransactionParts
  readonly #open = new Set<OpenTransaction>()
  readonly #room: Gate
  #isClosing = false
  /** Time by which the server has ended the transactions whose end it has not confirmed. */
  #abandonedUntil = 0

  constructor(parts: TransactionParts) {
    this.#parts = parts
    // The client's pool throws when many transactions are open at once.
    this.#room = new Gate(parts.limit)
    // Past its capacity the pool frees transactions that are still being rolled forward.
    transactionPool().capacity = Number.MAX_SAFE_INTEGER
  }

  get isIdle(): boolean {
    return this.#open.size === 0
  }

  /** Milliseconds for which transactions whose end the server has not confirmed may still hold their records. */
  get abandonedFor(): number {
    return Math.max(0, this.#abandonedUntil - performance.now())
  }

  async begin(options: { timeout?: number } = {}): Promise<TransactionHandle> {
    const patience = options.timeout === undefined ? this.#parts.retry.deadline : options.timeout * 1000
    if (!(await this.#room.enter(patience))) throw noRoom(this.#parts.limit, patience)
    if (this.#isClosing) {
      this.#room.leave()
      throw closedError()
    }
    const { timeout = SERVER_TIMEOUT } = options
    const transaction = new OpenTransaction(newTransaction(), this.#parts.gates.newGate(), timeout)
    if (options.timeout !== undefined) transaction.native.setTimeout(options.timeout)
    this.#open.add(transaction)
    return transaction
  }

  read(handle: TransactionHandle, commands: readonly ReadCommand[]): Promise<(StoredRecord | null)[]> {
    const transaction = this.#check(handle, commands)
    return track(transaction, this.#parts.reader.readInTransaction(commands, transaction.native))
  }

  /** Result codes of reading the records. */
  readCodes(handle: TransactionHandle, commands: readonly ReadCommand[]): Promise<number[]> {
    const transaction = this.#check(handle, commands)
    return track(transaction, this.#parts.reader.codesInTransaction(commands, transaction.native))
  }

  /** Single-record writes side by side: a batch would register only its last record with the transaction. */
  write(handle: TransactionHandle, commands: readonly (WriteCommand | DeleteCommand)[]): Promise<Outcome[]> {
    const transaction = this.#check(handle, commands)
    const records = new Map(commands.map(({ key }) => [recordId(key), key]))
    const total = transaction.writes + [...records.keys()].filter((id) => !transaction.written.has(id)).length
    if (total > MOST_WRITES) throw tooManyWrites(total)
    for (const [id, key] of records) transaction.written.set(id, key)
    return track(transaction, Promise.all(commands.map((command) => this.#write(transaction, command))))
  }

  /** Commits, repeating a commit whose answer was lost until it is decided or the deadline has passed. */
  async commit(handle: TransactionHandle, options: { deadline?: number } = {}): Promise<CommitOutcome> {
    const transaction = await this.#end(handle)
    await this.#untilReachable(transaction)
    const began = performance.now()
    let tries: Tries | undefined
    const { deadline = this.#parts.retry.deadline } = options
    const patience = { attempts: Infinity, deadline, backoff: 20, longestWait: 1000 }
    let wasInDoubt = false
    for (;;) {
      const { status, error } = await this.#decide(() => this.#parts.client.commit(transaction.native))
      if (status === ROLL_FORWARD_ABANDONED)
        return this.#release(transaction, { state: 'committed', isAbandoned: true })
      if (status !== undefined && COMMITTED.has(status)) return this.#release(transaction, { state: 'committed' })
      if (error?.code === ALREADY_COMMITTED) return this.#release(transaction, { state: 'committed' })
      wasInDoubt ||= transaction.native.getInDoubt() === true
      const isOver = error?.code === ALREADY_ABORTED || transaction.native.getState() === TXN_STATE.ABORTED
      const wait = isOver ? undefined : (tries ??= new Tries(began)).next(patience)
      if (wait === undefined) return this.#release(transaction, notCommitted(error, wasInDoubt, isOver))
      await new Promise((resolve) => setTimeout(resolve, wait))
    }
  }

  /**
   * Undoes what the transaction wrote; true when that is certainly done. Where the server cannot be reached, it does so itself when
   * the time is up.
   */
  async abort(handle: TransactionHandle): Promise<boolean> {
    const transaction = await this.#end(handle)
    await this.#untilReachable(transaction)
    const { status, error } = await this.#decide(() => this.#parts.client.abort(transaction.native))
    const isCommitted =
      error?.code === ALREADY_COMMITTED ||
      (status === undefined && transaction.native.getState() === TXN_STATE.COMMITTED)
    const isUndone = !isCommitted && (transaction.writes === 0 || (status !== undefined && UNDONE.has(status)))
    this.#release(transaction, { state: isCommitted ? 'committed' : 'aborted', isAbandoned: !isUndone && !isCommitted })
    return isUndone
  }

  /** Nothing new begins; what is open is undone, and what is being decided goes on. */
  async abortAll(): Promise<void> {
    this.#isClosing = true
    await Promise.all([...this.#open].filter((one) => one.isOpen).map((one) => this.abort(one)))
  }

  /**
   * The client gives up on records of a node that is gone, and cannot be asked again: they would stay locked until the transaction times
   * out. So while a node is unreliable this waits until it answers, or others have taken over.
   */
  async #untilReachable({ written }: OpenTransaction): Promise<void> {
    const { health, owners } = this.#parts
    if (!owners.areMany || this.#isClosing) return
    if ([...written.values()].some((key) => health.isUnreliable({ key })))
      await owners.untilAnswering(written.values(), FAILOVER)
  }

  /** The first write creates the transaction's monitor record, so it goes alone and the others wait for it. */
  async #write(transaction: OpenTransaction, command: WriteCommand | DeleteCommand): Promise<Outcome> {
    const { writer } = this.#parts
    while (!transaction.hasMonitor) {
      if (transaction.firstWrite !== undefined) {
        await transaction.firstWrite
        continue
      }
      transaction.firstWrite = writer.writeInTransaction(command, transaction.native)
      const outcome = await transaction.firstWrite
      transaction.firstWrite = undefined
      transaction.hasMonitor = outcome.state === 'written'
      transaction.endsAt = performance.now() + transaction.timeout * 1000 + GRACE
      return outcome
    }
    await transaction.room.enter()
    try {
      return await writer.writeInTransaction(command, transaction.native)
    } finally {
      transaction.room.leave()
    }
  }

  /** The client answers with a promise, a plain number or an exception; here it is always one of two fields. */
  async #decide(call: () => Promise<number> | number): Promise<{ status?: number; error?: ClientError }> {
    const { spanning } = this.#parts.gates
    await spanning.enter()
    try {
      return { status: await call() }
    } catch (error) {
      return { error: error as ClientError }
    } finally {
      spanning.leave()
    }
  }

  /** Closes the transaction to new commands and waits for those in flight. */
  async #end(handle: TransactionHandle): Promise<OpenTransaction> {
    const transaction = this.#check(handle, [])
    transaction.isOpen = false
    await Promise.allSettled(transaction.inFlight)
    return transaction
  }

  #release(transaction: OpenTransaction, outcome: CommitOutcome): CommitOutcome {
    const { id, began, writes, native, endsAt } = transaction
    if (outcome.isAbandoned) this.#abandonedUntil = Math.max(this.#abandonedUntil, endsAt)
    this.#open.delete(transaction)
    this.#parts.events.transaction({ id, state: outcome.state, ms: performance.now() - began, writes })
    // The binding still touches the transaction when it has called back; only afterwards may its memory go.
    setImmediate(() => {
      const { transactions } = transactionPool()
      const at = transactions.indexOf(native)
      if (at >= 0) transactions.splice(at, 1)
      closeTransaction(native)
      this.#room.leave()
    })
    return outcome
  }

  #check(
    handle: TransactionHandle,
    commands: readonly (ReadCommand | WriteCommand | DeleteCommand)[],
  ): OpenTransaction {
    const transaction = handle as OpenTransaction
    if (!transaction.isOpen || !this.#open.has(transaction)) {
      throw new SkeinError('SKEIN_4304', 'The transaction is already over.', {
        fix: 'Await all work of a transaction before its function returns.',
      })
    }
    for (const { key } of commands) {
      transaction.namespace ??= this.#withTransactions(key.namespace)
      if (key.namespace !== transaction.namespace) throw otherNamespace(transaction.namespace, key.namespace)
    }
    return transaction
  }

  #withTransactions(namespace: string): string {
    if (this.#parts.capabilities.namespaces[namespace]?.transactions === true) return namespace
    throw new SkeinError('SKEIN_4301', `Namespace '${namespace}' has no transactions.`, {
      namespace,
      fix: 'They need an enterprise server of version 8 or later and a strongly consistent namespace.',
    })
  }
}

function track<T>(transaction: OpenTransaction, work: Promise<T>): Promise<T> {
  transaction.inFlight.add(work)
  const forget = (): void => void transaction.inFlight.delete(work)
  work.then(forget, forget)
  return work
}
