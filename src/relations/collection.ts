import { inspect } from 'node:util'
import { SkeinError } from '../errors/index.js'
import type { KeyValue } from '../keys/index.js'
import type { KeyOf } from '../model/key-of.js'
import type {
  Collection,
  CollectionOrder,
  KeysOptions,
  OutsideTransaction,
  Page,
  PageOptions,
  QuestionOptions,
  RangeOptions,
} from '../model/related.js'
import type { Binding } from './contract/binding.js'
import { CollectionState } from './state/collection-state.js'
import { isEntity, COLLECTION } from './contract/member.js'
import { membersToJSON } from './read/members-to-json.js'
import { countMembers, hasMember, memberKeys, memberPage } from './read/pending-overlay.js'
import { pageAfter, pageOfParts } from './read/cursor-page.js'
import {
  checkNumber,
  nameOf,
  noAttributes,
  noDeletedMembers,
  pagedOtherwise,
  unknownOrder,
} from './contract/relation-errors.js'
import { pagedByCursor } from './contract/companion-errors.js'
import { setCollectionState } from './state/state-of.js'
import { cut, type CollectionView, type KeyRange, type OrderView } from './contract/collection-members.js'
import { streamMembers } from './read/stream-members.js'

/**
 * The initial value of a to-many relation.
 *
 * @example
 * @OneToMany(() => Listing, 'agent') listings = collection<Listing>()
 */
export function collection<T extends object, A extends object = object>(): Collection<T, A> {
  return new EntityCollection<T, A>()
}

/** As many as the server can return. */
const ALL = 2 ** 31 - 1

/** A collection. Outside a session its members are those that were added; in one the server is asked. */
export class EntityCollection<T extends object, A extends object = object> implements Collection<T, A> {
  readonly #state = new CollectionState()

