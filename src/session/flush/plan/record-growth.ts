import { binsBytes, operationsBytes } from '../../../plan/wire-bytes.js'
import type { Bins } from '../../../plan/command.js'
import type { Operation, OperationKind } from '../../../plan/operation.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'

const GROWS: ReadonlySet<OperationKind> = new Set<OperationKind>([
  'listAppend',
  'listAppendUnique',
  'listSet',
  'mapPut',
  'mapPutItems',
])
/** A record may grow by as much before its size is worth asking for: a small part of what a warning is given for. */
const LARGE = 8 * 1024
/** Growth below this does not count: most writes are as small, and take the place of something just as small. */
const SMALL = 1024

/** True when the record may have become large by this write and those since its size was last asked for. */
export const isWorthMeasuring = ({ stored }: ManagedEntity, growth: number): boolean =>
  (stored?.unmeasured ?? 0) + growth > LARGE

/** By how many bytes the write may make the record grow; to a collection it adds, and nobody knows how large that is. */
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
