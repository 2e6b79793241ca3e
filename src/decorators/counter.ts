import type { CounterOptions } from '../model/options.js'
import type { Declared, Expect } from './mistake.js'
import { noteMember } from './note.js'

type Count<O> = O extends { readonly type: 'bigint' }
  ? bigint
  : O extends { readonly type: 'int' }
    ? number
    : number | bigint

/**
 * An integer bin that is changed by `add` on the server, never by reading and writing back; `bigint` where it may pass 2^53.
 *
 * @example
 * @Counter() views = 0
 */
export function Counter<const O extends CounterOptions = object>(options?: O) {
  return <P extends object, N extends string>(
    proto: P,
    property: N &
      Expect<Declared<P, N>, Count<O>, `The @Counter property ${N} is a number or a bigint, as its type says.`>,
  ): void => noteMember(proto, property, 'Counter', options ?? {})
}
