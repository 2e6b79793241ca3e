import type { KeyKind } from '../model/key-model.js'
import type { KeyOptions } from '../model/options.js'
import type { SpecValue } from '../model/type-spec.js'
import type { Declared, Expect } from './mistake.js'
import { noteMember } from './note.js'

/**
 * The property that is the record's key. A number is an integer key; with `generate`, new entities get one.
 *
 * @example
 * @Key({ generate: 'uuid' }) id!: string
 */
export function Key<const K extends KeyKind = KeyKind>(options: KeyOptions<K> = {}) {
  return <P extends object, N extends string>(
    proto: P,
    property: N &
      Expect<
        Declared<P, N>,
        SpecValue<K>,
        `A key is a string, a number, a bigint or a Uint8Array, as its type says; ${N} is something else.`
      >,
  ): void => noteMember(proto, property, 'Key', options)
}
