import type { Codecs } from '../codec/index.js'
import { compileType } from '../codec/types/compile-type.js'
import type { TypeCodec } from '../codec/type-codec.js'
import {
  STORED_KEYS,
  type BinType,
  type EmbeddedBinsType,
  type EntityModel,
  type Model,
  type PropertyModel,
  type RelationModel,
  moveBinOf,
} from '../model/index.js'
import type { BinType as ExpressionType } from '../plan/expression.js'
import type { MapKey, Value } from '../plan/value.js'
import type { Decode, Encode, Field, FieldShape } from './field.js'

/** Turns an entity, a key or the parts of a key into what a reference stores. `isInPart`: parts hold keys as people use them. */
export type EncodeRef = (target: string, given: unknown, isInPart: boolean) => ReturnType<Encode>

/** The key of the target as people use it, of the one that a record stores. */
type DecodeRef = (target: string, stored: Value) => unknown

interface Context {
  readonly codecs: Codecs
  readonly encodeRef: EncodeRef
  readonly decodeRef: DecodeRef
}

/** The fields of a class that conditions can name, by property. */
export function fieldsOf(
  model: Pick<EntityModel, 'properties' | 'relations'>,
  codecs: Codecs,
  encodeRef: EncodeRef,
  decodeRef: DecodeRef = (_, stored) => stored,
): ReadonlyMap<string, Field> {
  const context = { codecs, encodeRef, decodeRef }
  const fields = model.properties
    .filter(({ sharding }) => sharding === undefined)
    .map((property) => fieldOf(property, property.name, property.bin, [], context))
  const refs = model.relations.flatMap((relation) => refField(relation, '', [], false, context))
  return new Map([...fields.map((field) => [field.path, field] as const), ...refs])
}

/** Collections whose members' keys are stored here, by relation. */
export function memberFieldsOf({ relations }: EntityModel, encodeRef: EncodeRef): ReadonlyMap<string, Field> {
  return new Map(
    relations.flatMap(({ name, bin, holds, strategy, target, companions, through }): [string, Field][] => {
      if (bin === undefined || holds !== 'collection' || through !== undefined) return []
      const encode: Encode = (given) => encodeRef(target, given, false)
      const apart = companions && {
        apart: {
          set: companions.set,
          areSeveral: companions.shards !== undefined || companions.buckets !== undefined,
          mayRepeat: companions.buckets !== undefined,
          ...(companions.when !== undefined && { moveBin: moveBinOf(bin) }),
        },
      }
      const place = { path: name, bin, steps: [], ...apart }
      if (STORED_KEYS[strategy] === 'list') return [[name, { ...place, shape: { kind: 'list', item: encode } }]]
      if (STORED_KEYS[strategy] !== 'map') return []
      return [[name, { ...place, shape: { kind: 'map', key: encode, item: undefined } }]]
    }),
  )
}

function fieldOf(
  { type }: Pick<PropertyModel, 'type'>,
  path: string,
  bin: string,
  steps: readonly MapKey[],
  context: Context,
): Field {
  return { path, bin, steps, shape: shapeOf(type, { path, bin, steps }, context) }
}

function shapeOf(type: BinType, place: Omit<Field, 'shape'>, context: Context): FieldShape {
  const codec = (of: BinType): TypeCodec => compileType(of, (name) => context.codecs.part(name))
  switch (type.kind) {
    case 'list':
    case 'set':
      return { kind: 'list', item: itemOf(type.item, codec), decode: (stored) => codec(type.item).decode(stored) }
    case 'map':
      return { kind: 'map', key: encodeOf(codec({ kind: type.key })), item: itemOf(type.value, codec) }
    case 'json':
    case 'geojson':
    case 'tuple':
      return { kind: 'opaque', what: type.kind }
    case 'embedded':
      if (type.shape === 'array') return { kind: 'list', item: undefined }
      if (type.shape === 'map') return { kind: 'map', key: encodeOf(codec({ kind: type.key })), item: undefined }
      return type.shape === 'bins' ? spreadShape(type, place, context) : partShape(type.part, place, context)
    default:
      return scalarShape(type, codec(type))
  }
}

