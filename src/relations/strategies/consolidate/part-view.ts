import type { KeyValue } from '../../../keys/index.js'
import type { RangeOptions } from '../../../model/index.js'
import { userKeyId } from '../../../plan/record-key.js'
import type { MapKey, Value } from '../../../plan/value.js'
import { isEntity, type Member } from '../../contract/member.js'
import {
  cut,
  type CollectionView,
  type KeyRange,
  type OrderView,
  type PartPage,
} from '../../contract/collection-members.js'
import { readCursor, showCursor } from '../../write/member-cursor.js'
import { compareKeys } from './key-order.js'
import { PartOrderView } from './part-order-view.js'
import type { PartQuestions } from './part-questions.js'
import type { PlacedPart } from './part-holders.js'
import type { PartTable } from './part-table.js'

const ALL = 2 ** 31 - 1

/** Children read at a time by a stream. */
const STEP = 256

/** Answers about a consolidated collection: from memory once it is loaded, otherwise from the server with the unsent changes on top. */
export class PartView implements CollectionView {
  readonly pageAfter: CollectionView['pageAfter']
  readonly window: CollectionView['window']
  readonly #table: PartTable
  readonly #reads: PartQuestions
  readonly #complete: ((parts: readonly object[]) => Promise<void>) | undefined

  /** `complete` loads what is always loaded with a part; where the children are in several records, pages follow cursors. */
  constructor(
    table: PartTable,
    reads: PartQuestions,
    complete?: (parts: readonly object[]) => Promise<void>,
    hasCursors = false,
    hasWindows = false,
  ) {
    if (hasWindows) this.window = ({ from, to }) => this.range({ from: [from], to: [to] })
    if (hasCursors) this.pageAfter = (count, after) => this.#pageAfter(count, after)
    this.#table = table
    this.#reads = reads
    this.#complete = complete
  }

