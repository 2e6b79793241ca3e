import { inspect } from 'node:util'
import { CHILDREN } from '../codec/index.js'
import { checkTimeRange, type KeyValue, type TimeRange } from '../keys/index.js'
import { MAX_SHARDS, type DeletedOption } from '../model/index.js'
import type { KeyOf } from '../model/key-of.js'
import type {
  Collection,
  CollectionOrder,
  KeysOptions,
  LinkValues,
  Page,
  PageOptions,
  QuestionOptions,
  RangeOptions,
} from '../model/related.js'
import { notByTime } from './contract/companion-errors.js'
import { CollectionState } from './state/collection-state.js'
import { isEntity, COLLECTION, type Member } from './contract/member.js'
import { inspectLoaded, inspectUnloaded } from './read/inspect-collection.js'
import { membersToJSON } from './read/members-to-json.js'
import { askNearest, askWindow, timedBinding } from './read/ask-by-time.js'
import { askPage, askShown, askStream } from './read/ask-page.js'
import { countMembers, hasMember, memberKeys } from './read/pending-overlay.js'
import { pageOfParts } from './read/cursor-page.js'
import { checkNumber, noLinkRecords, unknownOrder, unordered } from './contract/relation-errors.js'
import { askAttributes, restoreLink } from './read/ask-attributes.js'
import type { LinkedMembers } from './state/linked-members.js'
import { ROOT } from './growth/placement.js'
import { reshard } from './growth/reshard.js'
import { setCollectionState } from './state/state-of.js'
import { cut, type CollectionView, type KeyRange, type OrderView } from './contract/collection-members.js'
import {
  addedKeys,
  askedBinding,
  askedRange,
  checkDeleted,
  checkEnded,
  isComplete,
  noNumbers,
  noSession,
  notLoaded,
} from './read/asked-collection.js'
import { collectionOrder } from './read/collection-order.js'
import { farKeys, findLink, hasLink, linkedIn, type LinkedCollection } from './read/linked-questions.js'

/**
 * The initial value of a to-many relation.
 *
 * @example
 * @OneToMany(() => Listing, 'agent') listings = collection<Listing>()
 */
export function collection<T extends object, A extends object = object>(): Collection<T, A> {
  return new EntityCollection<T, A>()
}

/** A collection. Outside a session its members are those that were added; in one the server is asked. */
export class EntityCollection<T extends object, A extends object = object> implements Collection<T, A> {
  readonly #state = new CollectionState()

