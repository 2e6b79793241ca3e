import type { Bins, ReadCommand, WriteCommand } from '../plan/command.js'
import { writeBin } from '../plan/operations.js'
import type { RecordKey } from '../plan/record-key.js'
import {
  type Answered,
  type BatchRow,
  type BatchRowResult,
  batchType,
  type ClientKey,
  type ClientOperation,
  type ClientRecord,
  writeOperation,
} from './aerospike-client.js'
import { clientOperation } from './client-operations.js'
import { clientValue } from './client-values.js'
import { encodeExpression } from './encode-expression.js'
import type { StoredRecord } from './outcome.js'
import type { Policies } from './policies.js'
import { CODE } from './status.js'

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

/** The bins as `put` takes them, of a write that sets and removes bins and asks for nothing else; else undefined. */
export function plainBins(command: WriteCommand): object | undefined {
  if (command.watchSize || command.watchGeneration) return undefined
  if (command.bins !== undefined) return convertBins(command.bins)
  const { operations } = command
  for (let i = 0; i < operations.length; i++) {
    const { kind } = operations[i]
    if (kind !== 'writeBin' && kind !== 'removeBin') return undefined
  }
  const bins: Record<string, unknown> = {}
  for (let i = 0; i < operations.length; i++) {
    const operation = operations[i]
    if (operation.kind === 'writeBin') setBin(bins, operation.bin, clientValue(operation.value, operation.bin))
    else if (operation.kind === 'removeBin') setBin(bins, operation.bin, null)
  }
  return bins
}

/** Bins with values that the client takes; the object itself where none has to be converted. */
function convertBins(bins: Bins): object {
  let copy: Record<string, unknown> | undefined
  for (const name in bins) {
    const value = bins[name]!
    const converted = clientValue(value, name)
    if (converted !== value && !Object.is(converted, value)) setBin((copy ??= { ...bins }), name, converted)
  }
  return copy ?? bins
}

/** Operations that set these bins, as a row of a batch takes them; made to measure, because most writes change one bin. */
export function binOperations(bins: object): readonly ClientOperation[] {
  let operations: ClientOperation[] | undefined
  for (const name in bins) {
    const value = (bins as Record<string, unknown>)[name]
    // Only `put` takes a BigInt as it is.
    const operation = typeof value === 'bigint' ? clientOperation(writeBin(name, value)) : writeOperation(name, value)
    if (operations === undefined) operations = [operation]
    else operations.push(operation)
  }
  return operations ?? []
}

// A plain assignment to a bin of this name would replace the prototype.
function setBin(bins: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(bins, name, { value, enumerable: true, configurable: true, writable: true })
  else bins[name] = value
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
