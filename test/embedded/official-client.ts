import Aerospike, { type Client, type ConfigOptions, type Transaction } from 'aerospike'
import { PATIENT } from '../server.js'
import { startEmbedded, type EmbeddedOptions, type EmbeddedServer } from 'skein/embedded'

/** An embedded server and the official client connected to it. */
export interface Connected {
  readonly server: EmbeddedServer
  readonly client: Client
  close(): Promise<void>
}

export async function connectOfficialClient(options?: EmbeddedOptions, config: ConfigOptions = {}): Promise<Connected> {
  const server = await startEmbedded(options)
  const { policies, maxErrorRate, errorRateWindow } = PATIENT
  const client = await Aerospike.connect({
    hosts: server.hosts,
    log: { level: Aerospike.log.OFF },
    connTimeoutMs: PATIENT.connectTimeout,
    policies,
    maxErrorRate,
    errorRateWindow,
    ...config,
  })
  return {
    server,
    client,
    close: async () => {
      while (client.stats().commands.inFlight > 0) await new Promise((resolve) => setTimeout(resolve, 5))
      client.close()
      await server.stop()
    },
  }
}

/** The result code with which a command is refused; undefined when it succeeds. */
export async function refusal(command: Promise<unknown>): Promise<number | undefined> {
  try {
    await command
    return undefined
  } catch (error) {
    return (error as { code: number }).code
  }
}

interface TransactionPool {
  capacity: number
  transactions: Transaction[]
  totalReadsAndWrites: number
}

/**
 * The client frees transactions of a full pool while their roll-forward is still under way, and crashes. So the pool is
 * never full, and each transaction leaves it once everything about it has settled.
 */
export function releaseTransaction(transaction: Transaction): void {
  const pool = (Aerospike as unknown as { _transactionPool: TransactionPool })._transactionPool
  pool.capacity = Number.MAX_SAFE_INTEGER
  setImmediate(() => {
    const at = pool.transactions.indexOf(transaction)
    if (at >= 0) {
      pool.transactions.splice(at, 1)
      pool.totalReadsAndWrites -= transaction.getReadsCapacity() + transaction.getWritesCapacity()
    }
    ;(transaction as unknown as { close(): void }).close()
  })
}
