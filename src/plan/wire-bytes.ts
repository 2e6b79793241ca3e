import type { Bins, Command, DeleteCommand, WriteCommand } from './command.js'
import type { Expression } from './expression.js'
import type { Operation, OperationKind } from './operation.js'
import type { QueryCommand } from './query-command.js'
import type { UserKey } from './record-key.js'
import { isDouble, isGeo, type Value } from './value.js'

// Sizes of the wire protocol's fixed parts.
const HEADER = 30
const FIELD = 5
const DIGEST = 20
const OPERATION = 8
const COLLECTION = 4
const GUARD = 12

/** Estimates the bytes of the command on the wire. */
export function commandBytes(command: Command): number {
  const { namespace, set, key } = command.key
  let bytes = HEADER + 3 * FIELD + namespace.length + set.length + DIGEST
  if (command.kind === 'read') {
    if (command.filter !== undefined) bytes += expressionBytes(command.filter)
    if (command.operations !== undefined) return bytes + operationsBytes(command.operations)
    if (typeof command.bins !== 'string') for (const bin of command.bins) bytes += OPERATION + bin.length
    return bytes
  }
  if (command.kind === 'write' && command.sendKey) bytes += FIELD + keyBytes(key)
  const { guards } = command
  for (let i = 0; i < guards.length; i++) {
    const guard = guards[i]
    bytes +=
      guard.kind === 'filter'
        ? expressionBytes(guard.expression)
        : GUARD + guard.bin.length + valueBytes(guard.expected)
  }
  return (
    bytes +
    (command.kind === 'write' && command.bins !== undefined
      ? binsBytes(command.bins)
      : operationsBytes(command.operations))
  )
}

export function binsBytes(bins: Bins): number {
  let bytes = 0
  for (const bin in bins) bytes += OPERATION + bin.length + valueBytes(bins[bin])
  return bytes
}

/** Estimates the bytes of the query as sent to one node. */
export function queryBytes({ namespace, set, bins, index, filter }: QueryCommand): number {
  let bytes = HEADER + 3 * FIELD + namespace.length + set.length
  if (typeof bins !== 'string') for (const bin of bins) bytes += OPERATION + bin.length
  if (index !== undefined) bytes += FIELD + OPERATION + index.bin.length + 2 * valueBytes(index.value)
  return filter === undefined ? bytes : bytes + FIELD + expressionBytes(filter)
}

export function operationsBytes(operations: readonly Operation[]): number {
  let bytes = 0
  // Plain loop: this runs for every write in a batch, and an iterator costs more than its body.
  for (let i = 0; i < operations.length; i++) bytes += operationBytes(operations[i])
  return bytes
}

export function operationBytes(operation: Operation): number {
  // By far the most frequent kind.
  if (operation.kind === 'writeBin') return OPERATION + operation.bin.length + valueBytes(operation.value)
  let bytes = OPERATION
  if ('bin' in operation) bytes += operation.bin.length
  if ('path' in operation && operation.path !== undefined) {
    for (const step of operation.path)
      bytes += 2 + ('key' in step ? valueBytes(step.key) : 'value' in step ? valueBytes(step.value) : 1)
  }
  if ('value' in operation) bytes += valueBytes(operation.value)
  if ('values' in operation) bytes += valueBytes(operation.values)
  if ('items' in operation) bytes += valueBytes(operation.items)
  if ('key' in operation) bytes += valueBytes(operation.key)
  if ('keys' in operation) bytes += valueBytes(operation.keys)
  if (operation.kind === 'listRemoveInterval') bytes += valueBytes(operation.begin) + valueBytes(operation.end)
  if ('delta' in operation) bytes += valueBytes(operation.delta)
  if (operation.kind === 'changeByPath') bytes += expressionBytes(operation.change) + 16 * operation.levels.length
  if (operation.kind === 'readExpression') bytes += operation.name.length + expressionBytes(operation.expression)
  return bytes
}

