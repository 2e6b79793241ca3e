import type { CompanionOptions } from '../model/options.js'
import type { Collection } from '../model/related.js'
import type { Declared, Expect } from './mistake.js'
import { noteMember } from './note.js'

/**
 * Keeps the members of a collection in a record of their own, beside the owner's, so that neither a large list nor its writers slow the
 * owner's record down. For a `@OneToMany` stored as `'keyList'` or `'consolidate'`, and for `@ManyToMany`.
 *
 * @example
 * @Companion() @ManyToMany(() => User, 'followers', { owner: true }) follows = collection<User>()
 */
export function Companion(options: CompanionOptions = {}) {
  return <P extends object, N extends string>(
    proto: P,
    property: N &
      Expect<Declared<P, N>, Collection<object>, `Only a collection can have a companion; ${N} is not one.`>,
  ): void => noteMember(proto, property, 'Companion', options)
}
