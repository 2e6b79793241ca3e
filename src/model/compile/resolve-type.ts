import { SCALAR_KINDS, type BinType, type MapKeyKind, type ScalarKind, type ValueCodec } from '../bin-type.js'
import { show } from './check-options.js'
import { didYouMean, oneOf } from './nearest.js'
import {
  LIST_OPTIONS,
  listSubtype,
  MAP_OPTIONS,
  mapSubtype,
  nestedSubtype,
  type Subtype,
  type TypeProblem,
} from './subtype.js'

const MAP_KEYS: readonly MapKeyKind[] = ['string', 'int', 'bigint', 'bytes']
// Members of a Set are compared by value on the server; these have one value for one meaning.
const SET_ITEMS: readonly BinType['kind'][] = ['int', 'double', 'string', 'boolean', 'bytes', 'bigint', 'date', 'enum']

/** A type as written in a decorator, as data; or what is wrong with it. */
export function resolveType(spec: unknown): BinType | TypeProblem {
  if (typeof spec === 'string') return scalar(spec)
  if (typeof spec !== 'object' || spec === null) return notAType(spec)
  if ('encode' in spec && 'decode' in spec) return { kind: 'custom', codec: spec as ValueCodec }
  if ('list' in spec) return unknownOption(spec, ['list', ...LIST_OPTIONS]) ?? listOf(spec)
  if ('tuple' in spec) return unknownOption(spec, ['tuple']) ?? tupleOf(spec.tuple)
  if ('set' in spec) return unknownOption(spec, ['set']) ?? within(spec.set, setOf)
  if ('map' in spec) return unknownOption(spec, ['map', 'key', ...MAP_OPTIONS]) ?? mapOf(spec)
  if ('enum' in spec) return unknownOption(spec, ['enum']) ?? enumOf(spec.enum)
  return notAType(spec)
}

export function isTypeProblem(type: object): type is TypeProblem {
  return 'message' in type
}

function scalar(name: string): BinType | TypeProblem {
  const kind = SCALAR_KINDS.find((known) => known === name)
  if (kind) return { kind }
  return {
    code: 'SKEIN_1022',
    message: `'${name}' is not a type.`,
    fix: `${didYouMean(name, SCALAR_KINDS)}Use ${oneOf(SCALAR_KINDS)}, { list }, { tuple }, { set }, { map }, { enum } or a codec.`,
  }
}

function unknownOption(spec: object, known: readonly string[]): TypeProblem | undefined {
  const unknown = Object.keys(spec).find((name) => !known.includes(name))
  if (unknown === undefined) return undefined
  return {
    code: 'SKEIN_1048',
    message: `The type { ${known[0]} } does not know the option '${unknown}'.`,
    fix: `${didYouMean(unknown, known)}It takes ${oneOf(known)}.`,
  }
}

function within(itemSpec: unknown, wrap: (item: BinType) => BinType | TypeProblem): BinType | TypeProblem {
  const item = resolveType(itemSpec)
  if (isTypeProblem(item)) return item
  return nestedSubtype(item) ?? wrap(item)
}

function listOf(spec: Subtype & { readonly list: unknown }): BinType | TypeProblem {
  const subtype = listSubtype(spec)
  return isTypeProblem(subtype) ? subtype : within(spec.list, (item) => ({ kind: 'list', item, ...subtype }))
}

function tupleOf(specs: unknown): BinType | TypeProblem {
  if (!Array.isArray(specs) || specs.length === 0) {
    const message = `{ tuple } takes the types of its fields, not ${show(specs)}.`
    return { code: 'SKEIN_1022', message, fix: "Give a list that is not empty: { tuple: ['date', 'double'] }." }
  }
  const items: BinType[] = []
  for (const spec of specs as unknown[]) {
    const item = within(spec, (each) => each)
    if (isTypeProblem(item)) return item
    items.push(item)
  }
  return { kind: 'tuple', items }
}

function setOf(item: BinType): BinType | TypeProblem {
  if (isComparable(item)) return { kind: 'set', item }
  return {
    code: 'SKEIN_1022',
    message: `A set of ${item.kind} cannot be stored: its members have no value that the server could compare.`,
    fix: `Use { list: … }, or a set of ${oneOf(SET_ITEMS)}, or of lists or tuples of them.`,
  }
}

/** True where equal values are stored alike, so that the server finds them equal. */
function isComparable(type: BinType): boolean {
  if (type.kind === 'list') return isComparable(type.item)
  return type.kind === 'tuple' ? type.items.every(isComparable) : SET_ITEMS.includes(type.kind)
}

function mapOf(spec: Subtype & { readonly map: unknown; readonly key?: unknown }): BinType | TypeProblem {
  const { key = 'string' } = spec
  const known = MAP_KEYS.find((kind) => kind === key)
  const subtype = mapSubtype(spec)
  if (isTypeProblem(subtype)) return subtype
  if (known) return within(spec.map, (value) => ({ kind: 'map', key: known, value, ...subtype }))
  return {
    code: 'SKEIN_1022',
    message: `${show(key)} is not a type for the keys of a map.`,
    fix: `Use key: ${oneOf(MAP_KEYS)}.`,
  }
}

function enumOf(source: unknown): BinType | TypeProblem {
  const values = Array.isArray(source) ? (source as unknown[]) : enumValues(source)
  if (values.length > 0 && values.every((value) => typeof value === 'string' || typeof value === 'number')) {
    return { kind: 'enum', values: [...new Set(values)] }
  }
  return {
    code: 'SKEIN_1022',
    message: 'The enum has no values, or values that are neither strings nor numbers.',
    fix: 'Give a TypeScript enum or a list: { enum: Color } or { enum: ["red", "blue"] }. A const enum does not exist at run time.',
  }
}

/** The values of a TypeScript enum; numeric ones also hold the way back from number to name, which is left out. */
function enumValues(source: unknown): unknown[] {
  if (typeof source !== 'object' || source === null) return []
  return Object.entries(source)
    .filter(([name]) => !/^-?\d+(\.\d+)?$/.test(name))
    .map(([, value]) => value as unknown)
}

const CONSTRUCTORS = new Map<unknown, ScalarKind>([
  [String, 'string'],
  [Number, 'int'],
  [Boolean, 'boolean'],
  [Date, 'date'],
  [BigInt, 'bigint'],
  [Buffer, 'bytes'],
  [Uint8Array, 'bytes'],
])

/** Types that reflection sees for plain values; a `number` is an int unless the decorator says otherwise. */
export function scalarOfConstructor(constructor: unknown): ScalarKind | undefined {
  return CONSTRUCTORS.get(constructor)
}

function notAType(spec: unknown): TypeProblem {
  const kind = scalarOfConstructor(spec)
  return {
    code: 'SKEIN_1022',
    message: `${show(spec)} is not a type.`,
    fix: kind
      ? `Write it as text: '${kind}'.`
      : `Use ${oneOf(SCALAR_KINDS)}, { list }, { tuple }, { set }, { map }, { enum } or a codec.`,
  }
}
