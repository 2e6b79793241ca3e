import { bug } from '../../errors/index.js'
import type { BinType, KeyKind, ScalarKind } from '../../model/index.js'
import type { Codecs } from '../codecs.js'
import type { TypeCodec } from '../type-codec.js'
import { customType, geojsonType, jsonType } from './json-type.js'
import { listType } from './list-type.js'
import { mapType } from './map-type.js'
import {
  bigintType,
  booleanType,
  bytesType,
  dateType,
  doubleType,
  enumType,
  intType,
  stringType,
} from './scalar-types.js'
import { setType } from './set-type.js'

const SCALARS: { readonly [K in ScalarKind]: TypeCodec } = {
  int: intType,
  double: doubleType,
  string: stringType,
  boolean: booleanType,
  bytes: bytesType,
  bigint: bigintType,
  date: dateType,
  json: jsonType,
  geojson: geojsonType,
}

/** The codec of a declared type; `part` finds the codec of an embeddable by name. */
export function compileType(type: BinType, part: (name: string) => TypeCodec): TypeCodec {
  switch (type.kind) {
    case 'list':
      return listType(compileType(type.item, part))
    case 'set':
      return setType(compileType(type.item, part))
    case 'map':
      return mapType(type.key, compileType(type.value, part))
    case 'enum':
      return enumType(type.values)
    case 'custom':
      return customType(type.codec)
    case 'embedded':
      switch (type.shape) {
        case 'one':
          return part(type.part)
        case 'array':
          return listType(part(type.part))
        case 'map':
          return mapType(type.key, part(type.part))
        case 'bins':
          throw bug(`the bins of ${type.part} cannot lie inside another value.`, { className: type.part })
      }

    default:
      return SCALARS[type.kind]
  }
}

/** The codec of a stored key. */
export const keyCodec = (kind: KeyKind): TypeCodec => SCALARS[kind]

/** The codec of a type of a compiled model. */
export const typeCodecOf = (type: BinType, codecs: Codecs): TypeCodec => compileType(type, (name) => codecs.part(name))
