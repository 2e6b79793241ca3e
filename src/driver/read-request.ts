import type { ReadCommand } from '../plan/command.js'
import { callerContext, callerSession, type InContext } from './events.js'
import type { StoredRecord } from './outcome.js'
import { Tries } from './retry.js'

/** Who waits for a read; is told once, and must not throw. */
export interface Receiver {
  found(record: StoredRecord | null): void
  failed(error: unknown): void
}

/** One read on its way, and who waits for it: waits in the queue, is sent alone or as a row, and may be sent again. */
export abstract class ReadRequest implements Receiver {
  command: ReadCommand
  #tries: Tries | undefined
  /** Time of an earlier failure from which the deadline counts, for reads that belong to another command. */
  since: number | undefined
  isDropped = false
  /** Set when it has failed in a batch: alone it may be answered. */
  goesAlone = false
  readonly inContext: InContext | undefined
  /** The session that asks, for events. */
  readonly session: number | undefined

  constructor(command: ReadCommand, session = callerSession(), inContext = callerContext()) {
    this.command = command
    this.session = session
    this.inContext = inContext
  }

  abstract found(record: StoredRecord | null): void
  abstract failed(error: unknown): void

  /** Reads of one record may run in any order. */
  get key(): undefined {
    return undefined
  }

  /** The request of a read is small: the row limit of a batch bounds it. */
  get bytes(): number {
    return 0
  }

  get attempt(): number {
    return this.#tries?.count ?? 1
  }

  get tries(): Tries {
    return (this.#tries ??= new Tries(this.since))
  }
}

/** A read that tells its receiver. */
export class ReceivedRead extends ReadRequest {
  readonly #receiver: Receiver

  constructor(command: ReadCommand, receiver: Receiver, session?: number, inContext?: InContext) {
    super(command, session, inContext)
    this.#receiver = receiver
  }

  found(record: StoredRecord | null): void {
    this.#receiver.found(record)
  }

  failed(error: unknown): void {
    this.#receiver.failed(error)
  }
}
