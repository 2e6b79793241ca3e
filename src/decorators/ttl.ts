import type { Declared, Expect } from './mistake.js'
import { noteMember } from './note.js'

/**
 * The seconds a record has left, after a load. Set it before a save to give this one record another time to live. It is not a bin.
 *
 * @example
 * @Ttl() ttl?: number
 */
export function Ttl() {
  return <P extends object, N extends string>(
    proto: P,
    property: N & Expect<Declared<P, N>, number, `The @Ttl property ${N} is a number of seconds.`>,
  ): void => noteMember(proto, property, 'Ttl', {})
}
