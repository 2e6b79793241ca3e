import type { KeyValue } from '../../keys/index.js'
import type { Collection, Ref } from '../../model/related.js'

/** The other end of a link: an entity, or the key of one that is not at hand. */
export type Member = object | KeyValue

export function isEntity(member: Member | null | undefined): member is object {
  return typeof member === 'object' && member !== null && !(member instanceof Uint8Array)
}

// Global symbols, so that a Ref made by another copy of the package is still a Ref.
export const REF = Symbol.for('skein.ref')
export const COLLECTION = Symbol.for('skein.collection')

export function isRef(value: unknown): value is Ref<object> {
  return typeof value === 'object' && value !== null && REF in value
}

export function isCollection(value: unknown): value is Collection<object> {
  return typeof value === 'object' && value !== null && COLLECTION in value
}
