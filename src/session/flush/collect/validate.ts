import { validateEntity, validatePart } from '../../../codec/index.js'
import { ValidationFailedError, type ValidationFailure } from '../../../errors/index.js'
import { describeKey } from '../../../keys/index.js'
import type { Model } from '../../../model/index.js'
import type { ManagedEntity } from '../../tracking/managed-entity.js'

/** Checks the rules of everything that is about to be saved; all failures are reported together. */
export function validateAll(members: Iterable<ManagedEntity>, parts: Model): void {
  const failures: ValidationFailure[] = []
  const checked = new Set<object>()
  for (const managed of members) {
    if (mayHaveRules(managed)) failures.push(...entityFailures(managed, parts))
    if (managed.mapped.relations.length > 0) failures.push(...partFailures(managed, checked, parts))
  }
  if (failures.length === 0) return
  const [first] = failures
  const lines = failures.map(describeFailure)
  const count = failures.length === 1 ? 'A value does' : `${failures.length} values do`
  throw new ValidationFailedError([`${count} not satisfy the rules; nothing was sent.`, ...lines].join('\n'), {
    failures,
    className: first.className,
    property: first.property,
    key: first.key,
  })
}

function describeFailure({ className, property, key, message }: ValidationFailure): string {
  return `  ${className}.${property}${key === undefined ? '' : ` of ${describeKey(key)}`}: ${message}`
}

/** False where it is plain that the class has no rules. */
function mayHaveRules({ entity, mapped, model }: ManagedEntity): boolean {
  return mapped.hasRules || Object.getPrototypeOf(entity) !== model.class.prototype
}

function entityFailures(managed: ManagedEntity, parts: Model): ValidationFailure[] {
  const found = validateEntity(managed.entity, managed.model, parts, managed.loaded)
  return found.filter((failure) => !isStamped(managed, failure))
}

// Version and times are set when the write is confirmed, so a new entity need not have them yet.
function isStamped({ model }: ManagedEntity, { property }: ValidationFailure): boolean {
  return property === model.version || property === model.createdAt || property === model.updatedAt
}

/** Failures of children and link attributes that are sent inside the record; both ends of a link share its attributes. */
function partFailures(managed: ManagedEntity, checked: Set<object>, model: Model): ValidationFailure[] {
  const { mapped, home } = managed
  const failures: ValidationFailure[] = []
  for (const { relation, parts } of mapped.relations) {
    if (parts === undefined) continue
    for (const { key: rootKey, part, below } of parts.changed(managed)) {
      if (checked.has(part)) continue
      checked.add(part)
      const partKey = below?.id ?? rootKey
      const place = `${relation}[${rootKey === null ? 'no key' : describeKey(rootKey)}]${below?.path ?? ''}`
      for (const { property, ...failure } of validatePart(part, below?.class ?? parts.class, model)) {
        const key = mapped.codec.key.scheme.fromStored(managed.key.key, home.tenant)
        const about = { className: managed.model.name, key, ...(partKey === null ? {} : { partKey }) }
        failures.push({ ...about, ...failure, property: `${place}.${property}` })
      }
    }
  }
  return failures
}
