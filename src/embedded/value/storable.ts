import { CommandError, ResultCode } from '../protocol/result-code.js'
import { compareValues } from './compare.js'
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
    const map = inKeyOrder(value)
    for (const key of map.keys) requireKey(key)
    const values = storableAll(map.values)
    const flags = map.flags & MAP_KEY_VALUE_ORDERED
    return values === map.values && flags === map.flags ? map : new MapValue(map.keys, values, flags)
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

/** Maps that were looked at before: an expression may ask the same one for each of its entries. */
const inOrder = new WeakSet<MapValue>()

/** Results of calls may hold their entries in another order; where they are used further they must be sorted again. */
export function inKeyOrder(map: MapValue): MapValue {
  if (map.keys.length < 2 || inOrder.has(map)) return map
  if (map.keys.every((key, i) => i === 0 || compareValues(map.keys[i - 1], key) < 0)) {
    inOrder.add(map)
    return map
  }
  const order = map.keys.map((_, i) => i).sort((a, b) => compareValues(map.keys[a], map.keys[b]))
  return new MapValue(
    order.map((i) => map.keys[i]),
    order.map((i) => map.values[i]),
    map.flags,
  )
}

/** Only integers, strings and bytes may be map keys. */
export function requireKey(key: Value): void {
  if (typeof key === 'string' || isInteger(key)) return
  if (key instanceof Bytes && (key.tag === ParticleType.BLOB || key.tag === ParticleType.STRING)) return
  throw new CommandError(ResultCode.PARAMETER, 'not a map key')
}
