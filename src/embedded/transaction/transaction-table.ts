import type { EmbeddedLimits } from '../options.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { nowMillis, nowSeconds } from '../store/clock.js'
import { RecordState } from '../store/record-state.js'
import { Transaction, type Slot } from '../store/slot.js'

const MAX_TIMEOUT_SECONDS = 120

/** Namespace, as its transactions see it. */
export interface TransactedRecords {
  readonly limits: Required<EmbeddedLimits>
  commit(slot: Slot, after: RecordState | undefined): void
  dropIfEmpty(slot: Slot): void
  nextVersion(): number
}

/** The transactions of a namespace: who holds which record, and what happens when a client vanishes. */
export class TransactionTable {
  readonly #byId = new Map<string, Transaction>()
  readonly #byMonitor = new Map<string, Transaction>()

  constructor(readonly namespace: TransactedRecords) {}

  get size(): number {
    return this.#byId.size
  }

  begin(id: string, monitorKey: string, timeout: number): Transaction {
    if (this.byMonitor(monitorKey)) throw new CommandError(ResultCode.TXN_MONITOR_EXISTS)
    if (timeout > MAX_TIMEOUT_SECONDS) throw new CommandError(ResultCode.PARAMETER, 'transaction timeout too long')
    const seconds = timeout > 0 ? timeout : this.namespace.limits.transactionTimeout
    const transaction = new Transaction(id, monitorKey, nowSeconds() + seconds, nowMillis() + seconds * 1000)
    this.#byId.set(id, transaction)
    this.#byMonitor.set(monitorKey, transaction)
    return transaction
  }

  byId(id: string): Transaction | undefined {
    return this.#current(this.#byId.get(id))
  }

  byMonitor(monitorKey: string): Transaction | undefined {
    return this.#current(this.#byMonitor.get(monitorKey))
  }

  /** Holder of a record now; a holder whose time is over is finished first. */
  holder(slot: Slot | undefined): Transaction | undefined {
    return this.#current(slot?.provisional?.transaction)
  }

  hold(transaction: Transaction, slot: Slot, state: RecordState | undefined): void {
    if (!transaction.held.has(slot) && transaction.held.size >= this.namespace.limits.maxTransactionWrites) {
      throw new CommandError(ResultCode.TXN_TOO_MANY_WRITES)
    }
    slot.provisional = { transaction, state }
    transaction.held.add(slot)
  }

  /** Makes what the transaction wrote to one record the truth. Repeating it is harmless. */
  rollForward(transaction: Transaction, slot: Slot): void {
    const provisional = slot.provisional
    if (provisional?.transaction !== transaction) return
    slot.provisional = undefined
    transaction.held.delete(slot)
    this.namespace.commit(slot, provisional.state && this.#reversioned(provisional.state))
  }

  rollBack(transaction: Transaction, slot: Slot): void {
    if (slot.provisional?.transaction !== transaction) return
    slot.provisional = undefined
    transaction.held.delete(slot)
    this.namespace.dropIfEmpty(slot)
  }

  close(transaction: Transaction): void {
    this.#finish(transaction)
  }

  /** Finishes the transactions whose clients vanished. */
  sweep(): void {
    for (const transaction of this.#byId.values()) this.#current(transaction)
  }

  /** A transaction past its deadline goes forward if its commit was marked, and back otherwise. */
  #current(transaction: Transaction | undefined): Transaction | undefined {
    if (transaction === undefined || !transaction.expired) return transaction
    this.#finish(transaction)
    return undefined
  }

  #finish(transaction: Transaction): void {
    for (const slot of [...transaction.held]) {
      if (transaction.committing) this.rollForward(transaction, slot)
      else this.rollBack(transaction, slot)
    }
    this.#byId.delete(transaction.id)
    this.#byMonitor.delete(transaction.monitorKey)
  }

  #reversioned(state: RecordState): RecordState {
    return new RecordState(
      state.digest,
      state.setName,
      state.bins,
      state.generation,
      state.voidTime,
      state.lastUpdate,
      this.namespace.nextVersion(),
      state.storedKey,
    )
  }
}
