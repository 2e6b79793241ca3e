import type { Driver } from '../../driver/driver.js'
import type { TransactionHandle } from '../../driver/outcome.js'
import { ReceivedRead, type ReadRequest } from '../../driver/read-request.js'
import type { WorkCount } from '../context/activity.js'
import { callerContext, type InContext } from '../../driver/events.js'
import type { ReadCommand } from '../../plan/command.js'
import { mergeReads } from '../../plan/merge-reads.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { IdentityMap } from '../tracking/identity-map.js'

// Cheaper than queueMicrotask, which also keeps track of the async context.
const NOW = Promise.resolve()

/**
 * Collects what is to be read until the tick has ended, so that it leaves together: of all sessions, or of one in a transaction.
 * A load that is still alone after a few promises does not wait for the end, which would cost it more than all else here.
 */
export class ReadBatcher {
  readonly #driver: Driver
  readonly #reading: WorkCount
  readonly #transaction: TransactionHandle | undefined
  #waiting: ReadRequest[] | undefined
  #joined: (() => Iterable<ReadRequest>)[] | undefined
  #mayBeAlone = false
  #asker: object | undefined
  #areOfMany = false

  constructor(driver: Driver, reading: WorkCount, transaction?: TransactionHandle) {
    this.#driver = driver
    this.#reading = reading
    this.#transaction = transaction
  }

  /** The asker is whoever the request is for: what several ask for need not be answered at once. */
  add(request: ReadRequest, asker: object, mayBeAlone: boolean): void {
    if (this.#waiting !== undefined) {
      this.#note(asker)
      return void this.#waiting.push(request)
    }
    this.#waiting = [request]
    this.#begin(asker, mayBeAlone)
  }

  /** Joins the tick with requests that are built when it ends. */
  join(requests: () => Iterable<ReadRequest>, asker: object): void {
    if (this.#waiting !== undefined) this.#note(asker)
    else {
      this.#waiting = []
      this.#begin(asker, false)
    }
    this.#joined ??= []
    this.#joined.push(requests)
  }

  #begin(asker: object, mayBeAlone: boolean): void {
    // The driver waits for what it was given; until then a database that closes must know about it.
    this.#reading.begin()
    this.#asker = asker
    this.#areOfMany = false
    this.#mayBeAlone = mayBeAlone
    void NOW.then(this.#second)
  }

  #note(asker: object): void {
    if (asker !== this.#asker) this.#areOfMany = true
  }

  readonly #second = (): void => void NOW.then(this.#third)
  readonly #third = (): void => void NOW.then(this.#sendOrWait)

  readonly #sendOrWait = (): void => {
    if (this.#mayBeAlone && this.#waiting!.length === 1 && this.#joined === undefined) this.#send()
    // After all promises of this tick: what they ask for goes along.
    else process.nextTick(this.#send)
  }

  readonly #send = (): void => {
    const requests = this.#waiting!
    for (const joined of this.#joined ?? []) for (const request of joined()) requests.push(request)
    this.#waiting = undefined
    this.#joined = undefined
    this.#asker = undefined
    this.#driver.readInto(requests, this.#areOfMany, this.#transaction)
    this.#reading.end()
  }
}

/** A transaction has its own: what it reads takes part in it. */
export function tickOf({
  driver,
  reading,
  transaction,
  tick,
}: {
  readonly driver: Driver
  readonly reading: WorkCount
  readonly transaction: TransactionHandle | undefined
  readonly tick: ReadBatcher
}): ReadBatcher {
  return transaction === undefined ? tick : new ReadBatcher(driver, reading, transaction)
}

type Records = (StoredRecord | null)[]
type Found = (record: StoredRecord | null) => void

interface Waiting {
  readonly command: ReadCommand
  readonly found: Found
  readonly failed: (error: unknown) => void
  readonly inContext: InContext | undefined
}

/** Collects what one session reads past its identity map in one tick: what several ask of one record is one command, and leaves with the loads of the tick. */
export class RawReadBatcher {
  readonly #tick: ReadBatcher
  readonly #asker: IdentityMap
  #waiting: Waiting[] | undefined

  constructor(tick: ReadBatcher, asker: IdentityMap) {
    this.#tick = tick
    this.#asker = asker
  }

  read(commands: readonly ReadCommand[]): Promise<Records> {
    return new Promise((resolve, failed) => {
      const records = new Array<StoredRecord | null>(commands.length)
      let open = commands.length
      const inContext = callerContext()
      commands.forEach((command, i) => {
        const found: Found = (record) => {
          records[i] = record
          if (--open === 0) resolve(records)
        }
        this.#add({ command, found, failed, inContext })
      })
    })
  }

  #add(waiting: Waiting): void {
    if (this.#waiting !== undefined) return void this.#waiting.push(waiting)
    this.#waiting = [waiting]
    this.#tick.join(this.#take, this.#asker)
  }

  readonly #take = (): ReadRequest[] => {
    const waiting = this.#waiting!
    this.#waiting = undefined
    const { commands, answeredBy } = mergeReads(waiting.map(({ command }) => command))
    const askers = commands.map((): Waiting[] => [])
    waiting.forEach((one, i) => askers[answeredBy[i]].push(one))
    return commands.map(
      (command, i) =>
        new ReceivedRead(
          command,
          {
            found: (record) => askers[i].forEach(({ found }) => found(record)),
            failed: (error) => askers[i].forEach(({ failed }) => failed(error)),
          },
          this.#asker.session,
          askers[i][0].inContext,
        ),
    )
  }
}
