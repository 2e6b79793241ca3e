import type { DeleteCommand, WriteCommand } from '../plan/command.js'
import type { RemoveBin, WriteBin } from '../plan/operation.js'
import { scalarOperations, type ClientOperation } from './aerospike-client.js'
import { clientOperation } from './client-operations.js'
import { clientValue } from './client-values.js'

/** A write that only sets and removes bins. Its values are checked once; whether as bins or as operations, it is sent later. */
export class PlainWrite {
  readonly #operations: readonly (WriteBin | RemoveBin)[]
  readonly #values: readonly unknown[]

  constructor(operations: readonly (WriteBin | RemoveBin)[]) {
    this.#operations = operations
    this.#values = operations.map((operation) =>
      operation.kind === 'removeBin' ? null : clientValue(operation.value, operation.bin),
    )
  }

  /** As `put` takes them. */
  get bins(): object {
    const bins: Record<string, unknown> = {}
    for (let i = 0; i < this.#values.length; i++) setBin(bins, this.#operations[i].bin, this.#values[i])
    return bins
  }

  /** As a row of a batch takes them. */
  get operations(): readonly ClientOperation[] {
    return this.#operations.map((operation, i) => {
      const value = this.#values[i]
      // Only `put` takes a BigInt as it is.
      return typeof value === 'bigint' ? clientOperation(operation) : scalarOperations.write(operation.bin, value)
    })
  }
}

/** The write as such, or undefined when it asks for more. */
export function plainWrite(command: WriteCommand | DeleteCommand): PlainWrite | undefined {
  if (command.kind === 'delete' || command.watchSize || command.watchGeneration) return undefined
  const { operations } = command
  for (const { kind } of operations) if (kind !== 'writeBin' && kind !== 'removeBin') return undefined
  return new PlainWrite(operations as readonly (WriteBin | RemoveBin)[])
}

// A plain assignment to a bin of this name would replace the prototype.
function setBin(bins: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') Object.defineProperty(bins, name, { value, enumerable: true })
  else bins[name] = value
}
