import type { Codecs, LoadedPart } from '../../codec/index.js'
import { tokenOf, unstorable } from '../../codec/index.js'
import { SkeinError } from '../../errors/index.js'
import { isByteKeyed, type EntityModel, type PropertyModel } from '../../model/index.js'
import type { ReadOperation } from '../../plan/operation.js'
import { listGetIndexRange, mapGetKeys } from '../../plan/operations.js'
import type { StoredRecord } from '../../plan/outcome.js'
import type { MapKey, Value } from '../../plan/value.js'
import { entryOf, shapeOf } from '../../records/place.js'
import { shown } from '../../model/call-options.js'

/** Items of a list by position. */
export type SliceSelection =
  { readonly first: number } | { readonly last: number } | { readonly offset: number; readonly count: number }

/** Checks what is wanted of a property against its type. */
export function partOf(model: EntityModel, property: PropertyModel, selection: unknown, codecs: Codecs): LoadedPart {
  const shape = property.role === 'plain' ? shapeOf(property.type) : 'other'
  if (shape === 'map') return entriesPart(model, property, selection, codecs)
  if (shape === 'list') return slicePart(model, property, selection)
  throw refused(
    model,
    property,
    'it is not a list, Map, part or JSON object in one bin',
    `Name it whole: '${property.name}'.`,
  )
}

function entriesPart(model: EntityModel, property: PropertyModel, keys: unknown, codecs: Codecs): LoadedPart {
  const { type, name } = property
  if (!Array.isArray(keys) || keys.length === 0)
    throw refused(model, property, `${shown(keys)} is not a list of keys`, `Give at least one: { ${name}: ['…'] }.`)
  const part = type.kind === 'embedded' && type.shape === 'one' ? codecs.model.embeddable(type.part) : undefined
  if (part !== undefined && part.relations.length > 0)
    throw refused(model, property, `${part.name} has references, which would look empty`, `Name it whole: '${name}'.`)
  const stored = keys.map((key: unknown): MapKey => {
    try {
      const entry = entryOf(type, key, codecs)
      if (entry !== undefined) return entry.key
    } catch (error) {
      throw unstorable(model, undefined, error)
    }
    throw refused(model, property, `it has no field ${shown(key)}`, 'Name stored fields of the part.')
  })
  // Equal bytes are one key.
  const distinct = new Map(stored.map((key) => [tokenOf(key), key]))
  return { kind: 'entries', keys: new Set(distinct.values()), fields: part && new Set(keys as string[]) }
}

function slicePart(model: EntityModel, property: PropertyModel, given: unknown): LoadedPart {
  const names = typeof given === 'object' && given !== null ? Object.keys(given).sort().join() : ''
  const { first, last, offset, count } = (given ?? {}) as Readonly<Record<string, unknown>>
  if (names === 'first' && isCount(first)) return { kind: 'slice', offset: 0, count: first }
  if (names === 'last' && isCount(last)) return { kind: 'slice', offset: -last, count: last }
  if (names === 'count,offset' && Number.isSafeInteger(offset) && isCount(count))
    return { kind: 'slice', offset: offset as number, count }
  const fix = `Give { first: n }, { last: n } or { offset, count }, with whole numbers of at least 1.`
  throw refused(model, property, 'this does not select a part of a list', fix)
}

const isCount = (given: unknown): given is number => Number.isSafeInteger(given) && (given as number) >= 1

function refused({ name: className }: EntityModel, { name }: PropertyModel, why: string, fix: string): SkeinError {
  const message = `${className}.${name} cannot be read in part like this: ${why}.`
  return new SkeinError('SKEIN_2320', message, { className, property: name, fix })
}

export function readOfPart(bin: string, part: LoadedPart): ReadOperation {
  return part.kind === 'slice'
    ? listGetIndexRange(bin, part.offset, part.count, 'value')
    : mapGetKeys(bin, [...part.keys], 'keyValue')
}

/** The record as if only the parts that were read were stored. */
export function withParts(
  record: StoredRecord,
  { properties }: EntityModel,
  parts: ReadonlyMap<string, LoadedPart>,
): StoredRecord {
  // Beside a read of a map the server answers for bins that are not there, too.
  const bins: Record<string, Value | undefined> = Object.fromEntries(
    Object.entries(record.bins).filter(([, stored]) => stored !== null),
  )
  for (const { name, bin, type } of properties) {
    const found = bins[bin]
    const isPairs = parts.get(name)?.kind === 'entries' || isByteKeyed(type)
    if (isPairs && Array.isArray(found)) bins[bin] = mapOf(found as readonly Value[])
  }
  return { ...record, bins }
}

/** A map of keys and values that come one after the other. */
function mapOf(pairs: readonly Value[]): Value {
  const entries: [MapKey, Value][] = []
  for (let i = 0; i + 1 < pairs.length; i += 2) entries.push([pairs[i] as MapKey, pairs[i + 1]])
  const isText = entries.every(([key]) => typeof key === 'string')
  return isText ? (Object.fromEntries(entries) as Value) : new Map(entries)
}
