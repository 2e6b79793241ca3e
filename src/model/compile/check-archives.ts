import type { EntityModel } from '../model.js'
import { targetsOf } from '../several.js'
import { checkNamespace } from './check-names.js'
import type { Problems } from './problems.js'

/** Checks that records which are archived leave nothing behind that leads to them, or belongs to them. */
export function checkArchives(entities: ReadonlyMap<string, EntityModel>, problems: Problems): void {
  for (const entity of entities.values()) {
    if (entity.archive === undefined) continue
    checkNamespace(problems, entity.archive, entity.name)
    if (entity.archive === entity.namespace) {
      const message = `Its archive is the namespace '${entity.namespace}' that its records are in.`
      problems.add('SKEIN_1063', { className: entity.name }, message, 'Name another namespace.')
    }
    checkOwn(entity, problems)
    checkOthers(entity, entities, problems)
  }
}

function checkOwn({ name: className, relations, properties }: EntityModel, problems: Problems): void {
  for (const { name: property, strategy, inverse } of relations) {
    if (strategy === 'keyBin' && inverse === undefined) continue
    const message = `A ${className} that is archived would leave the other side of ${property} behind.`
    const fix = 'Use a reference without another side, or @Embedded parts, or leave archive out.'
    problems.add('SKEIN_1063', { className, property }, message, fix)
  }
  for (const { name: property, sharding } of properties) {
    if (sharding === undefined) continue
    const message = `The shards of ${property} would stay when a ${className} is archived.`
    problems.add('SKEIN_1063', { className, property }, message, 'Leave out @Sharded, or archive.')
  }
}

function checkOthers(archived: EntityModel, entities: ReadonlyMap<string, EntityModel>, problems: Problems): void {
  for (const { name: className, relations } of entities.values())
    for (const { name: property, ...relation } of relations) {
      if (!targetsOf(relation).includes(archived.name)) continue
      const message = `It leads to ${archived.name}, whose records may be archived.`
      const fix = `Store the key in a @Bin, and load it with { from: 'any' }; or leave archive out of ${archived.name}.`
      problems.add('SKEIN_1063', { className, property }, message, fix)
    }
}