/** Estimates the bytes of a stored value. */
export function valueBytes(value: Value | undefined): number {
  if (typeof value === 'string') return Buffer.byteLength(value)
  if (typeof value === 'number' || typeof value === 'bigint') return 8
  if (value === null || value === undefined || typeof value === 'boolean') return 1
  if (value instanceof Uint8Array) return value.byteLength
  let bytes = COLLECTION
  if (Array.isArray(value)) for (const item of value as readonly Value[]) bytes += 1 + valueBytes(item)
  else if (isDouble(value)) return 8
  else if (isGeo(value)) return value.json.length
  else if (value instanceof Map)
    for (const [key, item] of value as Map<Value, Value>) bytes += 2 + valueBytes(key) + valueBytes(item)
  else
    for (const [key, item] of Object.entries(value as { readonly [key: string]: Value }))
      bytes += 2 + valueBytes(key) + valueBytes(item)
  return bytes
}

function expressionBytes(expression: Expression): number {
  if (expression.kind === 'value') return 1 + valueBytes(expression.value)
  if (expression.kind === 'bin') return 4 + expression.name.length
  let bytes = 3
  if (expression.kind === 'loopVariable' || expression.kind === 'takenOut') return bytes
  if (expression.kind === 'path') {
    for (const level of expression.levels)
      bytes += 4 + (level.in === 'children' && level.where !== undefined ? expressionBytes(level.where) : 0)
    if (expression.change !== undefined) bytes += expressionBytes(expression.change)
    return bytes + expressionBytes(expression.subject)
  }
  if (expression.kind === 'collection')
    return (
      bytes + expressionBytes(expression.subject) + valueBytes(expression.args) + 4 * (expression.path?.length ?? 0)
    )
  for (const arg of expression.args) bytes += expressionBytes(arg)
  return bytes
}

function keyBytes(key: UserKey): number {
  return 1 + valueBytes(key)
}

const ADDS: ReadonlySet<OperationKind> = new Set<OperationKind>([
  'listAppend',
  'listAppendUnique',
  'listSet',
  'mapPut',
  'mapPutItems',
  'mapPutMissing',
])

/** The most a record can take after the command: the server tells its size before the writes, and values may replace others. */
export function largestSizeAfter({ operations }: WriteCommand | DeleteCommand, before: number): number {
  let size = before
  for (const operation of operations) {
    if (operation.kind === 'writeBin') size += operationBytes(operation)
    else if (ADDS.has(operation.kind)) size += operationBytes(operation) - bytesOfName(operation)
  }
  return size
}

/** Bytes of an operation on the wire beside its values. */
const bytesOfName = (operation: Operation): number =>
  operationBytes({ kind: 'removeBin', bin: 'bin' in operation ? operation.bin : '' })

const GROWS: ReadonlySet<OperationKind> = new Set<OperationKind>([
  'listAppend',
  'listAppendUnique',
  'listSet',
  'mapPut',
  'mapPutItems',
])
/** Growth in bytes after which the size of a record is asked for: a small part of the size that is warned about. */
const LARGE = 8 * 1024
/** Growth below this does not count: most writes are as small, and replace something just as small. */
const SMALL = 1024

/** Entity whose record may have grown. */
interface Measured {
  readonly stored: { readonly unmeasured: number } | undefined
}

/** True when the record may have become large by this write and those since its size was last asked for. */
export const isWorthMeasuring = ({ stored }: Measured, growth: number): boolean =>
  (stored?.unmeasured ?? 0) + growth > LARGE

/** Bytes by which the write may make the record grow; infinite where it adds to a collection, whose size is unknown. */
export function growthOf(operations: readonly Operation[]): number {
  let characters = 0
  for (const operation of operations) {
    if (GROWS.has(operation.kind)) return Infinity
    if (operation.kind !== 'writeBin') continue
    const { value } = operation
    if (typeof value === 'string') characters += value.length
    else if (typeof value === 'object' && value !== null) return unlessSmall(operationsBytes(operations))
  }
  return unlessSmall(characters)
}

/** True when a record of these bins is large. */
export function isLarge(bins: Bins): boolean {
  let characters = 0
  for (const bin in bins) {
    const value = bins[bin]
    if (typeof value === 'string') characters += value.length
    else if (typeof value === 'object' && value !== null) return binsBytes(bins) > LARGE
  }
  return characters > LARGE
}

const unlessSmall = (bytes: number): number => (bytes < SMALL ? 0 : bytes)
