import type { EntityClass } from '../model/model.js'
import type { ManyToManyOptions } from '../model/options.js'
import type { CollectionProperty } from '../model/related.js'
import { noteRelation } from './note-relation.js'
import type { CollectionSide, WithAttributes } from './relation-check.js'

/**
 * A many-to-many relation: an ordered list of keys on each side, or with `attributes` a map from key to the link's
 * own values. When both sides declare it, exactly one says `owner: true`.
 *
 * @example
 * @ManyToMany(() => Account, 'customers', { owner: true }) accounts = collection<Account>()
 */
export function ManyToMany<
  T extends object,
  const I extends string & CollectionProperty<T> = never,
  A extends object = never,
>(target: () => EntityClass<T>, inverse?: `${I}` | ManyToManyOptions<A>, options?: ManyToManyOptions<A>) {
  return <P extends object, N extends string>(
    proto: P,
    property: N & CollectionSide<P, N, T, I> & WithAttributes<P, N, A>,
  ): void => noteRelation(proto, property, 'ManyToMany', target, inverse, options)
}
