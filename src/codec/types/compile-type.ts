import { bug } from '../../errors/index.js'
import type { BinType, EmbeddedType, KeyKind, ListType, MapType, ScalarKind } from '../../model/index.js'
import type { MapSubtype } from '../../plan/operation.js'
import type { Codecs } from '../codecs.js'
import type { TypeCodec } from '../type-codec.js'
import { customType, geojsonType, jsonType } from './json-type.js'
import { listType } from './list-type.js'
import { mapType } from './map-type.js'
import { inValueOrder } from './orderable.js'
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
import { sortedListType } from './sorted-list-type.js'
import { tupleType } from './tuple-type.js'

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
export function compileType(type: BinType, part: (name: string) => PartType): TypeCodec {
  switch (type.kind) {
    case 'list':
      return listCodec(compileType(type.item, part), type)
    case 'tuple':
      return tupleType(type.items.map((item) => compileType(item, part)))
    case 'set':
      return inValueOrder(setType(compileType(type.item, part)))
    case 'map':
      return mapCodec(compileType(type.value, part), type)
    case 'enum':
      return enumType(type.values)
    case 'custom':
      return customType(type.codec)
    case 'embedded':
      return embeddedCodec(type, part)
    default:
      return SCALARS[type.kind]
  }
}

/** A part, which can also be stored as a tuple. */
type PartType = TypeCodec & { readonly asTuple: TypeCodec }

function embeddedCodec(type: EmbeddedType, part: (name: string) => PartType): TypeCodec {
  if (type.shape === 'bins')
    throw bug(`the bins of ${type.part} cannot lie inside another value.`, { className: type.part })
  const one = type.tuple ? part(type.part).asTuple : part(type.part)
  switch (type.shape) {
    case 'one':
      return one
    case 'array':
      return listCodec(one, type)
    case 'map':
      return mapCodec(one, type)
  }
}

function listCodec(item: TypeCodec, type: Pick<ListType, 'order' | 'unique' | 'persistIndex'>): TypeCodec {
  if (type.order === 'sorted') return inValueOrder(sortedListType(item, type))
  return type.unique === true ? inValueOrder(listType(item, true)) : listType(item)
}

function mapCodec(value: TypeCodec, type: Pick<MapType, 'key' | 'order' | 'persistIndex'>): TypeCodec {
  const map = mapType(type.key, value, mapSubtype(type))
  return type.order === 'keyValue' ? inValueOrder(map) : map
}

/** Subtype that puts and creation give to the map; undefined for a plain K-ordered one. */
export function mapSubtype({
  order,
  persistIndex = false,
}: {
  readonly order?: MapType['order']
  readonly persistIndex?: boolean
}): MapSubtype | undefined {
  if (order === undefined && !persistIndex) return undefined
  return { order: order ?? 'ordered', persistIndex }
}

/** The codec of a stored key. */
export const keyCodec = (kind: KeyKind): TypeCodec => SCALARS[kind]

/** The codec of a type of a compiled model. */
export const typeCodecOf = (type: BinType, codecs: Codecs): TypeCodec => compileType(type, (name) => codecs.part(name))
