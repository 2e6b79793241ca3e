import type { CollectionProperty } from '../model/related.js'
import type { NamedBinOptions } from '../model/options.js'
import type { Declared, Expect, Mistake } from './mistake.js'
import { noteMember } from './note.js'

/**
 * Number of members of a collection, kept in a bin beside it: a page shows it without reading the collection. The server counts, in
 * the command that changes the collection. With `@Sharded`, the count of a collection in companions is spread over companions of its own.
 *
 * @example
 * @CountOf('followers') followerCount = 0
 */
export function CountOf<R extends string>(relation: R, options: NamedBinOptions = {}) {
  return <P extends object, N extends string>(
    proto: P,
    property: N &
      Expect<Declared<P, N>, number, `The @CountOf property ${N} is a number.`> &
      (R extends CollectionProperty<P>
        ? unknown
        : Mistake<`@CountOf names a collection of the same class; ${R} is none.`>),
  ): void => noteMember(proto, property, 'CountOf', { ...options, of: relation })
}
