import type { EntityClass } from '../model/model.js'
import type { ManyToOneOptions } from '../model/options.js'
import type { CollectionProperty } from '../model/related.js'
import { noteRelation, type Targets } from './note-relation.js'
import type { RefSide } from './relation-check.js'

/**
 * A many-to-one relation. The parent's key is stored in a bin here, and that bin is the owner side. With a list of classes it leads to one of
 * any of them, and the key is stored with its set.
 *
 * @example
 * @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
 * @ManyToOne(() => [Post, Photo]) subject = ref<Post | Photo>()
 */
export function ManyToOne<T extends object, const I extends string & CollectionProperty<T> = never>(
  target: () => EntityClass<T>,
  inverse?: `${I}` | ManyToOneOptions,
  options?: ManyToOneOptions,
): <P extends object, N extends string>(proto: P, property: N & RefSide<P, N, T, I>) => void
export function ManyToOne<C extends EntityClass, const I extends string & CollectionProperty<InstanceType<C>> = never>(
  targets: () => readonly C[],
  inverse?: `${I}` | ManyToOneOptions,
  options?: ManyToOneOptions,
): <P extends object, N extends string>(proto: P, property: N & RefSide<P, N, InstanceType<C>, I>) => void
export function ManyToOne(target: Targets, inverse?: string | ManyToOneOptions, options?: ManyToOneOptions) {
  return (proto: object, property: string): void => noteRelation(proto, property, 'ManyToOne', target, inverse, options)
}
