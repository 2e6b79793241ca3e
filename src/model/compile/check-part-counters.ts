import type { BinType } from '../bin-type.js'
import type { EmbeddableModel, EntityModel } from '../model.js'
import type { Place, Problems } from './problems.js'

type Parts = ReadonlyMap<string, EmbeddableModel>

/** A counter in a part is a nested increment, for which the part must have an address of its own in the record. */
export function checkPartCounters(entities: Iterable<EntityModel>, parts: Parts, problems: Problems): void {
  for (const model of [...entities, ...parts.values()]) {
    const { name: className, properties, relations } = model
    for (const { name: property, type } of properties)
      check({ className, property }, listedPart(type), 'is stored in a list', parts, problems)
    const { layout } = model as Partial<EmbeddableModel>
    for (const { name: property, role } of layout === 'tuple' ? properties : []) {
      if (role !== 'counter') continue
      const message = `${className}.${property} is a counter, and ${className} is stored as a tuple, which is changed as a whole.`
      problems.add('SKEIN_1026', { className, property }, message, "Leave out layout: 'tuple', or make it a @Bin.")
    }
    for (const { name: property, attributes, sortKey, target } of relations) {
      check({ className, property }, attributes, 'is stored with a link, on both sides', parts, problems)
      const counter = sortKey?.find((name) => roleOf(parts.get(target), name) === 'counter')
      if (counter === undefined) continue
      const message = `sortKey names the counter ${counter}, which changes in the record without moving the child.`
      problems.add('SKEIN_1049', { className, property }, message, 'Sort by another property, or make it a @Bin.')
    }
  }
}

function check(place: Place, part: string | undefined, where: string, parts: Parts, problems: Problems): void {
  const counter = part === undefined ? undefined : counterIn(part, parts, new Set())
  if (counter === undefined) return
  const message = `${counter} is a counter, and ${part} ${where}, where it cannot be incremented by itself.`
  problems.add('SKEIN_1026', place, message, "Store the parts with as: 'map', or make the counter a @Bin.")
}

const roleOf = (part: EmbeddableModel | undefined, name: string): string | undefined =>
  part?.properties.find((property) => property.name === name)?.role

/** The part that a list holds, at any depth of lists and maps. */
function listedPart(type: BinType): string | undefined {
  if (type.kind === 'embedded') return type.shape === 'array' ? type.part : undefined
  return type.kind === 'map' ? listedPart(type.value) : undefined
}

function counterIn(name: string, parts: Parts, seen: Set<string>): string | undefined {
  if (seen.has(name)) return undefined
  seen.add(name)
  for (const { role, name: property, type } of parts.get(name)?.properties ?? []) {
    if (role === 'counter') return `${name}.${property}`
    const inner = type.kind === 'embedded' ? counterIn(type.part, parts, seen) : undefined
    if (inner !== undefined) return inner
  }
  return undefined
}
