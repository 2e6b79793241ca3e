import type { BinOptions } from '../model/options.js'
import type { SpecValue, TypeSpec } from '../model/type-spec.js'
import type { Declared, Expect } from './mistake.js'
import { noteMember } from './note.js'

type FitsType<P, N extends string, S> = [S] extends [never]
  ? unknown
  : Expect<Declared<P, N>, SpecValue<S>, `The type given to @Bin is not the type of the property ${N}.`>

/**
 * A property stored in a bin.
 *
 * @example
 * @Bin() city!: string
 * @Bin({ name: 'px', type: 'double' }) price!: number
 * @Bin({ type: { list: 'string' } }) tags: string[] = []
 */
export function Bin<const S extends TypeSpec = never>(options: BinOptions<S> = {}) {
  return <P extends object, N extends string>(proto: P, property: N & FitsType<P, N, S>): void =>
    noteMember(proto, property, 'Bin', options)
}
