import { getMetadataStorage, validateSync, type ValidationError } from 'class-validator'
import type { ValidationFailure } from '../errors/index.js'
import type { KeyValue } from '../keys/index.js'
import type { EmbeddableModel, EntityClass, EntityModel, Model } from '../model/index.js'
import { classOf, readProperty } from './own-property.js'
import type { Loaded } from './property-codec.js'
import { hiddenClasses, ruleSubject } from './rule-subject.js'

const rulesKnown = new WeakMap<object, boolean>()

/** Failures of class-validator's rules for the loaded properties of an entity; empty when all is well. */
export function validateEntity(
  entity: object,
  model: EntityModel,
  parts: Model,
  loaded?: Loaded,
): readonly ValidationFailure[] {
  const failures = failuresOfRules(entity, classOf(entity), model, parts, loaded)
  if (failures.length === 0) return failures
  const about = { className: model.name, key: shownKey(entity, model) }
  return failures.map((failure) => ({ ...about, ...failure }))
}

/** Failures of the rules of a part; its mapped class has the rules where people gave a plain object. */
export function validatePart(part: object, partClass: EntityClass, parts: Model): readonly Failure[] {
  return failuresOfRules(part, partClass, parts.embeddable(partClass), parts)
}

function failuresOfRules(
  instance: object,
  itsClass: EntityClass,
  model: EntityModel | EmbeddableModel,
  parts: Model,
  loaded?: Loaded,
): readonly Failure[] {
  if (!hasRules(itsClass)) return []
  const errors = validateSync(ruleSubject(instance, itsClass, model, parts), { forbidUnknownValues: false })
  const relevant = loaded === undefined ? errors : errors.filter(({ property }) => loaded.has(property))
  return [...relevant.flatMap((error) => failuresOf(error, '')), ...hiddenClasses(instance, model, parts).map(hides)]
}

const hides = (property: string): Failure => ({
  property,
  constraint: 'isMappedClass',
  message: 'a property called constructor hides the class and its rules: leave it out',
})

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
