import type { Bins, ReadCommand } from '../plan/command.js'
import type { RecordKey } from '../plan/record-key.js'
import { batchType, type BatchRow, type ClientKey, type ClientRecord } from './aerospike-client.js'
import { clientOperation } from './client-operations.js'
import { encodeExpression } from './encode-expression.js'
import type { StoredRecord } from './outcome.js'
import type { Policies } from './policies.js'

const NEVER_EXPIRES = 0xffffffff
export const NO_BINS: Bins = Object.freeze({})

// The client puts the digest into the key it is given, which costs less where there is a place for it.
export const clientKey = ({ namespace, set, key }: RecordKey): ClientKey => ({
  ns: namespace,
  set,
  key,
  digest: undefined,
})

export function storedRecord(record: ClientRecord): StoredRecord {
  return {
    bins: (record.bins as Bins | null | undefined) ?? NO_BINS,
    generation: record.gen ?? 0,
    ttl: storedTtl(record.ttl),
  }
}

/** Seconds until a record expires, or null. */
export const storedTtl = (ttl: number | null): number | null =>
  ttl === null || ttl < 0 || ttl === NEVER_EXPIRES ? null : ttl

export function readRow(command: ReadCommand, policies: Policies): BatchRow {
  const { filter } = command
  const row = plainRow(command)
  return filter === undefined ? row : { ...row, policy: policies.readRow(encodeExpression(filter)) }
}

function plainRow(command: ReadCommand): BatchRow {
  const type = batchType.BATCH_READ
  const key = clientKey(command.key)
  if (command.operations !== undefined) return { type, key, ops: command.operations.map(clientOperation) }
  if (command.bins === 'all') return { type, key, readAllBins: true }
  return command.bins === 'none' ? { type, key, readAllBins: false } : { type, key, bins: command.bins }
}
