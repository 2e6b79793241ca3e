import type { Collection } from '../model/related.js'
import type { ShardedOptions } from '../model/options.js'
import type { Declared, Expect } from './mistake.js'
import { noteMember } from './note.js'

/**
 * Spreads a collection over companion records by the hash of the members' keys (a `@OneToMany` stored as `'keyList'` or `'consolidate'`, or a
 * `@ManyToMany`), or a counter, so that many writers can add to it at once. Consolidated
 * children can also be kept by the hour or day of a date of theirs, links by that of a
 * date among their attributes, or of the time at which they are made.
 *
 * @example
 * @Sharded({ by: 'hash', shards: 35 }) @ManyToMany(() => User, 'follows') followers = collection<User>()
 * @Sharded({ by: 'hash', shards: 16 }) @Counter() views = 0
 * @Sharded({ by: 'day', on: 'at', ttl: 30 * 86_400 }) @OneToMany(() => Event, { strategy: 'consolidate' }) events = collection<Event>()
 */
export function Sharded(options: ShardedOptions) {
  return <P extends object, N extends string>(
    proto: P,
    property: N &
      Expect<
        Declared<P, N>,
        Collection<object> | number | bigint,
        `Only a collection or a counter can be sharded; ${N} is neither.`
      >,
  ): void => noteMember(proto, property, 'Sharded', (options as ShardedOptions | undefined) ?? ({} as ShardedOptions))
}
