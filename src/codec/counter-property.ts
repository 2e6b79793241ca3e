import type { Bins } from '../plan/command.js'
import type { WriteOperation } from '../plan/operation.js'
import { addToBin, removeBin } from '../plan/operations.js'
import type { Value } from '../plan/value.js'
import { BinProperty } from './bin-property.js'
import { isMissing, type Loaded } from './property-codec.js'
import { throwIn } from './value-problem.js'

/** A counter: what changed is added on the server, so that writers never overwrite each other. A missing bin counts as zero. */
export class CounterProperty extends BinProperty {
  override decode(bins: Bins, loaded: Loaded): unknown {
    const value = super.decode(bins, loaded)
    if (value !== undefined) return value
    return loaded === undefined || loaded.has(this.name) ? this.#zero() : undefined
  }

  override change(value: unknown, snapshot: unknown): readonly WriteOperation[] {
    if (isMissing(value)) return [removeBin(this.bin)]
    try {
      return [addToBin(this.bin, this.delta(value, snapshot))]
    } catch (error) {
      return throwIn(this.name, error)
    }
  }

  override advanceAdded(_known: unknown, sent: unknown): unknown {
    return sent
  }

  /** The difference as it is stored. */
  delta(value: unknown, snapshot: unknown): Value {
    // The value itself must be storable, not only the difference.
    this.codec.encode(value, 0)
    return this.codec.encode(subtract(value as number | bigint, (snapshot ?? this.#zero()) as number | bigint), 0)
  }

  #zero(): number | bigint {
    return this.codec.name === 'bigint' ? 0n : 0
  }
}

const subtract = (a: number | bigint, b: number | bigint): number | bigint =>
  typeof a === 'bigint' ? a - BigInt(b) : a - Number(b)
