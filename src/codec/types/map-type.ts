import { types } from 'node:util'
import { isInt64 } from '../../keys/index.js'
import type { MapKeyKind } from '../../model/index.js'
import type { MapSubtype } from '../../plan/operation.js'
import { mapCreate, mapPutItems } from '../../plan/operations.js'
import type { MapKey, Value } from '../../plan/value.js'
import { MapChanges } from '../map-changes.js'
import { rereadEntries } from '../reread-entries.js'
import { depthOf, type TypeCodec } from '../type-codec.js'
import { markUnsure } from '../unsure-snapshots.js'
import { ValueProblem, keyStep, shown, throwUnder } from '../value-problem.js'
import { decodeItem, encodeItem, isSameItem, snapshotItem } from './item.js'
import { ownEntries } from './own-entries.js'
import { byteKeyed } from './byte-keyed-map.js'
import { checkMapKey } from './stored-value.js'

/**
 * A Map, stored as a K-ordered map, or with the given subtype. Only entries that changed are sent, and of changed parts only the fields
 * that did.
 */
export function mapType(keyKind: MapKeyKind, item: TypeCodec, subtype?: MapSubtype): TypeCodec {
  const codec =
    keyKind === 'bytes'
      ? byteKeyed(mapOf('bytes', BYTES_AS_TEXT, item, subtype))
      : mapOf(keyKind, KEYS[keyKind], item, subtype)
  return subtype === undefined ? codec : withSubtype(codec, subtype)
}

function mapOf(keyKind: MapKeyKind, key: KeyCodec, item: TypeCodec, subtype?: MapSubtype): TypeCodec {
  return {
    name: `map of ${item.name} by ${keyKind}`,
    nothing: new Map(),
    empty: (bin) => mapCreate(bin, subtype?.order ?? 'ordered', subtype?.persistIndex ?? false),
    encode(value, depth) {
      const map = new Map<MapKey, Value>()
      for (const [each, member] of entriesOf(value)) {
        try {
          map.set(key.encode(each), encodeItem(item, member, depth))
        } catch (error) {
          throwUnder(key.step(each), error)
        }
      }
      return map
    },
    decode(stored) {
      const map = new Map<unknown, unknown>()
      for (const [each, member] of storedEntries(stored)) {
        try {
          map.set(key.decode(each), decodeItem(item, member))
        } catch (error) {
          throwUnder(key.step(each), error)
        }
      }
      return inKeyOrder(map)
    },
    snapshot: (value) =>
      new Map([...(value as Map<unknown, unknown>)].map(([each, member]) => [each, snapshotItem(item, member)])),
    same(value, snapshot) {
      const before = snapshot as ReadonlyMap<unknown, unknown>
      if (!types.isMap(value) || value.size !== before.size) return false
      for (const [each, member] of value) {
        if (!before.has(each) || !isSameItem(item, member, before.get(each))) return false
      }
      return true
    },
    advanceAdded(known, sent) {
      const before = (known ?? new Map()) as ReadonlyMap<unknown, unknown>
      const advanced = new Map(before)
      for (const [each, member] of sent as ReadonlyMap<unknown, unknown>) {
        const isWhole = member === null || before.get(each) === null || (item.isPart === true && !before.has(each))
        const added = isWhole ? undefined : item.advanceAdded?.(before.get(each), member)
        if (added !== undefined) advanced.set(each, before.has(each) ? added : markUnsure(added))
      }
      return known === undefined && advanced.size === 0 ? undefined : advanced
    },
    reread: (known, sent, stored) => rereadEntries(known as Known, sent as Known, stored as Known, item),
    patch(value, snapshot, place) {
      const before = snapshot as ReadonlyMap<unknown, unknown>
      const changes = new MapChanges(place, subtype)
      const now = entriesOf(value)
      for (const [each, member] of now) {
        try {
          const isKnown = before.has(each)
          if (isKnown || item.isPart !== true) changes.compare(key.encode(each), item, member, before.get(each))
          else changes.put(key.encode(each), encodeItem(item, member, depthOf(place)))
        } catch (error) {
          throwUnder(key.step(each), error)
        }
      }
      for (const each of before.keys()) if (!now.has(each)) changes.remove(key.encode(each))
      return changes.operations()
    },
  }
}

type Known = ReadonlyMap<unknown, unknown>

