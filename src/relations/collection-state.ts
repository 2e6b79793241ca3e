import type { KeyValue } from '../keys/index.js'
import type { RecordKey, UserKey } from '../plan/record-key.js'
import type { Value } from '../plan/value.js'
import type { Binding } from './binding.js'
import { isEntity, type Member, MemberSet } from './member-set.js'
import type { PartTable } from './consolidate/part-table.js'
import { showAttributes, showLink, showUnlink } from './link.js'
import { LinkValues } from './link-values.js'
import { noAttributes } from './relation-errors.js'

/** Where a member was before. */
export interface Former {
  readonly member: RecordKey
  readonly parent: UserKey
}

/** What is in a collection, as far as it is known, and what was added and removed since it was stored. */
export class CollectionState {
  readonly added = new MemberSet()
  readonly removed = new MemberSet()
  /** Attributes of links, as far as they are known. */
  readonly links = new LinkValues()
  /** The members, once loaded; a bare key among them is not loaded itself. */
  loaded: MemberSet | undefined
  /** What the bin held, until it is turned into members. */
  stored: Value | undefined
  /** Parents that members were taken from and whose lists still name them, by the member's key. */
  readonly former = new Map<string, Former>()
  /** Keys that were listed and had no record when the collection was loaded. */
  dangling: readonly KeyValue[] = []
  /** Where the members are parts of the owner's record. */
  parts: PartTable | undefined
  #binding: Binding | undefined

  get binding(): Binding | undefined {
    return this.#binding
  }

  /** From now on the session's knowledge of keys is used, and links that were made before are shown on their other sides. */
  bind(binding: Binding): void {
    if (!this.links.isEmpty && binding.relation.attributes === undefined) throw noAttributes(binding)
    this.#binding = binding
    const keyOf = binding.strategy.keyOf ?? ((entity: object): KeyValue | null => binding.reader.keyOf(entity))
    for (const members of [this.added, this.removed, this.loaded]) if (members) members.keyOf = keyOf
    for (const member of this.added.entities) {
      showLink(binding.relation, binding.tracked.entity, member)
      this.#showAttributes(member)
    }
  }

  get isChanged(): boolean {
    return this.added.size > 0 || this.removed.size > 0 || this.former.size > 0
  }

  get isLoaded(): boolean {
    return this.loaded !== undefined && [...this.loaded].every(isEntity)
  }

  /** The user's own change. */
  add(member: Member): void {
    this.include(member)
    if (this.#binding !== undefined && isEntity(member))
      showLink(this.#binding.relation, this.#binding.tracked.entity, member)
  }

  /** The same, with attributes; those of a link that is there already are replaced. */
  link(member: Member, attributes: object): void {
    if (this.#binding !== undefined && this.#binding.relation.attributes === undefined)
      throw noAttributes(this.#binding)
    this.add(member)
    this.links.set(member, { value: attributes, snapshot: undefined }, this.added)
    this.added.add(member)
    this.#showAttributes(member)
  }

  remove(member: Member): void {
    this.exclude(member)
    if (this.#binding !== undefined && isEntity(member))
      showUnlink(this.#binding.relation, this.#binding.tracked.entity, member)
  }

  /** A change that the other side knows of already. */
  include(member: Member): void {
    if (this.parts !== undefined) return this.parts.include(member)
    if (this.loaded?.has(member) && !this.removed.has(member)) return
    if (!this.removed.delete(member)) this.added.add(member)
    this.loaded?.add(member)
  }

  exclude(member: Member): void {
    if (this.parts !== undefined) return this.parts.exclude(member)
    if (!this.added.delete(member)) this.removed.add(member)
    this.loaded?.delete(member)
    this.links.delete(member, this.added)
  }

  /** Takes over what the server has, with this session's changes on top. */
  fill(members: Iterable<Member>): void {
    const loaded = new MemberSet()
    loaded.keyOf = this.added.keyOf
    for (const member of members) if (!this.removed.has(member)) loaded.add(member)
    for (const member of this.added) loaded.add(member)
    this.loaded = loaded
  }

  /** Nothing of it is stored: what it holds is still to be added, and is all there is. */
  startAnew(): void {
    for (const member of this.loaded ?? []) this.added.add(member)
    this.removed.clear()
    this.stored = undefined
    this.dangling = []
    this.fill([])
  }

  settle(member: Member): void {
    this.added.delete(member)
    this.removed.delete(member)
  }

  /** What puts everything back as it is now. */
  remember(): () => void {
    const { loaded, stored, dangling } = this
    const [added, removed, members] = [[...this.added], [...this.removed], [...(loaded ?? [])]]
    return () => {
      this.added.restore(added)
      this.removed.restore(removed)
      loaded?.restore(members)
      this.loaded = loaded
      this.stored = stored
      this.dangling = dangling
    }
  }

  /** Forgets what is known of the stored members and what was changed. */
  reset(): void {
    this.added.clear()
    this.removed.clear()
    this.former.clear()
    this.loaded = undefined
    this.stored = undefined
    this.parts?.reset()
    this.links.clear()
  }

  #showAttributes(member: Member): void {
    const binding = this.#binding
    const link = this.links.get(member, this.added)
    if (binding !== undefined && link !== undefined && isEntity(member))
      showAttributes(binding.relation, binding.tracked.entity, member, link)
  }
}
