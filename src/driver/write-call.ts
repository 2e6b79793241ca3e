import type { BatchRowResult, ClientCalls, ClientError, ClientRecord, NativeTransaction } from './aerospike-client.js'
import { clientKey } from './client-record.js'
import { failureOf, type Failure } from './command-errors.js'
import type { PendingWrite } from './pending-write.js'
import { ttlNumber, type Policies } from './policies.js'
import { CODE, isNoAnswer } from './status.js'

/** What the server said to one write, whether it went alone or as a row. */
export type Answer =
  { readonly record: Partial<ClientRecord> } | { readonly failure: Failure; readonly inDoubt: boolean }

export interface CallParts {
  readonly client: ClientCalls
  readonly policies: Policies
}

/** Sends one write as a call of its own. Never rejects. */
export function callAlone(
  entry: PendingWrite,
  { client, policies }: CallParts,
  transaction?: NativeTransaction,
): Promise<Answer> {
  const key = clientKey(entry.command.key)
  const terms = transaction === undefined ? entry.terms : { ...entry.terms, transaction }
  if (entry.isPlainDelete) return client.remove(key, policies.remove(terms)).then(done, failed)
  const meta = { ttl: ttlNumber(terms.ttl), gen: terms.generation }
  const { bins } = entry
  if (bins !== undefined) return client.put(key, bins, meta, policies.put(terms)).then(done, failed)
  return client.operate(key, entry.operations, meta, policies.operate(terms)).then((record) => ({ record }), failed)
}

const DONE: Answer = Object.freeze({ record: {} })
const done = (): Answer => DONE
const failed = (error: ClientError): Answer => ({ failure: failureOf(error), inDoubt: error.inDoubt === true })

/** Sends several writes as one batch; one answer for each. Never rejects. */
export function callBatch(entries: readonly PendingWrite[], { client, policies }: CallParts): Promise<Answer[]> {
  return client.batchWrite(entries.map((entry) => entry.row(policies))).then(
    (rows) => rows.map(answerOfRow),
    (error: ClientError) => {
      const failure = failureOf(error)
      // The rows' own states are lost with the call, so anything but a refusal leaves each of them in doubt.
      const inDoubt = error.inDoubt === true || isNoAnswer(failure.code)
      return entries.map(() => ({ failure, inDoubt }))
    },
  )
}

// The client does not mark a row in doubt that the server answered with a time-out, though it may have taken effect.
function answerOfRow({ status, inDoubt, record }: BatchRowResult): Answer {
  if (status === CODE.OK) return { record }
  return { failure: { code: status }, inDoubt: inDoubt || status === CODE.TIMEOUT || status === CODE.NO_RESPONSE }
}