  async contains(member: Member): Promise<boolean> {
    const id = this.#checkedIdOf(member)
    return id !== null && (await this.#find([id]))[0] !== null
  }

  async count(): Promise<number> {
    if (this.#table.isComplete) return this.#table.placed().length
    const { state, parts, isCapped } = this.#table
    const { all, found } = await this.#reads.count(this.#pending())
    const count = all - found + state.added.length
    return isCapped ? Math.min(count, parts.relation.cap!.keep) : count
  }

  async keys(range?: KeyRange): Promise<readonly KeyValue[]> {
    if (range === undefined) return this.#keys()
    if (this.#isRead || this.#extra() > 0) return cut(await this.#keys(), range)
    return (await this.#reads.places(range)).map((place) => this.#table.parts.idAt(place))
  }

  async #keys(): Promise<readonly KeyValue[]> {
    const { parts, isComplete } = this.#table
    if (isComplete) return this.#table.placed().map(({ part }) => parts.idOf(part))
    const stored = await this.#reads.places()
    const moved = this.#moved()
    const own = new Set([...this.#pending(), ...moved.map(({ part }) => parts.idOf(part))].map(userKeyId))
    const places = stored.filter((place) => !own.has(userKeyId(parts.idAt(place))))
    const all = [...places, ...moved.map(({ place }) => place)].sort(compareKeys)
    return this.#table.capped(all).map((place) => parts.idAt(place))
  }

  async get(id: KeyValue): Promise<object | null> {
    const [part] = await this.getMany([id])
    return part
  }

  async getMany(ids: readonly KeyValue[]): Promise<readonly (object | null)[]> {
    const found = await this.#find(ids.map((id) => this.#table.parts.checkedId(id)))
    await this.#complete?.(found.filter((part) => part !== null))
    return found
  }

  async #find(ids: readonly KeyValue[]): Promise<readonly (object | null)[]> {
    if (this.#table.isCapped) {
      const { parts } = this.#table
      const there = new Map((await this.#all()).map(({ part }) => [userKeyId(parts.idOf(part)), part]))
      return ids.map((id) => there.get(userKeyId(id)) ?? null)
    }
    const unknown = ids.filter((id) => this.#table.find(id) === undefined)
    if (unknown.length > 0) await this.#ask(unknown)
    return ids.map((id) => this.#table.find(id) ?? null)
  }

  async #ask(ids: readonly KeyValue[]): Promise<void> {
    const before = ids.flatMap((id) => this.#table.known(id) ?? [])
    for (const stored of await this.#reads.get(ids)) this.#table.take(stored)
    this.#table.asked(before)
  }

  async page(range: KeyRange): Promise<readonly object[]> {
    const { offset, count } = range
    if (this.#isRead) return this.#completed(cut(await this.#all(), range))
    const extra = this.#extra()
    // Removed parts leave gaps, so the page is cut from everything before its end.
    if (extra === 0) return this.#completed(this.#merge(await this.#reads.slice(offset, count)))
    const wanted = offset < 0 ? extra - offset : offset + count + extra
    const merged = this.#merge(await this.#reads.slice(offset < 0 ? -wanted : 0, wanted))
    return this.#completed(cut(merged, range))
  }

  async #pageAfter(count: number, after: string | undefined): Promise<PartPage> {
    const last = after === undefined ? undefined : readCursor(after)
    const { placed, isEnd } = await this.#after(count, last)
    const next = isEnd ? undefined : showCursor(placed.at(-1)!.place)
    return { members: await this.#completed(placed), next }
  }

  /** Children that only passed through are detached again. */
  async *stream(): AsyncGenerator<object> {
    const { parts } = this.#table
    for (let last: MapKey | undefined, isLast = false; !isLast;) {
      const known = new Set([...this.#table.kept()].map(({ id }) => userKeyId(id)))
      const { placed, isEnd } = await this.#after(STEP, last)
      yield* await this.#completed(placed)
      const fresh = placed.map(({ part }) => parts.idOf(part)).filter((id) => !known.has(userKeyId(id)))
      this.#table.release(fresh)
      isLast = isEnd
      last = placed.at(-1)?.place
    }
  }

  /** The page after a place, in the order of the places. */
  async #after(
    count: number,
    last: MapKey | undefined,
  ): Promise<{ readonly placed: PlacedPart[]; readonly isEnd: boolean }> {
    const wanted = count + this.#extra() + 1
    const all = this.#isRead ? await this.#all() : this.#merge(await this.#reads.after(last, wanted))
    const rest = last === undefined ? all : all.filter(({ place }) => compareKeys(place, last) > 0)
    return { placed: rest.slice(0, count), isEnd: rest.length <= count }
  }

  first(count: number): Promise<readonly object[]> {
    return this.page({ offset: 0, count })
  }

  async last(count: number): Promise<readonly object[]> {
    if (count === 0) return []
    if (this.#isRead) return this.#completed((await this.#all()).slice(-count))
    const wanted = count + this.#extra()
    return this.#completed(this.#merge(await this.#reads.slice(-wanted, wanted)).slice(-count))
  }

  async range({ from, to }: RangeOptions): Promise<readonly object[]> {
    const { parts } = this.#table
    const begin = from === undefined ? null : parts.bound(from)
    const end = to === undefined ? null : parts.bound(to)
    const all = this.#isRead ? await this.#all() : this.#merge(await this.#reads.range(begin, end))
    const isIn = ({ place }: PlacedPart): boolean =>
      (begin === null || compareKeys(place, begin) >= 0) && (end === null || compareKeys(place, end) < 0)
    return this.#completed(all.filter(isIn))
  }

  async indexOf(member: Member): Promise<number | null> {
    const id = this.#checkedIdOf(member)
    if (id === null) return null
    if (!this.#table.isComplete && this.#extra() === 0) return this.#reads.positionOf(id)
    const at = (await this.keys()).findIndex((key) => userKeyId(key) === userKeyId(id))
    return at < 0 ? null : at
  }

  by(name: string): OrderView | undefined {
    const { parts } = this.#table
    const order = parts.orderNamed(name)
    if (order === undefined) return undefined
    const { isComplete, isChanged } = this.#table
    return new PartOrderView(order, this.#reads, {
      isLocal: isComplete || isChanged,
      all: async () => {
        const all = await this.#completed(await this.#all())
        return all.flatMap((part) => {
          const tuple = parts.tuplesOf(part)[parts.orders.indexOf(order)]
          return tuple === undefined ? [] : [{ part, tuple }]
        })
      },
      find: (ids) => this.getMany(ids),
    })
  }

  /** True when all parts are here, or so few that all of them are read: only all of them tell what a cap will drop. */
  get #isRead(): boolean {
    return this.#table.isComplete || this.#table.isCapped
  }

  async #all(): Promise<readonly PlacedPart[]> {
    if (this.#table.isComplete) return this.#table.placed()
    return this.#table.capped(this.#merge(await this.#reads.slice(0, ALL)))
  }

  async #completed(placed: readonly PlacedPart[]): Promise<readonly object[]> {
    const parts = placed.map(({ part }) => part)
    await this.#complete?.(parts)
    return parts
  }

  #checkedIdOf(member: Member): KeyValue | null {
    return isEntity(member) ? this.#table.parts.keyOf(member) : this.#table.parts.checkedId(member)
  }

  #idOf(member: Member): KeyValue | null {
    return isEntity(member) ? this.#table.parts.keyOf(member) : member
  }

  /** Ids whose stored parts do not count: they are removed or replaced. */
  #pending(): KeyValue[] {
    const { added, removed } = this.#table.state
    return [...added, ...removed].flatMap((member) => this.#idOf(member) ?? [])
  }

  /** Parts that are not where they are stored: new ones, and those whose sort key changed. */
  #moved(): PlacedPart[] {
    const { parts, state } = this.#table
    const moved = state.addedEntities.map((part) => ({ part, place: parts.placeOf(part) }))
    for (const { part, place } of this.#table.kept()) {
      const now = parts.sortKey === undefined ? place : parts.placeOf(part)
      if (now !== place && compareKeys(now, place) !== 0) moved.push({ part, place: now })
    }
    return moved
  }

  /** Most stored parts that are elsewhere than the session sees them. */
  #extra(): number {
    return this.#table.state.removed.length + this.#moved().length
  }

  /** Stored parts as the session sees them, and those that it has besides. */
  #merge(stored: readonly Value[]): PlacedPart[] {
    const { parts } = this.#table
    const placed = new Map<string, PlacedPart>()
    for (const value of stored) {
      const id = parts.idOf(this.#table.take(value))
      const part = this.#table.find(id)
      if (part != null) placed.set(userKeyId(id), { part, place: parts.placeOf(part) })
    }
    for (const each of this.#moved()) placed.set(userKeyId(parts.idOf(each.part)), each)
    return [...placed.values()].sort((a, b) => compareKeys(a.place, b.place))
  }
}
