import type { BinType, EmbeddedArrayType, EmbeddedMapType, ListType, MapType } from '../bin-type.js'

/** A type in few words: `list<string>`, `map<int, date>`, `Address[]`. */
export function describeType(type: BinType): string {
  switch (type.kind) {
    case 'list':
      return `list<${describeType(type.item)}>${describeSubtype(type)}`
    case 'tuple':
      return `[${type.items.map(describeType).join(', ')}]`
    case 'set':
      return `set<${describeType(type.item)}>`
    case 'map':
      return `map<${type.key}, ${describeType(type.value)}>${describeSubtype(type)}`
    case 'enum':
      return `enum(${type.values.join(' | ')})`
    case 'custom':
      return `custom(${type.codec.name ?? 'codec'})`
    case 'embedded':
      switch (type.shape) {
        case 'one':
          return type.part
        case 'array':
          return `${type.part}[]${describeSubtype(type)}`
        case 'map':
          return `map<${type.key}, ${type.part}>${describeSubtype(type)}`
        case 'bins':
          return `${type.part} in bins ${type.fields.map((field) => field.bin).join(', ')}`
      }
    default:
      return type.kind
  }
}

function describeSubtype(type: ListType | MapType | EmbeddedArrayType | EmbeddedMapType): string {
  const unique = 'unique' in type && type.unique && 'unique'
  const words = ['tuple' in type && 'as tuples', type.order, unique, type.persistIndex && 'indexed']
  const named = words.filter((word) => typeof word === 'string')
  return named.length === 0 ? '' : ` ${named.join(' ')}`
}
