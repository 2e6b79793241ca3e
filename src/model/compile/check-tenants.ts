import type { BinType } from '../bin-type.js'
import type { EmbeddableModel, EntityModel } from '../model.js'
import { targetsOf } from '../several.js'
import type { Problems } from './problems.js'

/**
 * Refuses relations of a class that all tenants share to one that belongs to tenants: each tenant would meet keys of the others in its
 * record, and no tenant could delete it without the others' members.
 */
export function checkTenants(
  entities: ReadonlyMap<string, EntityModel>,
  parts: ReadonlyMap<string, EmbeddableModel>,
  problems: Problems,
): void {
  for (const entity of entities.values()) {
    if (isOfTenants(entity, entities)) continue
    for (const { property, target } of relationsIn(entity, parts)) {
      const related = entities.get(target)
      if (related === undefined || !isOfTenants(related, entities)) continue
      const message = `${entity.name} is shared by all tenants, and ${target} belongs to tenants: their keys would meet here.`
      const fix = `Declare ${entity.name} with tenant: true, too, or only ${target} with a reference to ${entity.name} that has no other side.`
      problems.add('SKEIN_1054', { className: entity.name, property }, message, fix)
    }
  }
}

/** By its own key, or because the key of a record of tenants is part of its own. */
function isOfTenants(
  { key, relations }: EntityModel,
  entities: ReadonlyMap<string, EntityModel>,
  seen: readonly string[] = [],
): boolean {
  if (key.tenant) return true
  return relations
    .filter(({ name }) => key.properties.includes(name))
    .flatMap(targetsOf)
    .some((target) => {
      const related = seen.includes(target) ? undefined : entities.get(target)
      return related !== undefined && isOfTenants(related, entities, [...seen, target])
    })
}

/** Relations of the class, and those of the parts in its record under the property that holds the parts. */
function* relationsIn(
  { properties, relations }: EntityModel | EmbeddableModel,
  parts: ReadonlyMap<string, EmbeddableModel>,
  seen = new Set<string>(),
): Iterable<{ readonly property: string; readonly target: string }> {
  for (const { name, ...relation } of relations)
    for (const target of targetsOf(relation)) {
      yield { property: name, target }
      yield* relationsOfPart(name, target, parts, seen)
    }
  for (const { name, type } of properties) yield* relationsOfPart(name, partIn(type), parts, seen)
}

function* relationsOfPart(
  property: string,
  partName: string | undefined,
  parts: ReadonlyMap<string, EmbeddableModel>,
  seen: Set<string>,
): Iterable<{ readonly property: string; readonly target: string }> {
  const part = partName === undefined ? undefined : parts.get(partName)
  if (part === undefined || seen.has(part.name)) return
  seen.add(part.name)
  for (const { target } of relationsIn(part, parts, seen)) yield { property, target }
}

function partIn(type: BinType): string | undefined {
  switch (type.kind) {
    case 'embedded':
      return type.part
    case 'list':
    case 'set':
      return partIn(type.item)
    case 'map':
      return partIn(type.value)
    default:
      return undefined
  }
}
