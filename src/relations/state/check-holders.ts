import { readProperty } from '../../codec/index.js'
import { SkeinError } from '../../errors/index.js'
import { describeKey } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import type { Tracked } from '../contract/tracked.js'
import type { Reader } from '../contract/reader.js'
import { isEntity, isCollection, isRef, type Member } from '../contract/member.js'
import { wrongClass } from '../contract/relation-errors.js'
import { collectionStateOf, refStateOf } from './state-of.js'
import type { RelationStrategy } from '../contract/relation-strategy.js'

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

/** Refuses entities of another class than the relation's: their keys would be stored as if they were the target's. */
export function checkMembers(owner: Tracked, strategies: readonly RelationStrategy[], reader: Reader): void {
  for (const { model: relation, keyOf } of strategies) {
    // Parts are checked when they are stored.
    if (keyOf !== undefined) continue
    const related = readProperty(owner.entity, relation.name) as object
    const members: Iterable<Member | null> =
      relation.holds === 'ref' ? [refStateOf(related).target] : collectionStateOf(related).added
    for (const member of members) {
      if (isEntity(member) && !(member instanceof reader.entityModel(relation.target).class))
        throw wrongClass(owner, relation, member)
    }
  }
}
