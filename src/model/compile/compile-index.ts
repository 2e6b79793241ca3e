import type { KeyKind } from '../../keys/index.js'
import type { BinType } from '../bin-type.js'
import type { CalculatedIndexOptions, IndexOptions } from '../options.js'
import type { IndexModel } from '../property-model.js'
import { checkIndexedBin } from './check-names.js'
import { checkChoice } from './check-options.js'
import type { Place, Problems } from './problems.js'

type IndexType = IndexModel['type']

interface IndexedBin {
  readonly set: string
  readonly bin: string
  readonly place: Place & { readonly property: string }
  /** Option that gives the bin another name. */
  readonly option?: string
}

const SUFFIX: { readonly [on in IndexModel['on']]: string } = {
  value: '',
  listElements: '_items',
  mapKeys: '_keys',
  mapValues: '_values',
}

/** The index that `@Index` on a value asks for. */
export function compileIndex(
  options: IndexOptions,
  type: BinType,
  { set, bin, place }: IndexedBin,
  problems: Problems,
): IndexModel | undefined {
  const indexed = indexedAs(options, type, place, problems)
  return indexed && index(options.name, indexed.type, indexed.on, { set, bin, place }, problems)
}

/** The part of a value that `@Index` asks for, and its type; a problem where it cannot be indexed. */
export function indexedAs(
  options: IndexOptions,
  type: BinType,
  place: Place,
  problems: Problems,
): Pick<IndexModel, 'on' | 'type'> | undefined {
  const on = options.on ?? defaultOn(type)
  if (!checkChoice(problems, 'on', on, Object.keys(SUFFIX), place)) return undefined
  const indexed = indexedType(type, on)
  const indexType = indexed && indexTypeOf(indexed)
  if (!indexType) {
    const message = `Its ${on === 'value' ? '' : `${WORDS[on]} of `}${type.kind} cannot be indexed${on === 'value' ? '' : ' in this way'}.`
    const fix =
      'Index an int, bigint, date, string, enum, bytes or geojson; the elements of a list or set of them; or the keys or values of a map.'
    problems.add('SKEIN_1024', place, message, fix)
    return undefined
  }
  return { on, type: indexType }
}

/** An index on a field of a part, which is stored under these keys of the map in the bin. */
export function compileFieldIndex(
  { on, type }: Pick<IndexModel, 'on' | 'type'>,
  steps: readonly string[],
  where: IndexedBin,
  problems: Problems,
): IndexModel {
  const { set, bin } = where
  const path = [set, bin, ...steps].join('_')
  const found = index(`${path}${SUFFIX[on]}`, type, on, where, problems)
  return steps.length === 0 ? found : { ...found, steps }
}

/** An index on a calculated value of a class. */
export function compileCalculatedIndex(
  { name, of }: CalculatedIndexOptions,
  className: string,
  problems: Problems,
): IndexModel[] {
  const place = { className, property: String(name) }
  if (typeof of !== 'function' || typeof name !== 'string') {
    const fix = "Write @Index({ name: 'listing_value', of: (l: FilterFields<Listing>) => l.price.times(l.rooms) })."
    problems.add('SKEIN_1024', { className }, '@Index on a class needs a name and what to index.', fix)
    return []
  }
  return [{ ...index(name, 'numeric', 'value', { set: '', bin: '', place }, problems), of }]
}

/** The index on a bin that holds a key (of a ref), or on the keys of a map from such keys. */
export function compileKeyIndex(
  name: string | undefined,
  kind: KeyKind,
  on: IndexModel['on'],
  where: IndexedBin,
  problems: Problems,
): IndexModel {
  return index(name, KEY_INDEX[kind], on, where, problems)
}

function index(
  name: string | undefined,
  type: IndexType,
  on: IndexModel['on'],
  { set, bin, place, option = "name: '…'" }: IndexedBin,
  problems: Problems,
): IndexModel {
  checkIndexedBin(problems, bin, place, option)
  const indexName = name ?? `${set}_${bin}${SUFFIX[on]}`
  if (indexName === '' || Buffer.byteLength(indexName) > 255 || /[:;=,\s]/.test(indexName)) {
    const message = `'${indexName}' cannot be the name of an index.`
    problems.add('SKEIN_1014', place, message, "Give another without spaces and : ; = , as @Index({ name: '…' }).")
  }
  return { name: indexName, bin, on, type, property: place.property }
}

const WORDS = { listElements: 'list elements', mapKeys: 'map keys', mapValues: 'map values', value: '' }

const KEY_INDEX: { readonly [K in KeyKind]: IndexType } = {
  string: 'string',
  int: 'numeric',
  bigint: 'numeric',
  bytes: 'blob',
}

function defaultOn(type: BinType): IndexModel['on'] {
  return type.kind === 'list' || type.kind === 'set' ? 'listElements' : 'value'
}

/** The type of what the index looks at, when there is such a thing. */
function indexedType(type: BinType, on: IndexModel['on']): BinType | undefined {
  if (on === 'value') return type
  if (on === 'listElements') return type.kind === 'list' || type.kind === 'set' ? type.item : undefined
  if (type.kind === 'map') return on === 'mapKeys' ? { kind: type.key } : type.value
  if (type.kind === 'embedded' && type.shape === 'map' && on === 'mapKeys') return { kind: type.key }
  return undefined
}

function indexTypeOf(type: BinType): IndexType | undefined {
  switch (type.kind) {
    case 'int':
    case 'bigint':
    case 'date':
      return 'numeric'
    case 'string':
      return 'string'
    case 'bytes':
      return 'blob'
    case 'geojson':
      return 'geo2dsphere'
    case 'enum':
      return type.values.every((value) => typeof value === 'string')
        ? 'string'
        : type.values.every((value) => Number.isSafeInteger(value))
          ? 'numeric'
          : undefined
    default:
      return undefined
  }
}
