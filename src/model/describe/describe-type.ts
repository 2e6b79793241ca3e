import type { BinType } from '../bin-type.js'

/** A type in few words: `list<string>`, `map<int, date>`, `Address[]`. */
export function describeType(type: BinType): string {
  switch (type.kind) {
    case 'list':
      return `list<${describeType(type.item)}>`
    case 'set':
      return `set<${describeType(type.item)}>`
    case 'map':
      return `map<${type.key}, ${describeType(type.value)}>`
    case 'enum':
      return `enum(${type.values.join(' | ')})`
    case 'custom':
      return `custom(${type.codec.name ?? 'codec'})`
    case 'embedded':
      switch (type.shape) {
        case 'one':
          return type.part
        case 'array':
          return `${type.part}[]`
        case 'map':
          return `map<${type.key}, ${type.part}>`
        case 'bins':
          return `${type.part} in bins ${type.fields.map((field) => field.bin).join(', ')}`
      }
    default:
      return type.kind
  }
}
