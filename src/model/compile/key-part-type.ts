import type { KeyPartType } from '../../keys/index.js'
import type { BinType } from '../bin-type.js'

/** Type with which a property takes part in a key; undefined when it cannot. */
export function keyPartType(type: BinType | undefined): KeyPartType | undefined {
  switch (type?.kind) {
    case 'string':
    case 'int':
    case 'bigint':
    case 'bytes':
    case 'date':
    case 'boolean':
      return type.kind
    case 'enum':
      return type.values.every((value) => typeof value === 'string') ? 'string' : integral(type.values)
    default:
      return undefined
  }
}

function integral(values: readonly (string | number)[]): 'int' | undefined {
  return values.every((value) => Number.isSafeInteger(value)) ? 'int' : undefined
}
