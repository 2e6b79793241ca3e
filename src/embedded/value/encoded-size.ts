import { Bytes, Float, ListValue, MapValue, type Value } from './value.js'

/** The length of a value's msgpack form. Containers remember theirs, so a change costs only what it touches. */
export function encodedSize(value: Value): number {
  switch (typeof value) {
    case 'number':
      return integerSize(value)
    case 'bigint':
      return 9
    case 'string':
      return taggedSize(Buffer.byteLength(value))
    case 'boolean':
      return 1
  }
  if (value === null) return 1
  if (value instanceof Float) return 9
  if (value instanceof Bytes) return taggedSize(value.bytes.length)
  if (value instanceof ListValue) {
    if (value.size < 0) value.size = headerSize(value) + sum(value.items)
    return value.size
  }
  if (value instanceof MapValue) {
    if (value.size < 0) value.size = headerSize(value) + sum(value.keys) + sum(value.values)
    return value.size
  }
  return 3
}

function sum(values: readonly Value[]): number {
  let total = 0
  for (const value of values) total += encodedSize(value)
  return total
}

/** Bytes that a container takes beside its elements: the count, and the order marker, which counts as an element. */
export function headerSize(value: ListValue | MapValue): number {
  const length = value instanceof ListValue ? value.items.length : value.keys.length
  if (value.flags === 0) return countSize(length)
  return countSize(length + 1) + (value instanceof ListValue ? 3 : 4)
}

function countSize(count: number): number {
  return count < 0x10 ? 1 : count < 0x10000 ? 3 : 5
}

function taggedSize(byteLength: number): number {
  const length = byteLength + 1
  return length + (length < 0x20 ? 1 : length < 0x100 ? 2 : length < 0x10000 ? 3 : 5)
}

function integerSize(value: number): number {
  if (value >= 0) return value < 0x80 ? 1 : value < 0x100 ? 2 : value < 0x10000 ? 3 : value < 0x100000000 ? 5 : 9
  return value >= -0x20 ? 1 : value >= -0x80 ? 2 : value >= -0x8000 ? 3 : value >= -0x80000000 ? 5 : 9
}
