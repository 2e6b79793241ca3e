import type { Collection } from '../model/related.js'
import type { ShardedOptions } from '../model/options.js'
import type { Declared, Expect } from './mistake.js'
import { noteMember } from './note.js'

/**
 * Not built yet: `open` refuses it (SKEIN_1055).
 *
 * Spreads a collection (or a counter) over companion records: by the hash of the member's key, or by the hour or day of one of its dates.
 *
 * @example
 * @Sharded({ by: 'hash', shards: 8 }) @OneToMany(() => Reading, { strategy: 'consolidate' }) readings = collection<Reading>()
 */
export function Sharded(options: ShardedOptions) {
  return <P extends object, N extends string>(
    proto: P,
    property: N &
      Expect<
        Declared<P, N>,
        Collection<object> | number,
        `Only a collection or a counter can be sharded; ${N} is neither.`
      >,
  ): void => noteMember(proto, property, 'Sharded', options)
}
