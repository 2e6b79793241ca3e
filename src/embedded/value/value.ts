/**
 * Values as the server holds them. All of them are immutable: an operation that changes a list or a map makes a new one
 * that shares the unchanged children, so a failed command leaves nothing behind.
 *
 * integer → number (safe) or bigint (beyond ±2^53), double → Float, string → string, bytes and the other tagged
 * payloads → Bytes, list → ListValue, map → MapValue.
 */
export type Value = null | boolean | number | bigint | string | Float | Bytes | ListValue | MapValue | Extreme

export const ParticleType = {
  NIL: 0,
  INTEGER: 1,
  DOUBLE: 2,
  STRING: 3,
  BLOB: 4,
  BOOL: 17,
  HLL: 18,
  MAP: 19,
  LIST: 20,
  GEOJSON: 23,
} as const

export class Float {
  constructor(readonly value: number) {}
}

/** A tagged byte payload. Tag 3 only for strings that are not valid UTF-8, which must survive unchanged. */
export class Bytes {
  constructor(
    readonly tag: number,
    readonly bytes: Buffer,
  ) {}
}

export const LIST_ORDERED = 1

export class ListValue {
  /** Encoded length in bytes, filled in by `encodedSize`. */
  size = -1

  constructor(
    readonly items: readonly Value[],
    readonly flags = 0,
  ) {}

  get ordered(): boolean {
    return (this.flags & LIST_ORDERED) !== 0
  }
}

export const MAP_KEY_ORDERED = 1
export const MAP_KEY_VALUE_ORDERED = 3
/** Only in replies: the client turns such a map into a flat array of keys and values. */
export const MAP_PRESERVE_ORDER = 8

/** Keys are always sorted and unique, whatever the order flag says (only replies may keep another order). */
export class MapValue {
  size = -1

  constructor(
    readonly keys: readonly Value[],
    readonly values: readonly Value[],
    readonly flags = 0,
  ) {}
}

/** The two values that exist only in comparisons. */
export class Extreme {
  private constructor(readonly name: 'wildcard' | 'infinity') {}
  static readonly WILDCARD = new Extreme('wildcard')
  static readonly INFINITY = new Extreme('infinity')
}

/** An int64 in its canonical form: a number when it is safe, a bigint beyond; wraps around like the server does. */
export function toInteger(value: bigint): number | bigint {
  const wrapped = BigInt.asIntN(64, value)
  const small = Number(wrapped)
  return Number.isSafeInteger(small) ? small : wrapped
}

export function isInteger(value: Value): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint'
}

/** The particle type under which a value is stored in a bin. */
export function particleTypeOf(value: Value): number {
  switch (typeof value) {
    case 'number':
    case 'bigint':
      return ParticleType.INTEGER
    case 'string':
      return ParticleType.STRING
    case 'boolean':
      return ParticleType.BOOL
  }
  if (value === null) return ParticleType.NIL
  if (value instanceof Float) return ParticleType.DOUBLE
  if (value instanceof Bytes) return value.tag
  if (value instanceof ListValue) return ParticleType.LIST
  if (value instanceof MapValue) return ParticleType.MAP
  return ParticleType.NIL
}
