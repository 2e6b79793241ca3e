import { validateEntity } from '../codec/index.js'
import { ValidationFailedError, type ValidationFailure } from '../errors/index.js'
import type { Managed } from './managed.js'

/** Checks the rules of everything that is about to be saved; all failures are reported together. */
export function validateAll(members: Iterable<Managed>): void {
  let failures: ValidationFailure[] | undefined
  for (const managed of members) {
    const found = validateEntity(managed.entity, managed.model, managed.loaded)
    if (found.length > 0) (failures ??= []).push(...found.filter((failure) => !isStamped(managed, failure)))
  }
  if (failures === undefined || failures.length === 0) return
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
function isStamped({ model }: Managed, { property }: ValidationFailure): boolean {
  return property === model.version || property === model.createdAt || property === model.updatedAt
}
