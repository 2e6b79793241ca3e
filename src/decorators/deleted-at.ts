import type { NamedBinOptions } from '../model/options.js'
import type { Declared, Expect } from './mistake.js'
import { noteMember } from './note.js'

/**
 * A bin that holds when the entity was deleted: a delete writes it and leaves the record, which loads as gone until it is restored or
 * purged.
 *
 * @example
 * @DeletedAt() deletedAt?: Date
 */
export function DeletedAt(options: NamedBinOptions = {}) {
  return <P extends object, N extends string>(
    proto: P,
    property: N & Expect<Declared<P, N>, Date, `The @DeletedAt property ${N} is a Date.`>,
  ): void => noteMember(proto, property, 'DeletedAt', options)
}
