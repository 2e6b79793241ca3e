import type {
  Answered,
  BatchRowResult,
  ClientCalls,
  ClientError,
  ClientRecord,
  NativeTransaction,
} from './aerospike-client.js'
import { clientKey } from './client-record.js'
import { failureOf, type Failure } from './command-errors.js'
import type { PendingWrite } from './pending-write.js'
import { metaOf, type Policies } from './policies.js'
import { CODE, isNoAnswer } from './status.js'

/** Why a write was not confirmed, whether it went alone or as a row. */
export interface Refusal {
  readonly failure: Failure
  readonly inDoubt: boolean
}

export interface CallParts {
  readonly client: ClientCalls
  readonly policies: Policies
}

/** Sends one write as a call of its own; of a `put` and a `remove` the answer has nothing of a record. Never throws. */
export function callAlone(
  entry: PendingWrite,
  { client, policies }: CallParts,
  answered: Answered<Partial<ClientRecord>>,
  transaction?: NativeTransaction,
): void {
  const key = clientKey(entry.command.key)
  try {
    if (entry.isPlainDelete) return client.remove(key, policies.remove(entry, transaction), answered)
    const meta = metaOf(entry)
    const { bins } = entry
    if (bins !== undefined) client.put(key, bins, meta, policies.put(entry, transaction), answered)
    else client.operate(key, entry.operations, meta, policies.operate(entry, transaction), answered)
  } catch (error) {
    process.nextTick(answered, error, {})
  }
}

export const refusalOf = (error: ClientError): Refusal => ({
  failure: failureOf(error),
  inDoubt: error.inDoubt === true,
})

/** Sends several writes as one batch. Never throws. */
export function callBatch(
  entries: readonly PendingWrite[],
  { client, policies }: CallParts,
  answered: Answered<readonly BatchRowResult[]>,
): void {
  try {
    const rows = entries.map((entry) => entry.row(policies))
    client.batchWrite(rows, null, answered)
  } catch (error) {
    process.nextTick(answered, error, [])
  }
}

/** The rows' own states are lost with the call, so anything but a refusal leaves each of them in doubt. */
export function refusalOfBatch(error: ClientError): Refusal {
  const failure = failureOf(error)
  return { failure, inDoubt: error.inDoubt === true || isNoAnswer(failure.code) }
}

// The client does not mark a row in doubt that the server answered with a time-out, though it may have taken effect.
export const refusalOfRow = ({ status, inDoubt }: BatchRowResult): Refusal => ({
  failure: { code: status },
  inDoubt: inDoubt || status === CODE.TIMEOUT || status === CODE.NO_RESPONSE,
})
