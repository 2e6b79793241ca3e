import type { CopyOptions } from '../model/options.js'
import type { Ref } from '../model/related.js'
import type { Declared, Expect } from './mistake.js'
import { noteMember } from './note.js'

/**
 * A property copied from the entity that a `@ManyToOne` leads to: written together with the reference, and read without loading the other
 * entity. It cannot be assigned.
 *
 * @example
 * @Copy((listing: Listing) => listing.agent, 'name') agentName?: string
 */
export function Copy<T extends object, R extends object, const F extends keyof R & string>(
  of: (entity: T) => Ref<R>,
  from: F,
  options: CopyOptions = {},
) {
  return <P extends object, N extends string>(
    proto: P,
    property: N & Expect<NonNullable<R[F]>, Declared<P, N>, `The copy ${N} has another type than ${F}.`>,
  ): void => noteMember(proto, property, 'Copy', { ...options, of: of, from })
}