  constructor() {
    setCollectionState(this, this.#state)
  }

  add(...members: (T | KeyValue)[]): void {
    for (const member of members) this.#state.add(member)
  }

  remove(...members: (T | KeyValue)[]): void {
    for (const member of members) this.#state.remove(member)
  }

  link(member: T | KeyValue, attributes: A): void {
    this.#state.link(member, attributes)
  }

  async attributesOf(member: T | KeyValue): Promise<A | null> {
    const known = this.#state.links.get(member)
    if (known !== undefined) return known.value as A
    if (this.#isComplete || this.#state.isRemoved(member) || this.#state.isAdded(member)) return null
    const binding = this.#bound('attributesOf')
    if (binding.strategy.attributesOf === undefined) throw noAttributes(binding)
    return (await binding.strategy.attributesOf(binding.tracked, member, binding.reader)) as A | null
  }

  get isLoaded(): boolean {
    const { parts, added, isLoaded } = this.#state
    if (parts !== undefined) return parts.isComplete
    return this.#isComplete ? added.every(isEntity) : isLoaded
  }

  get items(): readonly T[] {
    const { parts, binding } = this.#state
    const members = (): readonly unknown[] => this.#state.asShown(() => this.#state.members)
    if (this.isLoaded) return (parts?.placed().map(({ part }) => part) ?? members()) as T[]
    const name = binding === undefined ? '' : ` ${nameOf(binding)}`
    throw new SkeinError('SKEIN_2402', `The collection${name} is not loaded.`, {
      className: binding?.tracked.model.name,
      property: binding?.relation.name,
      fix: 'Call await collection.load() first, or name the relation in { with: […] } when loading.',
    })
  }

  [Symbol.iterator](): Iterator<T> {
    return this.items[Symbol.iterator]()
  }

  /** Keys that are listed here and have no record: their entities expired or were deleted past Skein. Known once loaded. */
  get dangling(): readonly KeyOf<T>[] {
    return this.#state.loaded.dangling as readonly KeyOf<T>[]
  }

  async load(options?: OutsideTransaction): Promise<readonly T[]> {
    if (!this.isLoaded) {
      const { relation, tracked, reader } = this.#bound('load', options)
      const load = (): Promise<void> => reader.load([tracked], [relation.name])
      // A load outside the transaction is not shared: another caller may not be allowed to make it.
      await (options?.outsideTransaction === true ? load() : this.#state.loadOnce(load))
    }
    return this.items
  }

  async contains(member: T | KeyValue): Promise<boolean> {
    if (this.#view !== undefined) return this.#view.contains(member)
    if (this.#isComplete) return this.#state.isAdded(member)
    return hasMember(this.#state, this.#bound('contains'), member)
  }

  async count(options?: QuestionOptions): Promise<number> {
    this.#checkDeleted(options)
    if (this.#view !== undefined) return this.#view.count()
    if (this.#isComplete) return this.#state.added.length
    return countMembers(this.#state, this.#bound('count', options))
  }

  async keys({ offset, count, ...options }: KeysOptions = {}): Promise<readonly KeyOf<T>[]> {
    const range = this.#keyRange(offset, count)
    return (await this.#keys(range, options)) as readonly KeyOf<T>[]
  }

  async #keys(range: KeyRange | undefined, options: QuestionOptions): Promise<readonly KeyValue[]> {
    this.#checkDeleted(options)
    if (this.#view !== undefined) return this.#view.keys(range)
    if (this.#isComplete) return range === undefined ? this.#addedKeys() : cut(this.#addedKeys(), range)
    const binding = this.#bound('keys', options)
    if (range !== undefined && binding.strategy.members?.byPosition !== undefined) throw this.#noNumbers(binding)
    return memberKeys(this.#state, binding, range)
  }

  #noNumbers({ relation, strategy }: Binding): SkeinError {
    return strategy.store === undefined ? pagedOtherwise(relation, 'after') : pagedByCursor(relation)
  }

  /** Undefined where all keys are meant. */
  #keyRange(offset: number | undefined, count: number | undefined): KeyRange | undefined {
    if (offset === undefined && count === undefined) return undefined
    checkNumber('offset', offset ?? 0, -Infinity, this.#state.binding)
    checkNumber('count', count ?? ALL, 0, this.#state.binding)
    return { offset: offset ?? 0, count: count ?? ALL }
  }

  async page({ offset = 0, count, after, ...options }: PageOptions): Promise<Page<T>> {
    this.#checkDeleted(options)
    const { binding: known } = this.#state
    checkNumber('offset', offset, -Infinity, known)
    // A page that is found by its position and has no members would have no end.
    checkNumber('count', count, known?.strategy.members?.byPosition === undefined ? 0 : 1, known)
    if (this.#view !== undefined)
      return (await pageOfParts(this.#view, known!.relation, offset, count, after)) as Page<T>
    if (this.#isComplete) return cut(await this.load(), { offset, count })
    const binding = this.#bound('page', options)
    if (binding.strategy.members?.byPosition === undefined) {
      if (after !== undefined) throw pagedOtherwise(binding.relation, 'offset')
      return (await memberPage(this.#state, binding, { offset, count })) as T[]
    }
    if (offset !== 0) throw this.#noNumbers(binding)
    return (await pageAfter(this.#state, binding, count, after)) as Page<T>
  }

  async *stream(options?: QuestionOptions): AsyncGenerator<T> {
    this.#checkDeleted(options)
    if (this.isLoaded && options?.deleted === undefined) yield* this.items
    else if (this.#view !== undefined) for await (const member of this.#view.stream()) yield member as T
    else for await (const member of streamMembers(this.#state, this.#bound('stream', options))) yield member as T
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

  async first(count: number): Promise<readonly T[]> {
    checkNumber('count', count, 0, this.#state.binding)
    return (await this.#ordered('first').first(count)) as T[]
  }

  async last(count: number): Promise<readonly T[]> {
    checkNumber('count', count, 0, this.#state.binding)
    return (await this.#ordered('last').last(count)) as T[]
  }

  async indexOf(member: T | KeyValue): Promise<number | null> {
    return this.#ordered('indexOf').indexOf(member)
  }

  by(name: string): CollectionOrder<T> {
    const order = (): OrderView => {
      const view = this.#ordered('by').by(name)
      if (view !== undefined) return view
      const { binding } = this.#state
      throw unknownOrder(binding!, name)
    }
    order()
    const counted = (count: number): number => (checkNumber('count', count, 0, this.#state.binding), count)
    return {
      count: () => order().count(),
      first: async (count) => (await order().first(counted(count))) as T[],
      last: async (count) => (await order().last(counted(count))) as T[],
      page: async ({ offset = 0, count }) => {
        checkNumber('offset', offset, -Infinity, this.#state.binding)
        return (await order().page({ offset, count: counted(count) })) as T[]
      },
      range: async (options) => (await order().range(options)) as T[],
    }
  }

  toJSON(): unknown {
    return this.isLoaded ? membersToJSON(this.items) : undefined
  }

  // Returning the members (and not their text) lets inspect find cycles by itself.
  [inspect.custom](): unknown {
    if (this.isLoaded) return ShownMembers.from(this.items)
    const { added } = this.#state
    const known = this.#isComplete ? `${added.length} members, ` : added.length > 0 ? `${added.length} added, ` : ''
    return `Collection(${known}not loaded)`
  }

  /** True while there is no record that could hold more: what was added is all there is. */
  get #isComplete(): boolean {
    const { binding, loaded } = this.#state
    return binding === undefined ? loaded.members === undefined : binding.tracked.state === 'new'
  }

  get #view(): CollectionView | undefined {
    const { binding } = this.#state
    if (binding?.strategy.view === undefined) return undefined
    // Once it is let go of by its session, it can still tell what it knows.
    if (binding.tracked.state === 'gone' && !this.#state.parts!.isLoaded) throw this.#noSession('The question')
    return binding.strategy.view(binding.tracked, binding.reader)
  }

  #ordered(call: string): CollectionView {
    const view = this.#view
    if (view !== undefined) return view
    const { strategy, relation, tracked } = this.#bound(call)
    const message = `${tracked.model.name}.${relation.name} is stored as ${strategy.model.strategy}, which cannot answer ${call}().`
    throw new SkeinError('SKEIN_2420', message, {
      className: tracked.model.name,
      property: relation.name,
      fix: "Use page() or load(), or store the children with strategy: 'consolidate'.",
    })
  }

  #addedKeys(): KeyValue[] {
    const keys = this.#state.added.map((member) => this.#state.keyOf(member))
    if (keys.every((key): key is KeyValue => key !== null)) return keys
    throw this.#noSession('keys')
  }

  /** Refuses to show deleted members of a class whose deletes leave nothing to show. */
  #checkDeleted({ deleted }: QuestionOptions = {}): void {
    const { binding } = this.#state
    if (deleted === undefined) return
    const isKnown = deleted === 'include' || deleted === 'only'
    const isPart = binding?.strategy.keyOf !== undefined
    const isSoft =
      binding === undefined || isPart || binding.tracked.state === 'gone'
        ? !isPart
        : binding.reader.entityModel(binding.relation.target).deletedAt !== undefined
    if (!isKnown || !isSoft) throw noDeletedMembers(binding, isKnown)
  }

  #bound(call: string, { outsideTransaction = false, deleted }: QuestionOptions = {}): Binding {
    const { binding } = this.#state
    if (binding === undefined || binding.tracked.state === 'gone') throw this.#noSession(call)
    const bound = outsideTransaction ? { ...binding, reader: binding.reader.outside() } : binding
    return deleted === undefined ? bound : { ...bound, deleted, reader: bound.reader.withDeleted(deleted) }
  }

  #noSession(call: string): SkeinError {
    return new SkeinError('SKEIN_2403', `${call}() of a collection outside a session has no server to ask.`, {
      fix: 'Load the entity that has it with session.load, or hand it to session.persist first.',
    })
  }
}
Object.defineProperty(EntityCollection.prototype, COLLECTION, { value: true })

/** Prints as `Collection(2) [ … ]`. */
const ShownMembers = { Collection: class Collection<T> extends Array<T> {} }.Collection
