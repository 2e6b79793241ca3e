import { getMetadataStorage, validateSync, type ValidationError } from 'class-validator'
import type { ValidationFailure } from '../errors/index.js'
import type { KeyValue } from '../keys/index.js'
import type { EntityClass, EntityModel } from '../model/index.js'
import { classOf, readProperty } from './own-property.js'
import type { Loaded } from './property-codec.js'

const rulesKnown = new WeakMap<object, boolean>()

/** Failures of class-validator's rules for the loaded properties of an entity; empty when all is well. */
export function validateEntity(entity: object, model: EntityModel, loaded?: Loaded): readonly ValidationFailure[] {
  if (!hasRules(classOf(entity))) return []
  const errors = validateSync(entity, { forbidUnknownValues: false })
  const relevant = loaded === undefined ? errors : errors.filter(({ property }) => loaded.has(property))
  const about = { className: model.name, key: shownKey(entity, model) }
  return relevant.flatMap((error) => failuresOf(error, '')).map((failure) => ({ ...about, ...failure }))
}

/** Failures of the rules of a part; `partClass` has the rules where people gave a plain object. */
export function validatePart(part: object, partClass: EntityClass): readonly Failure[] {
  if (!hasRules(partClass)) return []
  const subject =
    part instanceof partClass ? part : Object.assign(Object.create(partClass.prototype as object) as object, part)
  const errors = validateSync(subject, { forbidUnknownValues: false })
  return errors.flatMap((error) => failuresOf(error, ''))
}

// Asked once for each class: decorators have run before the first instance exists.
export function hasRules(entityClass: EntityClass): boolean {
  const known = rulesKnown.get(entityClass)
  if (known !== undefined) return known
  const found = getMetadataStorage().getTargetValidationMetadatas(entityClass, '', false, false).length > 0
  rulesKnown.set(entityClass, found)
  return found
}

type Failure = Pick<ValidationFailure, 'property' | 'constraint' | 'message'>

function failuresOf({ property, constraints, children }: ValidationError, prefix: string): readonly Failure[] {
  const path = prefix + property
  const own = Object.entries(constraints ?? {}).map(([constraint, message]) => ({
    property: path,
    constraint,
    message,
  }))
  return [...own, ...(children ?? []).flatMap((child) => failuresOf(child, `${path}.`))]
}

function shownKey(entity: object, model: EntityModel): KeyValue | undefined {
  const value = model.key.properties.length === 1 ? readProperty(entity, model.key.properties[0]) : undefined
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' ? value : undefined
}
