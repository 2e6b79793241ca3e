import type { WriteOperation } from '../../plan/operation.js'
import { isDouble, type Value } from '../../plan/value.js'
import { entriesOf, isMap } from '../../plan/value-order.js'
import type { TypeCodec } from '../type-codec.js'
import { ValueProblem } from '../value-problem.js'

/** Returns a stored value that the server keeps in order; throws for NaN, which it finds equal to every number and so loses others by. */
export function orderable(stored: Value): Value {
  if (!hasNaN(stored)) return stored
  throw new ValueProblem(
    'NaN has no place in value order: a set, a sorted or unique list, or a map in value order would lose other values by it',
    'Leave it out, or use null.',
  )
}

function hasNaN(stored: Value): boolean {
  if (typeof stored === 'number') return Number.isNaN(stored)
  if (typeof stored !== 'object' || stored === null) return false
  if (isDouble(stored)) return Number.isNaN(stored.value)
  if (Array.isArray(stored)) return (stored as readonly Value[]).some(hasNaN)
  return isMap(stored) && entriesOf(stored).some(([, value]) => hasNaN(value))
}

/** The codec of a set, list or map that the server keeps in value order: what it would store is checked, what is stored is not. */
export function inValueOrder(codec: TypeCodec): TypeCodec {
  return {
    ...codec,
    encode: (value, depth) => orderable(codec.encode(value, depth)),
    ...(codec.patch && { patch: (...args) => checked(codec.patch!(...args)) }),
    ...(codec.create && { create: (...args) => checked(codec.create!(...args)) }),
  }
}

function checked<T extends readonly WriteOperation[] | undefined>(operations: T): T {
  for (const operation of operations ?? []) {
    if (operation.kind === 'listRemoveValues') continue
    if ('value' in operation) orderable(operation.value)
    if ('values' in operation) orderable(operation.values)
    if (operation.kind === 'mapPutItems') orderable(operation.items)
  }
  return operations
}
