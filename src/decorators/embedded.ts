import type { InnerMapKeyKind } from '../model/bin-type.js'
import type { EntityClass } from '../model/model.js'
import type { EmbeddedOptions, EmbeddedShape } from '../model/options.js'
import type { SpecValue } from '../model/type-spec.js'
import type { Declared, Expect } from './mistake.js'
import { noteMember } from './note.js'

type FitsShape<P, N extends string, T, A, K> = A extends 'array'
  ? Expect<Declared<P, N>, readonly T[], `With as: 'array', ${N} is an array of the embedded class.`>
  : A extends 'map'
    ? Expect<
        Declared<P, N>,
        ReadonlyMap<SpecValue<K>, T>,
        `With as: 'map', ${N} is a Map of the embedded class, with keys of the given type.`
      >
    : Expect<
        Declared<P, N>,
        T,
        `${N} is not one part of the embedded class. For several say { as: 'array' } or { as: 'map' }.`
      >

/**
 * A part (or an array or Map of parts) stored in the record of its parent.
 *
 * @example
 * @Embedded(() => Address) address?: Address
 * @Embedded(() => Address, { as: 'array' }) former: Address[] = []
 */
export function Embedded<
  T extends object,
  const A extends EmbeddedShape = 'one',
  const K extends InnerMapKeyKind = 'string',
>(part: () => EntityClass<T>, options: EmbeddedOptions<A, K> = {}) {
  return <P extends object, N extends string>(proto: P, property: N & FitsShape<P, N, T, A, K>): void =>
    noteMember(proto, property, 'Embedded', options, { target: part })
}
