import type { EntityClass } from '../model/model.js'
import type { ManyToOneOptions } from '../model/options.js'
import type { CollectionProperty } from '../model/related.js'
import { noteRelation } from './note-relation.js'
import type { RefSide } from './relation-check.js'

/**
 * A many-to-one relation. The parent's key is stored in a bin here, and that bin is the owner side.
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
