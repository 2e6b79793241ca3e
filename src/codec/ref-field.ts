import { REF } from '../model/index.js'
import type { Bins } from '../plan/command.js'
import type { Value } from '../plan/value.js'
import { BinProperty } from './bin-property.js'
import type { TypeCodec } from './type-codec.js'
import { shown, ValueProblem } from './value-problem.js'

/** A ref inside a part: the key it holds is stored with the part. */
export class RefField extends BinProperty {
  override readonly isAssigned = false

  constructor(place: { readonly name: string; readonly bin: string; readonly target: string }, key: TypeCodec) {
    super({ ...place, codec: refusingEntities(key, place.target), inline: 'single', isCompared: true })
  }

  /** A part that is given as plain data has the key itself. */
  override storable(ref: unknown): unknown {
    const isRef = typeof ref === 'object' && ref !== null && REF in ref
    return isRef ? (ref as unknown as { readonly key?: unknown }).key : ref
  }

  override encode(ref: unknown, depth: number): Value | undefined {
    return super.encode(this.storable(ref), depth)
  }

  override snapshot(ref: unknown): unknown {
    return super.snapshot(this.storable(ref))
  }

  /** The stored value is a key, not a ref. */
  override reread(_snapshot: unknown, _sent: unknown, stored: Bins): unknown {
    return super.snapshot(this.decode(stored, undefined))
  }

  override same(ref: unknown, snapshot: unknown): boolean {
    return super.same(this.storable(ref), snapshot)
  }
}

/** Refuses an entity, or anything else, that was assigned: it would be stored as no reference at all. */
function refusingEntities(key: TypeCodec, target: string): TypeCodec {
  return {
    name: key.name,
    encode: (value, depth) => {
      if (typeof value === 'object' && !(value instanceof Uint8Array))
        throw new ValueProblem(
          `${shown(value)} was assigned, which replaced the Ref`,
          `Call its set(…) with a ${target}, its key or null.`,
        )
      return key.encode(value, depth)
    },
    decode: (stored) => key.decode(stored),
    snapshot: (value) => key.snapshot(value),
    same: (value, snapshot) => key.same(value, snapshot),
  }
}
