import type { EntityClass } from '../model/model.js'
import type { ManyToOneOptions } from '../model/options.js'
import type { CollectionProperty } from '../model/related.js'
import { noteRelation } from './note-relation.js'
import type { RefSide } from './relation-check.js'

/**
 * Many of these belong to one of those. The other's key is stored in a bin here, and that is the truth of the relation.
 *
 * @example
 * @ManyToOne(() => Agent, 'listings') agent = ref<Agent>()
 */
export function ManyToOne<T extends object, const I extends string & CollectionProperty<T> = never>(
  target: () => EntityClass<T>,
  inverse?: `${I}` | ManyToOneOptions,
  options?: ManyToOneOptions,
) {
  return <P extends object, N extends string>(proto: P, property: N & RefSide<P, N, T, I>): void =>
    noteRelation(proto, property, 'ManyToOne', target, inverse, options)
}
