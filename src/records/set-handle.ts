import { isDeepStrictEqual } from 'node:util'
import type { BinType } from '../model/index.js'
import { listAppendUnique, listClear, listRemoveValues } from '../plan/operations.js'
import { itemType } from './place.js'
import { ALL, PlaceHandle, type Slice } from './place-handle.js'
import { question } from './question.js'

/**
 * A Set of a record that need not be loaded.
 *
 * @example
 * session.at(User, 'alice').set('tags').add('hot')
 */
export class SetHandle<V> extends PlaceHandle {
  get #item(): BinType {
    return itemType(this.place.type)
  }

  add(...members: readonly V[]): void {
    if (members.length === 0) return
    const { bin, path } = this.place
    const stored = members.map((member) => this.encodeMember(this.#item, member))
    this.record(listAppendUnique(bin, stored, path), (set) =>
      members.forEach((member) => {
        if (memberOf(set as Set<V>, member) === undefined) (set as Set<V>).add(member)
      }),
    )
  }

  remove(...members: readonly V[]): void {
    if (members.length === 0) return
    const { bin, path } = this.place
    const stored = members.map((member) => this.encodeMember(this.#item, member))
    this.record(listRemoveValues(bin, stored, 'none', path), (set) =>
      members.forEach((member) => (set as Set<V>).delete(memberOf(set as Set<V>, member) ?? member)),
    )
  }

  clear(): void {
    this.record(listClear(this.place.bin, this.place.path), (set) => (set as Set<V>).clear())
  }

  size(): Promise<number> {
    return this.askNumber(question('listSize'))
  }

  async has(member: V): Promise<boolean> {
    return (await this.askNumber(question('listCountOf', this.encode(this.#item, member)))) > 0
  }

  /** Members in value order; all of them unless a count is given. */
  async members(slice: Partial<Slice> = {}): Promise<V[]> {
    const { offset, count } = this.slice(slice, ALL)
    const [items] = await this.ask(question('listRankSlice', offset, count))
    return this.decodeSorted(this.#item, items) as V[]
  }
}

/** The member that equals this one; dates, bytes and tuples are equal by what they hold. */
function memberOf<V>(set: ReadonlySet<V>, member: V): V | undefined {
  if (typeof member !== 'object' || member === null) return set.has(member) ? member : undefined
  for (const each of set) if (isDeepStrictEqual(each, member)) return each
  return undefined
}
