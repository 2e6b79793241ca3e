import { CommandError, ResultCode } from '../protocol/result-code.js'
import { compareValues } from './compare.js'
import { MapValue, type Value } from './value.js'

export class DuplicateMapKeyError extends CommandError {
  constructor() {
    super(ResultCode.PARAMETER, 'duplicate map key')
  }
}

/** A map in key order. Input that says it is ordered and is not, or that repeats a key, is refused. */
export function sortedMap(keys: Value[], values: Value[], flags: number): MapValue {
  for (let i = 1; i < keys.length; i++) {
    if (compareValues(keys[i - 1], keys[i]) >= 0) {
      if (flags & 1) throw new DuplicateMapKeyError()
      return sortMap(keys, values, flags)
    }
  }
  return new MapValue(keys, values, flags)
}

function sortMap(keys: Value[], values: Value[], flags: number): MapValue {
  const order = keys.map((_, i) => i).sort((a, b) => compareValues(keys[a], keys[b]))
  const sortedKeys = order.map((i) => keys[i])
  for (let i = 1; i < sortedKeys.length; i++) {
    if (compareValues(sortedKeys[i - 1], sortedKeys[i]) === 0) throw new DuplicateMapKeyError()
  }
  return new MapValue(
    sortedKeys,
    order.map((i) => values[i]),
    flags,
  )
}