function scalarShape(type: BinType, codec: TypeCodec): FieldShape {
  const { kind } = type
  const stored = expressionTypeOf(type)
  return {
    kind: 'scalar',
    encode: encodeOf(codec),
    decode: (stored) => codec.decode(stored),
    isText: kind === 'string' || kind === 'enum' || kind === 'custom',
    isOrdered: kind !== 'boolean',
    isBigint: kind === 'bigint',
    isNumber: kind !== 'date' && (stored === 'int' || stored === 'float'),
    type: stored,
  }
}

/** Type of the property in an expression; undefined where the server cannot compare it. */
export const expressionTypeOf = (type: BinType): ExpressionType | undefined =>
  EXPRESSION_TYPE[type.kind] ?? (type.kind === 'enum' ? enumType(type.values) : undefined)

const EXPRESSION_TYPE: { readonly [kind: string]: ExpressionType | undefined } = {
  int: 'int',
  bigint: 'int',
  date: 'int',
  double: 'float',
  string: 'str',
  boolean: 'bool',
  bytes: 'blob',
}

function enumType(values: readonly (string | number)[]): ExpressionType | undefined {
  if (values.every((value) => typeof value === 'string')) return 'str'
  return values.every((value) => Number.isSafeInteger(value)) ? 'int' : undefined
}

/** Members that a condition can look for are those that are stored as one value. */
function itemOf(type: BinType, codec: (of: BinType) => TypeCodec): Encode | undefined {
  const isOne = !['list', 'tuple', 'set', 'map', 'embedded', 'json', 'geojson'].includes(type.kind)
  return isOne ? encodeOf(codec(type)) : undefined
}

function partShape(name: string, { path, bin, steps }: Omit<Field, 'shape'>, context: Context): FieldShape {
  // Made when asked for: a part may contain parts of its own class.
  const fields = (): ReadonlyMap<string, Field> => {
    const { properties, relations } = embeddable(context, name)
    const values = properties.map((each): [string, Field] => [
      each.name,
      fieldOf(each, `${path}.${each.name}`, bin, [...steps, each.bin], context),
    ])
    const refs = relations.flatMap((each) => refField({ ...each }, `${path}.`, steps, true, context, bin))
    return new Map([...values, ...refs])
  }
  return { kind: 'part', name, fields }
}

function spreadShape(type: EmbeddedBinsType, { path }: Omit<Field, 'shape'>, context: Context): FieldShape {
  const fields = (): ReadonlyMap<string, Field> =>
    new Map(type.fields.map((each) => [each.name, fieldOf(each, `${path}.${each.name}`, each.bin, [], context)]))
  return { kind: 'part', name: type.part, fields, bins: binsOf(type) }
}

const binsOf = ({ fields }: EmbeddedBinsType): string[] =>
  fields.flatMap(({ bin, type }) => (type.kind === 'embedded' && type.shape === 'bins' ? binsOf(type) : [bin]))

/** The field of a reference whose key is stored here; none for the others. */
function refField(
  { name, bin, holds, strategy, target }: RelationModel,
  prefix: string,
  steps: readonly MapKey[],
  isInPart: boolean,
  { encodeRef, decodeRef, codecs }: Context,
  home?: string,
): [string, Field][] {
  if (bin === undefined || holds !== 'ref' || STORED_KEYS[strategy] !== 'one') return []
  const encode: Encode = (given) => encodeRef(target, given, isInPart)
  const decode: Decode = (stored) => (isInPart ? stored : decodeRef(target, stored))
  const { template, properties } = codecs.model.entity(target).key
  const keyParts = template === undefined ? [] : properties
  const place = home === undefined ? { bin, steps } : { bin: home, steps: [...steps, bin] }
  return [[name, { path: prefix + name, ...place, shape: { kind: 'ref', encode, decode, keyParts } }]]
}

function embeddable({ codecs }: Context, name: string): ReturnType<Model['embeddable']> {
  return codecs.model.embeddable(name)
}

const encodeOf =
  (codec: TypeCodec): Encode =>
  (given, depth) =>
    codec.encode(given, depth)
