import type { Bins } from '../plan/command.js'
import type { Value } from '../plan/value.js'
import { BinProperty } from './bin-property.js'

/** A ref inside a part: the key it holds is stored with the part. */
export class RefField extends BinProperty {
  override readonly isAssigned = false

  override storable(ref: unknown): unknown {
    return typeof ref === 'object' && ref !== null ? (ref as { readonly key?: unknown }).key : ref
  }

  override encode(ref: unknown, depth: number): Value | undefined {
    return super.encode(this.storable(ref), depth)
  }

  override snapshot(ref: unknown): unknown {
    return super.snapshot(this.storable(ref))
  }

  /** The stored value is a key, not a ref. */
  override reread(_snapshot: unknown, stored: Bins): unknown {
    return super.snapshot(this.decode(stored, undefined))
  }

  override same(ref: unknown, snapshot: unknown): boolean {
    return super.same(this.storable(ref), snapshot)
  }
}
