import type { Bins, WriteCommand } from '../plan/command.js'
import { writeBin } from '../plan/operations.js'
import { writeOperation, type ClientOperation } from './aerospike-client.js'
import { clientOperation } from './client-operations.js'
import { clientValue } from './client-values.js'

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

/** The same object where all values go as they are. */
function convertBins(bins: Bins): object {
  let copy: Record<string, unknown> | undefined
  for (const name in bins) {
    const value = bins[name]!
    const converted = clientValue(value, name)
    if (converted !== value && !Object.is(converted, value)) setBin((copy ??= { ...bins }), name, converted)
  }
  return copy ?? bins
}

/** The same as a row of a batch takes them; made to measure, because most writes change one bin. */
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
