import { isPartCovered, joinParts, loadedSet, type Loaded, type LoadedPart, type LoadedSet } from '../../codec/index.js'
import { goneBinsOf, isByteKeyed, type DeletedMode } from '../../model/index.js'
import type { ReadOperation } from '../../plan/operation.js'
import { mapGetIndexRange, readBin } from '../../plan/operations.js'
import type { StoredRecord } from '../../plan/outcome.js'
import { membersApart } from '../../relations/attach.js'
import type { MappedClass, Projection } from './mapped-class.js'
import { unknownProperty } from '../context/session-errors.js'
import { ALL } from '../../records/place-handle.js'
import { partOf, readOfPart, withParts } from './partial-read.js'

/** Copies the projection for deleted records too, or for them alone. */
export const showing = (projection: Projection, deleted: DeletedMode | undefined): Projection =>
  deleted === undefined ? projection : { ...projection, deleted }

/** A property, or what is wanted of some properties. */
export type OnlyItem = string | Readonly<Record<string, unknown>>

type Parts = ReadonlyMap<string, LoadedPart>

/** Projects these properties, what every entity needs (its key and version), and the bins of the relations that are loaded along. */
export function projectionOf(
  mapped: MappedClass,
  only?: readonly OnlyItem[],
  along: readonly string[] = [],
): Projection {
  if (only === undefined && along.length === 0) return mapped.ordinary
  const extra = mapped.relations
    .filter(({ relation }) => along.includes(relation))
    .flatMap((relation) => [...relation.bins, ...(membersApart(relation)?.schemeBins ?? [])])
  if (only === undefined) {
    const { bins } = mapped.ordinary
    return { loaded: undefined, bins: bins === 'all' || extra.length === 0 ? bins : [...bins, ...extra] }
  }
  const { key, version, deletedAt, properties, relations } = mapped.model
  const listed = only.filter((item) => typeof item === 'string')
  for (const name of listed) {
    if (![...properties, ...relations].some((each) => each.name === name)) throw unknownProperty(mapped, name)
  }
  const { names, parts } = partsOf(mapped, only, listed)
  const always = [version, deletedAt].filter((name) => name !== undefined)
  const loaded = loadedSet([...key.properties, ...always, ...names, ...along], parts)
  const bins = [...mapped.codec.binsOf(names), ...extra]
  // A record that is deleted, or being deleted, loads as gone, also in part.
  const isEverGone = deletedAt !== undefined || !mapped.standsAlone
  return projected(mapped, loaded, isEverGone ? [...bins, ...goneBinsOf(mapped.model)] : bins)
}

/** Gathers what is wanted of properties, together where one is named several times, and the names of those that are read whole. */
function partsOf(
  mapped: MappedClass,
  only: readonly OnlyItem[],
  listed: readonly string[],
): { readonly names: readonly string[]; readonly parts: Parts } {
  const { model, codecs } = mapped
  const parts = new Map<string, LoadedPart>()
  const names = new Set(listed)
  for (const item of only) {
    if (typeof item === 'string') continue
    for (const [name, selection] of Object.entries(item)) {
      const property = model.properties.find((each) => each.name === name)
      if (property === undefined) throw unknownProperty(mapped, name)
      addPart(parts, names, name, partOf(model, property, selection, codecs))
    }
  }
  return { names: [...names], parts }
}

/** Adds a part to those of other properties; a property of which one read cannot give all parts is read whole. */
function addPart(parts: Map<string, LoadedPart>, whole: Set<string>, name: string, part: LoadedPart): void {
  if (whole.has(name)) return
  const known = parts.get(name)
  const joined = known === undefined ? part : joinParts(known, part)
  if (joined !== undefined) return void parts.set(name, joined)
  parts.delete(name)
  whole.add(name)
}

function projected(mapped: MappedClass, loaded: LoadedSet, bins: readonly string[]): Projection {
  const { parts } = loaded
  if (parts === undefined) return { loaded, bins }
  const reads = [...parts].map(([name, part]) => readOfPart(mapped.binOf(name)!, part))
  const byteKeyed = new Set(mapped.model.properties.flatMap(({ bin, type }) => (isByteKeyed(type) ? [bin] : [])))
  // As pairs, bytes that are keys stay bytes.
  const whole = (bin: string): ReadOperation => (byteKeyed.has(bin) ? mapGetIndexRange(bin, 0, ALL) : readBin(bin))
  return { loaded, bins, operations: [...new Set(bins)].map(whole).concat(reads) }
}

/** The record as it was read: of properties that were read in part, only that. */
export function asRead(record: StoredRecord, { loaded }: Projection, { model }: MappedClass): StoredRecord {
  return loaded?.parts === undefined ? record : withParts(record, model, loaded.parts)
}

/** Merges two projections. */
export function bothOf(one: Projection, other: Projection, mapped: MappedClass): Projection {
  if (one.loaded === undefined || other.loaded === undefined) {
    const isListed = one.bins !== 'all' && other.bins !== 'all'
    return { loaded: undefined, bins: isListed ? [...new Set([...one.bins, ...other.bins])] : 'all' }
  }
  const names = new Set([...one.loaded, ...other.loaded])
  const bins = new Set([...one.bins, ...other.bins])
  const parts = new Map<string, LoadedPart>()
  for (const [name, part] of [...(one.loaded.parts ?? []), ...(other.loaded.parts ?? [])]) {
    const wasWhole = names.has(name)
    addPart(parts, names, name, part)
    if (!wasWhole && names.has(name)) bins.add(mapped.binOf(name)!)
  }
  return projected(mapped, loadedSet(names, parts), [...bins])
}

/** Reads again what was read in part before, so that one answer holds all of it. */
export function joinedWith(have: Loaded, want: Projection, mapped: MappedClass): Projection {
  if (have?.parts === undefined || want.loaded?.parts === undefined) return want
  const wanted = want.loaded.parts
  const again = [...have.parts].filter(([name, part]) => wanted.has(name) && !isPartCovered(wanted.get(name), part))
  if (again.length === 0) return want
  return bothOf(want, { loaded: loadedSet([], new Map(again)), bins: [] }, mapped)
}

export function covers(have: Loaded, want: Loaded): boolean {
  if (have === undefined) return true
  if (want === undefined || ![...want].every((name) => have.has(name))) return false
  return [...(want.parts ?? [])].every(([name, part]) => have.has(name) || isPartCovered(have.parts?.get(name), part))
}

/** Properties that are wanted and not there yet; undefined when that is not a part but everything. */
export function missingOf(have: LoadedSet, mapped: MappedClass, want: Loaded): ReadonlySet<string> {
  const { properties, relations } = mapped.model
  const names = want ?? [...properties, ...relations].map(({ name }) => name)
  const parts = [...(want?.parts ?? [])].filter(([name, part]) => {
    const known = have.parts?.get(name)
    return known === undefined || (!isPartCovered(known, part) && isPartCovered(part, known))
  })
  return new Set([...names, ...parts.map(([name]) => name)].filter((name) => !have.has(name)))
}

/** Loaded properties once these are added. */
export function loadedWith(have: LoadedSet, missing: ReadonlySet<string>, want: LoadedSet): LoadedSet {
  const parts = new Map(have.parts)
  for (const name of missing) {
    const part = want.parts?.get(name)
    if (part === undefined) parts.delete(name)
    else parts.set(name, part)
  }
  const whole = [...missing].filter((name) => !parts.has(name))
  return loadedSet([...have, ...whole], parts)
}
