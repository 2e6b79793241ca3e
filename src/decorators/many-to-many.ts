import type { EntityClass } from '../model/model.js'
import type { ManyToManyOptions, ThroughOptions } from '../model/options.js'
import type { CollectionProperty } from '../model/related.js'
import { noteRelation, type Targets } from './note-relation.js'
import type { CollectionSide, WithAttributes } from './relation-check.js'

/** The property that a relation through link records stands on. */
type LinkedSide<P, N extends string, T extends object, L extends object> = N &
  CollectionSide<P, N, T, never> &
  WithAttributes<P, N, L>

/**
 * A many-to-many relation: an ordered list of keys on each side, or with `attributes` a map from key to the link's
 * own values. When both sides declare it, exactly one says `owner: true`. With a list of classes it leads to some of any of them, and their keys are stored with their sets. With `through`, each link is a record of a class of its own,
 * which has a `@ManyToOne` to each end.
 *
 * @example
 * @ManyToMany(() => Account, 'customers', { owner: true }) accounts = collection<Account>()
 * @ManyToMany(() => [Post, Photo], { attributes: () => Like }) likes = collection<Post | Photo, Like>()
 */
export function ManyToMany<C extends EntityClass, L extends object>(
  target: () => C | readonly C[],
  options: ThroughOptions<L>,
): <P extends object, N extends string>(proto: P, property: LinkedSide<P, N, InstanceType<C>, L>) => void
export function ManyToMany<
  T extends object,
  const I extends string & CollectionProperty<T> = never,
  A extends object = never,
>(
  target: () => EntityClass<T>,
  inverse?: `${I}` | ManyToManyOptions<A>,
  options?: ManyToManyOptions<A>,
): <P extends object, N extends string>(
  proto: P,
  property: N & CollectionSide<P, N, T, I> & WithAttributes<P, N, A>,
) => void
export function ManyToMany<
  C extends EntityClass,
  const I extends string & CollectionProperty<InstanceType<C>> = never,
  A extends object = never,
>(
  targets: () => readonly C[],
  inverse?: `${I}` | ManyToManyOptions<A>,
  options?: ManyToManyOptions<A>,
): <P extends object, N extends string>(
  proto: P,
  property: N & CollectionSide<P, N, InstanceType<C>, I> & WithAttributes<P, N, A>,
) => void
export function ManyToMany(
  target: Targets,
  inverse?: string | ManyToManyOptions | ThroughOptions,
  options?: ManyToManyOptions,
) {
  return (proto: object, property: string): void =>
    noteRelation(proto, property, 'ManyToMany', target, inverse, options)
}
