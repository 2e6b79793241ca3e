import { validateEntity } from '../codec/index.js'
import { ValidationFailedError, type ValidationFailure } from '../errors/index.js'
import type { Managed } from './managed.js'

/** Checks the rules of everything that is about to be saved; all failures are reported together. */
export function validateAll(members: Iterable<Managed>): void {
  const failures: ValidationFailure[] = []
  for (const managed of members) failures.push(...failuresOf(managed))
  if (failures.length === 0) return
  const [first] = failures
  const lines = failures.map(({ className, property, message }) => `  ${className}.${property}: ${message}`)
  const count = failures.length === 1 ? 'A value does' : `${failures.length} values do`
  throw new ValidationFailedError([`${count} not satisfy the rules; nothing was sent.`, ...lines].join('\n'), {
    failures,
    className: first.className,
    property: first.property,
    key: first.key,
  })
}

// Version and times are set when the write is confirmed, so a new entity need not have them yet.
function failuresOf({ entity, model, loaded }: Managed): readonly ValidationFailure[] {
  const stamped = new Set<string | undefined>([model.version, model.createdAt, model.updatedAt])
  return validateEntity(entity, model, loaded).filter(({ property }) => !stamped.has(property))
}
