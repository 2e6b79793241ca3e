import type { KeyValue } from '../keys/index.js'
import { untag, type EntityModel } from '../model/index.js'
import type { Bins } from '../plan/command.js'
import type { Value } from '../plan/value.js'
import { BinProperty } from './bin-property.js'
import { isRefLike, type RefLike } from './held-key.js'
import type { TypeCodec } from './type-codec.js'
import { shown, ValueProblem } from './value-problem.js'

/** A ref inside a part: the key it holds is stored with the part. */
export class RefField extends BinProperty {
  override readonly isAssigned = false
  readonly target: EntityModel
  readonly #keyIn: (ref: RefLike) => KeyValue | null

  constructor(
    place: { readonly name: string; readonly bin: string },
    target: EntityModel,
    key: TypeCodec,
    keyIn: (ref: RefLike) => KeyValue | null,
  ) {
    super({ ...place, codec: refusingEntities(keysOf(target, key), target.name), inline: 'single', isCompared: true })
    this.target = target
    this.#keyIn = keyIn
  }

  /** A part that is given as plain data has the key itself. */
  override storable(ref: unknown): unknown {
    return isRefLike(ref) ? this.#keyIn(ref) : ref
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

/** Codec of the keys of a class; of several classes, they are texts with their sets. */
function keysOf(target: EntityModel, codec: TypeCodec): TypeCodec {
  if (target.several === undefined) return codec
  const [first] = target.several
  const wanted = `a key of ${target.name} with its set, such as '${first.set}:…'`
  const isKey = (value: unknown): boolean => untag(target, value, 'kind') !== undefined
  return {
    ...codec,
    encode: (value, depth) => {
      if (isKey(value)) return codec.encode(value, depth)
      const fix = `Set an entity, or a key with its set: keysOf(${first.name}).withSet(…).`
      throw new ValueProblem(`${shown(value)} is not ${wanted}`, fix)
    },
    decode: (stored) => {
      if (isKey(stored)) return codec.decode(stored)
      const fix = 'Repair the record; another program may have written it.'
      throw new ValueProblem(`the stored value is ${shown(stored)}, not ${wanted}`, fix)
    },
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
