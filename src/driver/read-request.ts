import type { ReadCommand } from '../plan/command.js'
import { checkResultNames, isRaw } from '../plan/effects.js'
import {
  batchType,
  type Answered,
  type BatchRow,
  type BatchRowResult,
  type ClientCalls,
  type ClientKey,
  type ClientRecord,
} from './aerospike-client.js'
import { clientOperation } from './client-operations.js'
import { clientKey } from './client-record.js'
import { encodeExpression } from './encode-expression.js'
import { callerContext, callerSession, type Events, type InContext } from './events.js'
import { onAbort } from './on-abort.js'
import type { StoredRecord } from './outcome.js'
import type { Policies } from './policies.js'
import { areTaken } from './raw-operations.js'
import { CODE } from './status.js'
import { Tries } from './retry.js'

/** Receiver of a read's answer; it is told once, and must not throw. */
export interface Receiver {
  found(record: StoredRecord | null): void
  failed(error: unknown): void
}

/** A read that is not answered yet, and its receiver: waits in the queue, is sent alone or as a row, and may be sent again. */
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

/** A read that is checked, and dropped when the signal fires. */
export function pendingRead(command: ReadCommand, receiver: Receiver, signal: AbortSignal | undefined): ReadRequest {
  checkResultNames(command)
  if (signal === undefined) return new ReceivedRead(command, receiver)
  signal.throwIfAborted()
  const stop = (): void => {
    entry.isDropped = true
    receiver.failed(signal.reason)
  }
  const forget = onAbort(signal, stop)
  const entry = new ReceivedRead(command, {
    found(record) {
      forget()
      receiver.found(record)
    },
    failed(error) {
      forget()
      receiver.failed(error)
    },
  })
  return entry
}

/** False for operations of a user that the binding refuses, which would end the process in a row of a batch. */
export const mayBeRow = ({ operations }: ReadCommand, client: ClientCalls): boolean =>
  operations === undefined || !operations.some(isRaw) || areTaken(operations.map(clientOperation), client)

export function readRow(command: ReadCommand, policies: Policies): BatchRow {
  const { filter } = command
  const row = plainRow(command)
  return filter === undefined ? row : { ...row, policy: policies.readRow(encodeExpression(filter)) }
}

function plainRow(command: ReadCommand): BatchRow {
  const type = batchType.BATCH_READ
  const key = clientKey(command.key)
  if (command.operations !== undefined) return { type, key, ops: command.operations.map(clientOperation) }
  if (command.bins === 'all') return new WholeRow(key)
  return command.bins === 'none' ? { type, key, readAllBins: false } : { type, key, bins: command.bins }
}

/** Row of a batch that reads all bins; made by a constructor, as commands are. */
class WholeRow implements BatchRow {
  readonly type = batchType.BATCH_READ
  readonly key: ClientKey
  readonly readAllBins = true

  constructor(key: ClientKey) {
    this.key = key
  }
}

/** The answer of a batch of one as that of a call of its own. */
export function ofOneRow(answered: Answered<ClientRecord>): Answered<BatchRowResult[]> {
  return (error, rows) => {
    if (error !== null) return answered(error, undefined as never)
    const [{ status, record }] = rows
    if (status === CODE.OK) return answered(null, record)
    const refusal = new Error(`The server answered with code ${status}.`)
    answered(Object.assign(refusal, { code: status }), record)
  }
}

/** No such record exists, or its filter does not hold. */
export const isAbsent = ({ filter }: ReadCommand, code: number): boolean =>
  code === CODE.NOT_FOUND || (code === CODE.FILTERED_OUT && filter !== undefined)

/** Publishes the outcome of a read to those who listen to events. */
type Watch = (
  read: Pick<ReadRequest, 'command' | 'attempt'> & Partial<Pick<ReadRequest, 'inContext' | 'session'>>,
  code: number,
) => void

/** Watches a round trip of so many reads; undefined where nobody listens. */
export function watchReads(events: Events, rows: number, inTransaction = false): Watch | undefined {
  if (!events.isWatched) return undefined
  const roundTrip = events.nextRoundTrip()
  const began = performance.now()
  return ({ command, attempt, inContext, session }, code) => {
    const ms = performance.now() - began
    events.command(command, { ms, roundTrip, rows, code, attempt, inTransaction, session }, inContext)
  }
}
