import type { NamedBinOptions } from '../model/options.js'
import type { Declared, Expect } from './mistake.js'
import { noteMember } from './note.js'

/**
 * A bin that holds when the entity was first saved.
 *
 * @example
 * @CreatedAt() createdAt?: Date
 */
export function CreatedAt(options: NamedBinOptions = {}) {
  return <P extends object, N extends string>(
    proto: P,
    property: N & Expect<Declared<P, N>, Date, `The @CreatedAt property ${N} is a Date.`>,
  ): void => noteMember(proto, property, 'CreatedAt', options)
}
