import { kindsOf } from '../kinds-of.js'
import type { EntityModel } from '../model.js'
import { targetsOf } from '../several.js'
import type { Problems } from './problems.js'

/** Checks that whatever a soft delete takes along can be restored, and that all classes of a set agree on the bin. */
export function checkSoftDeletes(entities: ReadonlyMap<string, EntityModel>, problems: Problems): void {
  for (const entity of entities.values()) {
    checkFamily(entity, entities, problems)
    if (entity.deletedAt !== undefined) checkCascades(entity, entities, problems)
  }
}

function checkFamily(
  { name, base, deletedAt }: EntityModel,
  entities: ReadonlyMap<string, EntityModel>,
  problems: Problems,
): void {
  const above = base === undefined ? undefined : entities.get(base)
  if (above === undefined || above.deletedAt === deletedAt) return
  const message = `Its base class ${above.name}, which is stored in the same set, has no @DeletedAt.`
  problems.add('SKEIN_1060', { className: name, property: deletedAt }, message, `Put @DeletedAt on ${above.name}.`)
}

function checkCascades(
  { name: className, relations }: EntityModel,
  entities: ReadonlyMap<string, EntityModel>,
  problems: Problems,
): void {
  for (const { name: property, onDelete, ...relation } of relations) {
    const related = onDelete === 'cascade' ? targetsOf(relation).flatMap((target) => entities.get(target) ?? []) : []
    const kinds = related.flatMap(kindsOf).flatMap((kind) => entities.get(kind) ?? [])
    const lost = kinds.find(({ deletedAt }) => deletedAt === undefined)
    if (lost === undefined) continue
    const message = `Deleting ${className} leaves its record, but would delete each ${lost.name} for good.`
    const fix = `Put @DeletedAt on ${lost.name}, or use onDelete: 'detach' or 'restrict'.`
    problems.add('SKEIN_1060', { className, property }, message, fix)
  }
}
