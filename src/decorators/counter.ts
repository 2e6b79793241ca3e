import type { NamedBinOptions } from '../model/options.js'
import type { Declared, Expect } from './mistake.js'
import { noteMember } from './note.js'

/**
 * An integer bin that is changed by `add` on the server, never by reading and writing back.
 *
 * @example
 * @Counter() views = 0
 */
export function Counter(options: NamedBinOptions = {}) {
  return <P extends object, N extends string>(
    proto: P,
    property: N & Expect<Declared<P, N>, number, `The @Counter property ${N} is a number.`>,
  ): void => noteMember(proto, property, 'Counter', options)
}
