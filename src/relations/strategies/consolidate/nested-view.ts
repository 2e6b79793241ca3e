import type { KeyValue } from '../../../keys/index.js'
import type { RangeOptions } from '../../../model/index.js'
import { userKeyId } from '../../../plan/record-key.js'
import { cut, type CollectionView, type KeyRange, type OrderView } from '../../contract/collection-members.js'
import { isEntity, type Member } from '../../contract/member.js'
import { compareKeys } from './key-order.js'
import type { NestedParts } from './nested-parts.js'
import { PartOrderView } from './part-order-view.js'

/** Answers about the children of a part, all of them from memory. */
export class NestedView implements CollectionView {
  readonly #nested: NestedParts
  readonly #complete: ((parts: readonly object[]) => Promise<void>) | undefined

  /** `complete` loads what is always loaded with a part. */
  constructor(nested: NestedParts, complete?: (parts: readonly object[]) => Promise<void>) {
    this.#nested = nested
    this.#complete = complete
  }

  contains(member: Member): Promise<boolean> {
    const id = this.#idOf(member)
    return Promise.resolve(id !== null && this.#nested.find(id) !== null)
  }

  count(): Promise<number> {
    return Promise.resolve(this.#all.length)
  }

  keys(range?: KeyRange): Promise<readonly KeyValue[]> {
    const keys = this.#all.map((part) => this.#nested.parts.idOf(part))
    return Promise.resolve(range === undefined ? keys : cut(keys, range))
  }

  page(range: KeyRange): Promise<readonly object[]> {
    return this.#completed(cut(this.#all, range))
  }

  async *stream(): AsyncGenerator<object> {
    yield* await this.#completed(this.#all)
  }

  async get(key: KeyValue): Promise<object | null> {
    return (await this.getMany([key]))[0]
  }

  async getMany(keys: readonly KeyValue[]): Promise<readonly (object | null)[]> {
    const found = keys.map((key) => this.#nested.find(this.#nested.parts.checkedId(key)))
    await this.#completed(found.filter((part) => part !== null))
    return found
  }

  range({ from, to }: RangeOptions): Promise<readonly object[]> {
    const { parts } = this.#nested
    const begin = from === undefined ? null : parts.bound(from)
    const end = to === undefined ? null : parts.bound(to)
    const isIn = ({ place }: { readonly place: KeyValue }): boolean =>
      (begin === null || compareKeys(place, begin) >= 0) && (end === null || compareKeys(place, end) < 0)
    const placed = this.#nested.placed().filter(isIn)
    return this.#completed(placed.map(({ part }) => part))
  }

  first(count: number): Promise<readonly object[]> {
    return this.page({ offset: 0, count })
  }

  last(count: number): Promise<readonly object[]> {
    return this.#completed(count === 0 ? [] : this.#all.slice(-count))
  }

  indexOf(member: Member): Promise<number | null> {
    const id = this.#idOf(member)
    const { parts } = this.#nested
    const at = id === null ? -1 : this.#all.findIndex((part) => userKeyId(parts.idOf(part)) === userKeyId(id))
    return Promise.resolve(at < 0 ? null : at)
  }

  by(name: string): OrderView | undefined {
    const { parts } = this.#nested
    const order = parts.orderNamed(name)
    if (order === undefined) return undefined
    return new PartOrderView(order, undefined, {
      isLocal: true,
      all: async () => {
        const all = await this.#completed(this.#all)
        return all.flatMap((part) => {
          const tuple = parts.tuplesOf(part)[parts.orders.indexOf(order)]
          return tuple === undefined ? [] : [{ part, tuple }]
        })
      },
      find: (ids) => this.getMany(ids),
    })
  }

  get #all(): readonly object[] {
    return this.#nested.placed().map(({ part }) => part)
  }

  async #completed(parts: readonly object[]): Promise<readonly object[]> {
    if (parts.length > 0) await this.#complete?.(parts)
    return parts
  }

  #idOf(member: Member): KeyValue | null {
    return isEntity(member) ? this.#nested.parts.keyOf(member) : this.#nested.parts.checkedId(member)
  }
}
