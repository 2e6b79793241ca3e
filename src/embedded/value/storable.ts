import { CommandError, ResultCode } from '../protocol/result-code.js'
import {
  Bytes,
  Extreme,
  LIST_ORDERED,
  ListValue,
  MAP_KEY_VALUE_ORDERED,
  MapValue,
  ParticleType,
  isInteger,
  type Value,
} from './value.js'

/** The value as it is stored: only order flags stay on its containers; what may only be compared with is refused. */
export function storable(value: Value): Value {
  if (value instanceof ListValue) {
    const items = storableAll(value.items)
    const flags = value.flags & LIST_ORDERED
    return items === value.items && flags === value.flags ? value : new ListValue(items, flags)
  }
  if (value instanceof MapValue) {
    for (const key of value.keys) requireKey(key)
    const values = storableAll(value.values)
    const flags = value.flags & MAP_KEY_VALUE_ORDERED
    return values === value.values && flags === value.flags ? value : new MapValue(value.keys, values, flags)
  }
  if (value instanceof Extreme) throw new CommandError(ResultCode.PARAMETER, `${value.name} cannot be stored`)
  return value
}

function storableAll(values: readonly Value[]): readonly Value[] {
  let copy: Value[] | undefined
  for (let i = 0; i < values.length; i++) {
    const value = values[i]
    if (typeof value !== 'object' || value === null) continue
    const stored = storable(value)
    if (stored === value) continue
    copy ??= values.slice()
    copy[i] = stored
  }
  return copy ?? values
}

/** Only integers, strings and bytes may be map keys. */
export function requireKey(key: Value): void {
  if (typeof key === 'string' || isInteger(key)) return
  if (key instanceof Bytes && (key.tag === ParticleType.BLOB || key.tag === ParticleType.STRING)) return
  throw new CommandError(ResultCode.PARAMETER, 'not a map key')
}
