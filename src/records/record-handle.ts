import { readProperty } from '../codec/index.js'
import type { CollectionProperty, KeyInput, PropertyModel } from '../model/index.js'
import { ChildHandle, type MemberOf } from './child-handle.js'
import { CounterHandle } from './counter-handle.js'
import { wrongHandle } from './handle-errors.js'
import type { CounterName, ItemOf, ListName, MapName, SetName } from './handle-types.js'
import { ListHandle } from './list-handle.js'
import { MapHandle } from './map-handle.js'
import { placeOf, shapeOf, type Place, type Shape } from './place.js'
import type { RecordTarget } from './record-target.js'
import { SetHandle } from './set-handle.js'

/**
 * A record that need not be loaded, made by `session.at`. Its counters, lists, sets, maps and collections can be asked and changed;
 * all changes of one record are one command of the next flush, in the order they were made.
 *
 * @example
 * const user = session.at(User, 'alice')
 * user.list('log').append('signed in')
 * user.counter('logins').add(1)
 * await session.flush()
 */
export class RecordHandle<T extends object> {
  readonly #target: RecordTarget

  /** @internal */
  constructor(target: RecordTarget) {
    this.#target = target
  }

  /** A `@Counter` of the record. */
  counter<N extends CounterName<T>>(name: N): CounterHandle {
    const property = this.#property(name as string)
    if (property?.role === 'counter') return new CounterHandle(this.#target, property)
    const fix =
      property?.role === 'countOf' ? 'Its collection keeps it: load it to read it.' : 'Declare it with @Counter().'
    throw wrongHandle(this.#target, name, 'a counter', fix)
  }

  /** An array of the record. */
  list<N extends ListName<T> & keyof T>(name: N): ListHandle<ItemOf<T[N]>> {
    return new ListHandle(this.#target, this.#place(name as string, 'list', `{ list: … }`))
  }

  /** A Set of the record. */
  set<N extends SetName<T> & keyof T>(name: N): SetHandle<ItemOf<T[N]>> {
    return new SetHandle(this.#target, this.#place(name as string, 'set', `{ set: … }`))
  }

  /** A Map, an embedded part or a JSON object of the record. */
  map<N extends MapName<T> & keyof T>(name: N): MapHandle<T[N]> {
    return new MapHandle(this.#target, this.#place(name as string, 'map', `{ map: … }`))
  }

  /** A collection of the entity, as `load` would give it, without loading the entity. */
  collection<N extends CollectionProperty<T> & keyof T>(name: N): T[N] {
    return readProperty(this.#target.withCollection(name as string), name as string) as T[N]
  }

  /**
   * A consolidated child by its id, which need not be loaded: its fields can be asked and changed, and numbers in it incremented.
   *
   * @example
   * session.at(Post, 1).child('comments', 'c1').increment('likes')
   */
  child<N extends CollectionProperty<T> & keyof T>(name: N, id: KeyInput<MemberOf<T[N]>>): ChildHandle<MemberOf<T[N]>> {
    const { target, place } = this.#target.child(name as string, id)
    return new ChildHandle(target, place)
  }

  #place(name: string, shape: Shape, type: string): Place {
    const property = this.#property(name)
    if (property !== undefined && property.role === 'plain' && shapeOf(property.type) === shape)
      return placeOf(property)
    const isSpread = property?.type.kind === 'embedded' && property.type.shape === 'bins'
    const fix = isSpread ? `Use layout: 'map' for it.` : `Declare it with type: ${type}.`
    throw wrongHandle(this.#target, name, `a stored ${shape}`, fix)
  }

  #property(name: string): PropertyModel | undefined {
    for (const property of this.#target.model.properties) if (property.name === name) return property
    return undefined
  }
}
