import type { Declared, Expect } from './mistake.js'
import { noteMember } from './note.js'

/**
 * Shows the record's own generation after a load or save. It is not a bin and is never written; to guard against lost updates use `@Version`.
 *
 * @example
 * @Generation() generation?: number
 */
export function Generation() {
  return <P extends object, N extends string>(
    proto: P,
    property: N & Expect<Declared<P, N>, number, `The @Generation property ${N} is a number.`>,
  ): void => noteMember(proto, property, 'Generation', {})
}
