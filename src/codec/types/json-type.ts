import type { ValueCodec } from '../../model/index.js'
import { GeoValue, type Value } from '../../plan/value.js'
import type { TypeCodec } from '../type-codec.js'
import { ValueProblem, shown } from '../value-problem.js'
import { asReturned } from './as-returned.js'
import { ownEntriesWithin } from './own-entries.js'
import { copyStored, encodeFreely, isSameStored } from './stored-value.js'

/** Any plain data, stored as lists and maps. */
export const jsonType: TypeCodec = {
  name: 'json',
  encode: (value, depth) => encodeFreely(value, false, depth),
  decode: ownEntriesWithin,
  snapshot: copyStored,
  same: isSameStored,
}

/** A GeoJSON object. The client gives its text back. */
export const geojsonType: TypeCodec = {
  name: 'geojson',
  encode(value, depth) {
    if (typeof value !== 'object' || Array.isArray(value)) {
      throw new ValueProblem(
        `${shown(value)} is not a GeoJSON object`,
        "Give an object such as { type: 'Point', coordinates: [x, y] }.",
      )
    }
    encodeFreely(value, false, depth)
    return new GeoValue(JSON.stringify(value))
  },
  decode(stored) {
    try {
      return JSON.parse(stored as string) as unknown
    } catch {
      throw new ValueProblem(
        `the stored value is ${shown(stored)}, not GeoJSON`,
        'Declare the type that is stored, or repair the record.',
      )
    }
  },
  snapshot: (value) => JSON.stringify(value),
  same: (value, snapshot) => isText(value, snapshot as string),
}

function isText(value: unknown, snapshot: string): boolean {
  try {
    return JSON.stringify(value) === snapshot
  } catch {
    // A circular value counts as changed; encoding rejects it.
    return false
  }
}

/** A user's own codec. What it returns is checked like any other value. */
export function customType(codec: ValueCodec): TypeCodec {
  const name = codec.name ?? 'custom'
  const encode = (value: unknown, depth: number): Value => {
    let stored: unknown
    try {
      stored = codec.encode(value)
    } catch (error) {
      throw new ValueProblem(
        `the codec '${name}' cannot encode ${shown(value)}: ${messageOf(error)}`,
        'See the cause.',
        error,
      )
    }
    if (stored !== null) return encodeFreely(stored, true, depth)
    throw new ValueProblem(
      `the codec '${name}' turned ${shown(value)} into null`,
      'Set the property to undefined instead.',
    )
  }
  const decode = (stored: Value): unknown => {
    try {
      return codec.decode(ownEntriesWithin(stored) as never)
    } catch (error) {
      throw new ValueProblem(
        `the codec '${name}' cannot decode ${shown(stored)}: ${messageOf(error)}`,
        'See the cause.',
        error,
      )
    }
  }
  if (codec.equals) {
    // Compared by the user's own rule, against a copy that went through the codec.
    const same = (value: unknown, snapshot: unknown): boolean => codec.equals!(value, snapshot)
    return { name, encode, decode, snapshot: (value) => decode(asReturned(encode(value, 0))), same }
  }
  return {
    name,
    encode,
    decode,
    snapshot: (value) => encode(value, 0),
    same: (value, snapshot) => isSameEncoded(value, snapshot),
  }

  function isSameEncoded(value: unknown, snapshot: unknown): boolean {
    try {
      return isSameStored(encode(value, 0), snapshot)
    } catch {
      // A value that cannot be stored counts as changed; encoding rejects it.
      return false
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
