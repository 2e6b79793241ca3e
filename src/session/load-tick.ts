import type { Driver } from '../driver/driver.js'
import type { TransactionHandle } from '../driver/outcome.js'
import type { ReadRequest } from '../driver/reader.js'

// Cheaper than queueMicrotask, which also keeps track of the async context.
const NOW = Promise.resolve()

/** Collects what is to be read until the tick has ended, so that it leaves together: of all sessions, or of one in a transaction. */
export class LoadTick {
  readonly #driver: Driver
  readonly #transaction: TransactionHandle | undefined
  #waiting: ReadRequest[] | undefined

  constructor(driver: Driver, transaction?: TransactionHandle) {
    this.#driver = driver
    this.#transaction = transaction
  }

  add(request: ReadRequest): void {
    if (this.#waiting !== undefined) return void this.#waiting.push(request)
    this.#waiting = [request]
    // After the promises of this tick: what they ask for goes along.
    void NOW.then(this.#sendLater)
  }

  readonly #sendLater = (): void => process.nextTick(this.#send)

  readonly #send = (): void => {
    const requests = this.#waiting!
    this.#waiting = undefined
    this.#driver.readInto(requests, this.#transaction)
  }
}
