import type { NamedBinOptions } from '../model/options.js'
import type { Declared, Expect } from './mistake.js'
import { noteMember } from './note.js'

/**
 * A bin that counts the entity's writes. A save whose version is stale fails with `VersionConflictError`.
 *
 * @example
 * @Version() version?: number
 */
export function Version(options: NamedBinOptions = {}) {
  return <P extends object, N extends string>(
    proto: P,
    property: N & Expect<Declared<P, N>, number, `The @Version property ${N} is a number.`>,
  ): void => noteMember(proto, property, 'Version', options)
}
