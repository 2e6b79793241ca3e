import Aerospike from 'aerospike'
import type { Database } from 'skein'
import { fromBins, type Listing } from './listing.js'

const { OK } = Aerospike.status
const ROWS = 32
const UNDER_WAY = 2

interface Waiting {
  readonly row: object
  readonly answered: (record: Aerospike.AerospikeRecord) => void
  readonly failed: (error: unknown) => void
}

type Send = (rows: object[]) => Promise<Aerospike.BatchResult[]>

/**
 * Callers who each want one record, gathered by hand into batches: the most that the official client gives many callers on the machine
 * at hand. Nothing is checked but the status of a row.
 */
class Gatherer {
  readonly #send: Send
  #waiting: Waiting[] = []
  #underWay = 0

  constructor(send: Send) {
    this.#send = send
  }

  ask(row: object): Promise<Aerospike.AerospikeRecord> {
    return new Promise((answered, failed) => {
      if (this.#waiting.push({ row, answered, failed }) === 1) setImmediate(() => this.#leave())
    })
  }

  #leave(): void {
    while (this.#underWay < UNDER_WAY && this.#waiting.length > 0) {
      const batch = this.#waiting
      this.#waiting = batch.length > ROWS ? batch.splice(ROWS) : []
      this.#underWay++
      this.#sendBatch(batch).catch((error: unknown) => batch.forEach(({ failed }) => failed(error)))
    }
  }

  async #sendBatch(batch: readonly Waiting[]): Promise<void> {
    try {
      const results = await this.#send(batch.map(({ row }) => row))
      results.forEach(({ status, record }, i) => {
        if (status === OK) batch[i].answered(record)
        else batch[i].failed(new Error(`The server answered ${String(status)}.`))
      })
    } finally {
      this.#underWay--
      // The callers that were just answered ask again first.
      setImmediate(() => this.#leave())
    }
  }
}

export class Gathered {
  readonly #keyOf: (id: number) => Aerospike.Key
  readonly #reads: Gatherer
  readonly #writes: Gatherer
  readonly #update = new Aerospike.BatchWritePolicy({
    exists: Aerospike.policy.exists.UPDATE,
    ttl: Aerospike.ttl.DONT_UPDATE,
  })

  constructor({ client }: Pick<Database, 'client'>, keyOf: (id: number) => Aerospike.Key) {
    this.#keyOf = keyOf
    this.#reads = new Gatherer((rows) => client.batchRead(rows as Parameters<typeof client.batchRead>[0]))
    this.#writes = new Gatherer((rows) => client.batchWrite(rows as Parameters<typeof client.batchWrite>[0]))
  }

  read(id: number): Promise<Aerospike.AerospikeRecord> {
    return this.#reads.ask({ key: this.#keyOf(id), readAllBins: true })
  }

  async load(id: number): Promise<Listing> {
    return fromBins((await this.read(id)).bins)
  }

  async savePrice({ id, price }: Pick<Listing, 'id' | 'price'>): Promise<void> {
    await this.#writes.ask({
      type: Aerospike.batchType.BATCH_WRITE,
      key: this.#keyOf(id),
      ops: [Aerospike.operations.write('price', price)],
      policy: this.#update,
    })
  }
}
