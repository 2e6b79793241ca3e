import type { NamedBinOptions } from '../model/options.js'
import type { Declared, Expect } from './mistake.js'
import { noteMember } from './note.js'

/**
 * A bin that holds when the entity was last saved.
 *
 * @example
 * @UpdatedAt() updatedAt?: Date
 */
export function UpdatedAt(options: NamedBinOptions = {}) {
  return <P extends object, N extends string>(
    proto: P,
    property: N & Expect<Declared<P, N>, Date, `The @UpdatedAt property ${N} is a Date.`>,
  ): void => noteMember(proto, property, 'UpdatedAt', options)
}
