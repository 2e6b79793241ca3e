import type { Ref } from '../model/index.js'
import { isDouble, type Value } from '../plan/value.js'
import type { Decode, Field } from './field.js'

/** A value by which a group can be looked up. */
type Plain = string | number | bigint | boolean

/** Key of a group: the value or a member of the list; a date in milliseconds, bytes in hexadecimal digits, a reference by its key. */
export type GroupKey<V> = V extends readonly (infer I)[]
  ? OneKey<I>
  : V extends ReadonlySet<infer I>
    ? OneKey<I>
    : OneKey<V>

type OneKey<V> = V extends Plain
  ? V
  : V extends Date
    ? number
    : V extends Uint8Array
      ? string
      : V extends Ref<infer _R>
        ? string | number | bigint
        : Plain

/** The decoder of the values that a field is grouped by. */
export function groupDecoder({ shape }: Field): Decode | undefined {
  return shape.kind === 'scalar' || shape.kind === 'ref' || shape.kind === 'list' ? shape.decode : undefined
}

/** A stored value as the key of its group. Objects cannot be looked up in a map, so none is given. */
export function groupKey(stored: Value, decode: Decode): Plain {
  const value = decode(stored)
  if (value instanceof Date) return value.getTime()
  if (isPlain(value)) return value
  // A codec of the user's own gives an object: its stored form tells it.
  return value instanceof Uint8Array ? hex(value) : storedKey(stored)
}

function storedKey(stored: Value): Plain {
  if (isPlain(stored)) return stored
  if (isDouble(stored)) return stored.value
  if (stored instanceof Uint8Array) return hex(stored)
  return JSON.stringify(stored, (_, each: unknown) => (typeof each === 'bigint' ? `${each}` : each))
}

const isPlain = (value: unknown): value is Plain => ['string', 'number', 'bigint', 'boolean'].includes(typeof value)

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')