  constructor() {
    setCollectionState(this, this.#state)
  }

  add(...members: (T | KeyValue)[]): void {
    const to = this.#checked(members)
    for (const member of members) to.add(member)
  }

  remove(...members: (T | KeyValue)[]): void {
    const from = this.#checked(members)
    for (const member of members) from.remove(member)
  }

  link(member: T | KeyValue, attributes: LinkValues<A>): void {
    const links = this.#links
    this.#checked([member])
    if (links === undefined) this.#state.link(member, attributes)
    else links.members.add(member, attributes)
  }

  unlink(...members: (T | KeyValue)[]): void {
    this.remove(...members)
  }

  async linkOf(member: T | KeyValue, options?: DeletedOption): Promise<A | null> {
    checkDeleted(this.#state, options)
    const links = linkedIn(this.#state, askedBinding(this.#state, 'linkOf', options))
    if (links === undefined) throw noLinkRecords(askedBinding(this.#state, 'linkOf'))
    return (await findLink(links, member)) as A | null
  }

  async attributesOf(member: T | KeyValue, options?: DeletedOption): Promise<A | null> {
    checkEnded(this.#state, options)
    return (await askAttributes(this.#state, member, options)) as A | null
  }

  async restore(member: T | KeyValue): Promise<boolean> {
    this.#checked([member])
    return restoreLink(this.#state, member)
  }

  get isLoaded(): boolean {
    const { parts, added, isLoaded } = this.#state
    if (parts !== undefined) return parts.isComplete
    if (!(isComplete(this.#state) ? added.every(isEntity) : isLoaded)) return false
    return this.#links?.members.isLoaded ?? true
  }

  get items(): readonly T[] {
    const { parts, binding } = this.#state
    const members = (): readonly unknown[] =>
      this.#state.asShown(() => this.#links?.members.membersOf(this.#state.members) ?? this.#state.members)
    const placed = (): readonly unknown[] | undefined =>
      this.#state.asShown(() => parts?.placed().map(({ part }) => part))
    if (this.isLoaded) return (placed() ?? members()) as T[]
    throw notLoaded(binding)
  }

  [Symbol.iterator](): Iterator<T> {
    return this.items[Symbol.iterator]()
  }

  /** Keys that are listed here and have no record: their entities expired or were deleted past Skein. Known once loaded. */
  get dangling(): readonly KeyOf<T>[] {
    const { dangling } = this.#state.loaded
    const links = this.#links
    const keys = links === undefined ? dangling : [...farKeys(links, dangling), ...links.members.dangling]
    return keys as readonly KeyOf<T>[]
  }

  async load(options?: QuestionOptions): Promise<readonly T[]> {
    checkDeleted(this.#state, options)
    if (options?.deleted !== undefined && !isComplete(this.#state)) {
      const binding = askedBinding(this.#state, 'load', options)
      return (await askShown(this.#state, binding, linkedIn(this.#state, binding))) as T[]
    }
    if (!this.isLoaded) {
      const { relation, tracked, reader } = askedBinding(this.#state, 'load', options)
      const load = (): Promise<void> => reader.load([tracked], [relation.name])
      // A load outside the transaction is not shared: another caller may not be allowed to make it.
      await (options?.outsideTransaction === true ? load() : this.#state.loadOnce(load))
    }
    return this.items
  }

  async contains(member: T | KeyValue, options?: DeletedOption): Promise<boolean> {
    this.#checked([member])
    checkDeleted(this.#state, options)
    if (this.#view !== undefined) return this.#view.contains(member)
    const links = this.#links
    if (links === undefined && isComplete(this.#state))
      return options?.deleted !== 'only' && this.#state.isAdded(member)
    const binding = askedBinding(this.#state, 'contains', options)
    return links === undefined ? hasMember(this.#state, binding, member) : hasLink({ ...links, binding }, member)
  }

  async count(options?: QuestionOptions): Promise<number> {
    checkDeleted(this.#state, options)
    if (this.#view !== undefined) return this.#view.count()
    if (isComplete(this.#state)) return this.#state.added.length
    return countMembers(this.#state, askedBinding(this.#state, 'count', options))
  }

  async keys({ offset, count, ...options }: KeysOptions = {}): Promise<readonly KeyOf<T>[]> {
    const range = askedRange(this.#state, offset, count)
    const keys = await this.#keys(range, options)
    return (this.#links === undefined ? keys : farKeys(this.#links, keys)) as readonly KeyOf<T>[]
  }

  async #keys(range: KeyRange | undefined, options: QuestionOptions): Promise<readonly KeyValue[]> {
    checkDeleted(this.#state, options)
    if (this.#view !== undefined) return this.#view.keys(range)
    if (isComplete(this.#state)) return cut(addedKeys(this.#state), range)
    const binding = askedBinding(this.#state, 'keys', options)
    if (range !== undefined && binding.strategy.members?.byPosition !== undefined) throw noNumbers(binding)
    return memberKeys(this.#state, binding, range)
  }

  async page({ offset = 0, count, after, ...options }: PageOptions): Promise<Page<T>> {
    checkDeleted(this.#state, options)
    const { binding: known } = this.#state
    checkNumber('offset', offset, -Infinity, known)
    // A page that is found by its position and has no members would have no end.
    checkNumber('count', count, known?.strategy.members?.byPosition === undefined ? 0 : 1, known)
    if (this.#view !== undefined)
      return (await pageOfParts(this.#view, known!.relation, offset, count, after)) as Page<T>
    if (isComplete(this.#state)) return cut(await this.load(), { offset, count })
    const binding = askedBinding(this.#state, 'page', options)
    return (await askPage(this.#state, binding, linkedIn(this.#state, binding), { offset, count, after })) as Page<T>
  }

  async *stream(options?: QuestionOptions): AsyncGenerator<T> {
    checkDeleted(this.#state, options)
    if (this.isLoaded && options?.deleted === undefined) yield* this.items
    else if (this.#view !== undefined) for await (const member of this.#view.stream()) yield member as T
    else {
      const binding = askedBinding(this.#state, 'stream', options)
      for await (const member of askStream(this.#state, binding, linkedIn(this.#state, binding))) yield member as T
    }
  }

  async get(key: KeyValue): Promise<T | null> {
    return (await this.#ordered('get').get(key)) as T | null
  }

  async getMany(keys: readonly KeyValue[]): Promise<readonly (T | null)[]> {
    return (await this.#ordered('getMany').getMany(keys)) as (T | null)[]
  }

  async range(options: RangeOptions): Promise<readonly T[]> {
    return (await this.#ordered('range').range(options)) as T[]
  }

  async window(range: TimeRange): Promise<readonly T[]> {
    const timed = timedBinding(this.#state, 'window')
    if (timed !== undefined) return (await askWindow(this.#state, timed, checkTimeRange(range))) as T[]
    const view = this.#ordered('window')
    if (view.window === undefined) throw notByTime(this.#state.binding!)
    return (await view.window(checkTimeRange(range))) as T[]
  }

  first(count: number): Promise<readonly T[]> {
    return this.#end('first', count)
  }

  last(count: number): Promise<readonly T[]> {
    return this.#end('last', count)
  }

  async indexOf(member: T | KeyValue): Promise<number | null> {
    return this.#ordered('indexOf').indexOf(member)
  }

  by(name: string): CollectionOrder<T> {
    const order = (): OrderView => {
      const view = this.#ordered('by').by(name)
      if (view !== undefined) return view
      throw unknownOrder(this.#state.binding!, name)
    }
    order()
    return collectionOrder<T>(order, () => this.#state.binding)
  }

  async shard(shards: number): Promise<void> {
    checkNumber('shards', shards, 1, this.#state.binding, MAX_SHARDS)
    await reshard(askedBinding(this.#state, 'shard'), 'shard', shards)
  }

  async merge(): Promise<void> {
    await reshard(askedBinding(this.#state, 'merge'), 'merge', ROOT)
  }

  /** Parts that are stored with their owner, as they are now. */
  get [CHILDREN](): Iterable<object> {
    return this.#state.parts?.members ?? this.#state.addedEntities
  }

  toJSON(): unknown {
    return this.isLoaded ? membersToJSON(this.items) : undefined
  }

  [inspect.custom](): unknown {
    return this.isLoaded ? inspectLoaded(this.items) : inspectUnloaded(this.#state)
  }

  /** Refuses members of another class and keys of another type, before any of them is taken; gives what takes them. */
  #checked(members: readonly Member[]): CollectionState | LinkedMembers {
    const taker = this.#links?.members ?? this.#state
    for (const member of members) taker.check(member)
    return taker
  }

  /** Present where members are link records. */
  get #links(): LinkedCollection | undefined {
    const { binding } = this.#state
    return binding && linkedIn(this.#state, binding)
  }

  get #view(): CollectionView | undefined {
    const { binding } = this.#state
    if (binding?.strategy.view === undefined) return undefined
    // Once it is detached by its session, it can still tell what it knows.
    if (binding.tracked.state === 'gone' && !this.#state.parts!.isLoaded) throw noSession('A call')
    return binding.strategy.view(binding.tracked, binding.reader)
  }

  async #end(call: 'first' | 'last', count: number): Promise<readonly T[]> {
    checkNumber('count', count, 0, this.#state.binding)
    const timed = timedBinding(this.#state, call)
    if (timed !== undefined) return (await askNearest(this.#state, timed, count, call)) as T[]
    return (await this.#ordered(call)[call](count)) as T[]
  }

  #ordered(call: string): CollectionView {
    const view = this.#view
    if (view !== undefined) return view
    throw unordered(askedBinding(this.#state, call), call)
  }
}
Object.defineProperty(EntityCollection.prototype, COLLECTION, { value: true })
