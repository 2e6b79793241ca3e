import type { EntityClass } from '../model/model.js'
import type { ConsolidateOptions, KeyListOptions, SecondaryIndexOptions } from '../model/options.js'
import type { CollectionProperty, RefPath, RefProperty } from '../model/related.js'
import { noteRelation, type Targets } from './note-relation.js'
import type { CollectionSide } from './relation-check.js'

/** Properties of a child that its order can be made of. */
type SortProperty<T> = Exclude<keyof T & string, RefProperty<T> | CollectionProperty<T>>

/**
 * A one-to-many relation: a list of the children's keys here (`keyList`, the default), the children themselves inside this record
 * (`consolidate`), or nothing here and an index on the child's bin (`secondaryIndex`).
 *
 * @example
 * @OneToMany(() => Listing, 'agent', { strategy: 'keyList', onDelete: 'cascade' }) listings = collection<Listing>()
 * @OneToMany(() => [Post, Photo], { strategy: 'keyList' }) items = collection<Post | Photo>()
 */
export function OneToMany<T extends object, const I extends string & RefProperty<T> = never>(
  target: () => EntityClass<T>,
  inverse?: `${I}` | KeyListOptions | ConsolidateOptions<SortProperty<T>, RefPath<T>>,
  options?: KeyListOptions | SecondaryIndexOptions,
): <P extends object, N extends string>(proto: P, property: N & CollectionSide<P, N, T, I>) => void
export function OneToMany<C extends EntityClass>(
  targets: () => readonly C[],
  options?: KeyListOptions,
): <P extends object, N extends string>(proto: P, property: N & CollectionSide<P, N, InstanceType<C>, never>) => void
export function OneToMany(
  target: Targets,
  inverse?: string | KeyListOptions | ConsolidateOptions,
  options?: KeyListOptions | SecondaryIndexOptions,
) {
  return (proto: object, property: string): void => noteRelation(proto, property, 'OneToMany', target, inverse, options)
}
