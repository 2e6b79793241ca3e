import type { Bins, Existence, Guard, Ttl, WriteCommand, WriteOptions } from './command.js'
import type { Operation } from './operation.js'
import { writeBin } from './operations.js'
import type { RecordKey } from './record-key.js'
import type { Value } from './value.js'

const NO_GUARDS: readonly Guard[] = Object.freeze([])

/**
 * A write that sets bins and does nothing else, as creating a record is. It holds the bins as they are sent; the operations that say
 * the same are made only for those who look at them, because ten of them cost more than all else in a save.
 */
class BinsWrite implements WriteCommand {
  readonly kind = 'write'
  readonly entity: string
  readonly key: RecordKey
  readonly bins: Bins
  readonly exists: Existence
  readonly ttl: Ttl
  readonly sendKey: boolean
  readonly watchSize: boolean
  readonly watchGeneration: boolean
  #operations: readonly Operation[] | undefined

  constructor(entity: string, key: RecordKey, bins: Bins, options: WriteOptions) {
    this.entity = entity
    this.key = key
    this.bins = bins
    this.exists = options.exists
    this.ttl = options.ttl ?? 'default'
    this.sendKey = options.sendKey ?? false
    this.watchSize = options.watchSize ?? false
    this.watchGeneration = options.watchGeneration ?? false
  }

  get guards(): readonly Guard[] {
    return NO_GUARDS
  }

  get generation(): undefined {
    return undefined
  }

  get operations(): readonly Operation[] {
    return (this.#operations ??= operationsOf(this.bins))
  }
}

export const writeBins = (entity: string, key: RecordKey, bins: Bins, options: WriteOptions): WriteCommand =>
  new BinsWrite(entity, key, bins, options)

export function operationsOf(bins: Bins): Operation[] {
  return Object.keys(bins).map((bin) => writeBin(bin, bins[bin] as Value))
}
