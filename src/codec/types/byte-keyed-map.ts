import { types } from 'node:util'
import type { TypeCodec } from '../type-codec.js'
import { shown, ValueProblem } from '../value-problem.js'

type ByText = ReadonlyMap<string, unknown>

/** The text of bytes as a map has them for keys: a character for each byte. */
export const textOf = (key: Uint8Array): string =>
  Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString('latin1')

/**
 * A Map whose keys are bytes, by way of one whose keys are text: a Map finds bytes by identity, the server by what they are. Snapshots have
 * text for keys.
 */
export function byteKeyed(inner: TypeCodec): TypeCodec {
  return {
    ...inner,
    encode: (value, depth) => inner.encode(byText(value), depth),
    decode: (stored) =>
      new Map([...(inner.decode(stored) as ByText)].map(([key, member]) => [Buffer.from(key, 'latin1'), member])),
    snapshot: (value) => inner.snapshot(byText(value)),
    same(value, snapshot) {
      const entries = textKeys(value)
      return !(entries instanceof ValueProblem) && inner.same(entries, snapshot)
    },
    patch: (value, snapshot, place) => inner.patch!(byText(value), snapshot, place),
  }
}

function byText(value: unknown): ByText {
  const entries = textKeys(value)
  if (entries instanceof ValueProblem) throw entries
  return entries
}

function textKeys(value: unknown): ByText | ValueProblem {
  if (!types.isMap(value)) return new ValueProblem(`${shown(value)} is not a Map`, 'Give a Map.')
  const entries = new Map<string, unknown>()
  for (const [key, member] of value as ReadonlyMap<unknown, unknown>) {
    if (!types.isUint8Array(key))
      return new ValueProblem(`${shown(key)} is not a map key of type bytes`, 'Use a Buffer or Uint8Array as key.')
    const text = textOf(key)
    if (entries.has(text)) {
      const message = `two keys have the same bytes, 0x${Buffer.from(text, 'latin1').toString('hex')}`
      return new ValueProblem(message, 'Change the entry under the key that is there.')
    }
    entries.set(text, member)
  }
  return entries
}

/** The key of a Map that has the same bytes as `key`; `key` itself where there is none. */
export function sameBytesIn(map: ReadonlyMap<unknown, unknown>, key: unknown): unknown {
  if (!types.isUint8Array(key) || map.has(key)) return key
  for (const each of map.keys()) if (types.isUint8Array(each) && Buffer.compare(each, key) === 0) return each
  return key
}