function withSubtype(codec: TypeCodec, subtype: MapSubtype): TypeCodec {
  return {
    ...codec,
    // The subtype is given when the record is created; a put gives it to a map that is not there yet, and changes no other.
    create(value, bin) {
      const stored = codec.encode(value, 0) as ReadonlyMap<MapKey, Value>
      const empty = codec.empty!(bin)
      return stored.size === 0 ? [empty] : [empty, mapPutItems(bin, stored, undefined, subtype)]
    },
  }
}

function entriesOf(value: unknown): ReadonlyMap<unknown, unknown> {
  if (types.isMap(value)) return value
  throw new ValueProblem(`${shown(value)} is not a Map`, 'Give a Map.')
}

const storedEntries = (stored: Value): Iterable<readonly [MapKey, Value]> =>
  types.isMap(stored) ? stored : Object.entries(storedMap(stored))

/** The server keeps the order of keys, but in an object as the client gives it those that look like an index stand first. */
function inKeyOrder(map: Map<unknown, unknown>): Map<unknown, unknown> {
  const [first] = map.keys()
  if (!/^\d+$/.test(String(first))) return map
  let last = first
  for (const key of map.keys()) {
    if (compareMapKeys(last, key) > 0) return new Map([...map].sort(([a], [b]) => compareMapKeys(a, b)))
    last = key
  }
  return map
}

function compareMapKeys(a: unknown, b: unknown): number {
  if (typeof a === 'string') return Buffer.compare(Buffer.from(a), Buffer.from(b as string))
  return (a as number) < (b as number) ? -1 : a === b ? 0 : 1
}

/** The client gives a map back as an object whose keys have become strings. */
export function storedMap(stored: Value): { readonly [key: string]: Value } {
  if (types.isMap(stored)) return Object.fromEntries(stored as ReadonlyMap<string, Value>)
  if (typeof stored === 'object' && stored !== null && !Array.isArray(stored) && !types.isUint8Array(stored)) {
    return ownEntries(stored as { readonly [key: string]: Value })
  }
  throw new ValueProblem(
    `the stored value is ${shown(stored)}, not a map`,
    'Declare the type that is stored, or repair the record.',
  )
}

interface KeyCodec {
  /** The key in the path of a problem. */
  step(key: unknown): string
  encode(key: unknown): MapKey
  decode(stored: MapKey): unknown
}

const wrongKey = (key: unknown, kind: MapKeyKind): ValueProblem =>
  new ValueProblem(
    `${shown(key)} is not a map key of type ${kind}`,
    `Use keys of type ${kind}, or declare another key type.`,
  )

/** Codec of the keys of a map as people use them. */
export const mapKeyCodec = (kind: MapKeyKind): KeyCodec => KEYS[kind]

const isBytes = (key: unknown): key is Uint8Array => types.isUint8Array(key)

const plainKeys = { step: keyStep }

const KEYS: { readonly [K in MapKeyKind]: KeyCodec } = {
  string: {
    ...plainKeys,
    encode(key) {
      if (typeof key === 'string') return checkMapKey(key)
      throw wrongKey(key, 'string')
    },
    decode: (stored) => String(stored),
  },
  int: {
    ...plainKeys,
    encode(key) {
      if (Number.isSafeInteger(key)) return key as number
      throw wrongKey(key, 'int')
    },
    decode(stored) {
      const key = stored === '' ? NaN : Number(stored)
      if (Number.isSafeInteger(key)) return key
      throw wrongKey(stored, 'int')
    },
  },
  bigint: {
    ...plainKeys,
    encode(key) {
      if (typeof key === 'bigint' && isInt64(key)) return key
      throw wrongKey(key, 'bigint')
    },
    decode(stored) {
      if (typeof stored === 'string' ? /^-?[0-9]{1,20}$/.test(stored) : typeof stored !== 'object')
        return BigInt(stored as string)
      throw wrongKey(stored, 'bigint')
    },
  },
  bytes: {
    ...plainKeys,
    encode(key) {
      if (isBytes(key)) return Buffer.from(key)
      throw wrongKey(key, 'bytes')
    },
    decode(stored) {
      if (isBytes(stored)) return stored
      throw wrongKey(stored, 'bytes')
    },
  },
}

const BYTES_AS_TEXT: KeyCodec = {
  step: (key) => keyStep(typeof key === 'string' ? Buffer.from(key, 'latin1') : key),
  encode: (key) => Buffer.from(key as string, 'latin1'),
  decode: (stored) => (KEYS.bytes.decode(stored) as Buffer).toString('latin1'),
}
