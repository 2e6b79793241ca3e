import type { Collection, Ref } from '../../model/related.js'

// Global symbols, so that a Ref made by another copy of the package is still a Ref.
export const REF = Symbol.for('skein.ref')
export const COLLECTION = Symbol.for('skein.collection')

export function isRef(value: unknown): value is Ref<object> {
  return typeof value === 'object' && value !== null && REF in value
}

export function isCollection(value: unknown): value is Collection<object> {
  return typeof value === 'object' && value !== null && COLLECTION in value
}
