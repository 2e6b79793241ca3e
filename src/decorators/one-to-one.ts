import type { EntityClass } from '../model/model.js'
import type { OneToOneOptions } from '../model/options.js'
import type { RefProperty } from '../model/related.js'
import { noteRelation } from './note-relation.js'
import type { RefSide } from './relation-check.js'

/**
 * A one-to-one relation: by key bin (the default), or under the same key in another set (`sharedKey`).
 * When both sides declare it, exactly one says `owner: true`.
 *
 * @example
 * @OneToOne(() => Avatar, 'profile', { strategy: 'sharedKey', owner: true }) avatar = ref<Avatar>()
 */
export function OneToOne<T extends object, const I extends string & RefProperty<T> = never>(
  target: () => EntityClass<T>,
  inverse?: `${I}` | OneToOneOptions,
  options?: OneToOneOptions,
) {
  return <P extends object, N extends string>(proto: P, property: N & RefSide<P, N, T, I>): void =>
    noteRelation(proto, property, 'OneToOne', target, inverse, options)
}
