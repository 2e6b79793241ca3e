import { instantiate, readProperty, writeProperty } from '../../codec/index.js'
import { SkeinError } from '../../errors/index.js'
import type { Collection, Ref, RelationModel } from '../../model/index.js'
import { collection } from '../../relations/collection.js'
import { isCollection, isRef } from '../../relations/contract/member.js'
import { ref } from '../../relations/ref.js'
import { checkValues } from '../context/check-arguments.js'
import { unknownProperty } from '../context/session-errors.js'
import type { MappedClass } from './mapped-class.js'

/** An instance with these values; a relation takes an entity or a key, or a list of them. */
export function newEntity(mapped: MappedClass, values: object): object {
  const { model } = mapped
  checkValues(values, model.name)
  const entity = instantiate(model.class)
  for (const [name, value] of Object.entries(values)) {
    const relation = model.relations.find((each) => each.name === name)
    if (relation !== undefined) relate(entity, relation, value, mapped)
    // A request body may hold a `constructor`, which would hide the class and with it the rules of the entity.
    else if (name in Object.prototype && !model.properties.some((property) => property.name === name))
      throw unknownProperty(mapped, name)
    else writeProperty(entity, name, value)
  }
  return entity
}

function relate(entity: object, relation: RelationModel, value: unknown, mapped: MappedClass): void {
  if (value === undefined) return
  if (isRef(value) || isCollection(value)) return writeProperty(entity, relation.name, value)
  const present = readProperty(entity, relation.name)
  const holder = present ?? (relation.holds === 'ref' ? ref() : collection())
  if (relation.holds === 'ref') (holder as Ref<object>).set(value)
  else if (Array.isArray(value)) (holder as Collection<object>).add(...(value as object[]))
  else throw notAList(mapped, relation)
  if (present === undefined) writeProperty(entity, relation.name, holder)
}

function notAList({ model }: MappedClass, { name, target }: RelationModel): SkeinError {
  return new SkeinError('SKEIN_2321', `create(${model.name}): ${name} takes a list.`, {
    className: model.name,
    property: name,
    fix: `Give a list of ${target} or of their keys.`,
  })
}
