import { readProperty } from '../../codec/index.js'
import { SkeinError } from '../../errors/index.js'
import { describeKey } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import { isCollection, isRef } from '../contract/relation-marker.js'

/** Refuses an entity whose Ref or Collection was replaced by an assignment: what it held before could not be told from what is wanted now. */
export function checkHolders(entity: object, model: EntityModel): void {
  for (const relation of model.relations) {
    const holder = readProperty(entity, relation.name)
    if (relation.holds === 'ref' ? !isRef(holder) : !isCollection(holder)) throw assigned(entity, model, relation)
  }
}

/** Checks a new entity, whose missing Refs and Collections are made only now. */
export function checkNewHolders(entity: object, model: EntityModel): void {
  for (const relation of model.relations) {
    const holder = readProperty(entity, relation.name)
    if (holder === undefined) continue
    if (relation.holds === 'ref' ? !isRef(holder) : !isCollection(holder)) throw assigned(entity, model, relation)
  }
}

function assigned(entity: object, model: EntityModel, { name, holds, target }: RelationModel): SkeinError {
  const [key] = model.key.properties.map((property) => readProperty(entity, property))
  const isKey = typeof key === 'string' || typeof key === 'number' || typeof key === 'bigint'
  const of = isKey ? ` of ${describeKey(key)}` : ''
  const variable = model.name.charAt(0).toLowerCase() + model.name.slice(1)
  const [holder, fix] =
    holds === 'ref'
      ? ['Ref', `Write ${variable}.${name}.set(…) with a ${target}, its key or null.`]
      : [
          'Collection',
          `Write ${variable}.${name}.add(…) and ${variable}.${name}.remove(…) with a ${target} or its key.`,
        ]
  return new SkeinError('SKEIN_2411', `${model.name}.${name}${of} was assigned, and its ${holder} with it replaced.`, {
    className: model.name,
    property: name,
    key: isKey ? key : undefined,
    fix,
  })
}
