import type { KeyInput } from '../model/index.js'
import type { Place } from './place.js'
import { question } from './question.js'
import type { ChildrenAccess, RecordTarget } from './record-target.js'

const ALL = 2 ** 31 - 1

/**
 * Consolidated children of a child that need not be loaded.
 *
 * @example
 * session.at(Post, 1).child('comments', 'c1').collection('replies').add(reply)
 */
export class ChildrenHandle<M extends object> {
  readonly #target: RecordTarget
  readonly #place: Place
  readonly #children: ChildrenAccess

  /** @internal */
  constructor(target: RecordTarget, place: Place, children: ChildrenAccess) {
    this.#target = target
    this.#place = place
    this.#children = children
  }

  /** Adds children as they are now; one with the same id is replaced. */
  add(...members: readonly M[]): void {
    for (const member of members) this.#children.add(member)
  }

  /** Removes children, by their ids or themselves, with what is below them. */
  remove(...members: readonly (M | KeyInput<M>)[]): void {
    for (const member of members) this.#children.remove(member)
  }

  async contains(member: M | KeyInput<M>): Promise<boolean> {
    const [found] = await this.#target.ask(this.#place, [question('mapCountAmong', [this.#children.keyOf(member)])])
    return Number(found ?? 0) > 0
  }

  /** Number of children; only their keys cross the wire. */
  async count(): Promise<number> {
    const [keys] = await this.#target.ask(this.#place, [question('mapKeySlice', 0, ALL)])
    return ((keys ?? []) as readonly string[]).filter((key) => this.#children.isKey(String(key))).length
  }
}
