import type { Collection, CollectionProperty, KeyInput } from '../model/index.js'
import { ChildrenHandle } from './children-handle.js'
import { MapHandle } from './map-handle.js'

/** The class of the members of a collection. */
export type MemberOf<C> = NonNullable<C> extends Collection<infer M> ? M : never

/**
 * A consolidated child that need not be loaded, at any level below its record.
 *
 * @example
 * session.at(Post, 1).child('comments', 'c1').child('replies', 'r1').increment('likes')
 */
export class ChildHandle<T> extends MapHandle<T> {
  /** A child of this child by its id. */
  child<N extends CollectionProperty<T> & keyof T>(name: N, id: KeyInput<MemberOf<T[N]>>): ChildHandle<MemberOf<T[N]>> {
    const { target, place } = this.target.child(name as string, id)
    return new ChildHandle(target, place)
  }

  /**
   * The children of this child, which can be added and removed without loading it.
   *
   * @example
   * session.at(Post, 1).child('comments', 'c1').collection('replies').remove('r1')
   */
  collection<N extends CollectionProperty<T> & keyof T>(name: N): ChildrenHandle<MemberOf<T[N]>> {
    return new ChildrenHandle(this.target, this.place, this.target.children(name as string))
  }
}
