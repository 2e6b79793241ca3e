import type { KeyValue } from '../../keys/index.js'
import { userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import { adopt } from './unloaded-parents.js'
import type { Binding } from '../contract/binding.js'
import { isEntity, type Member, MemberSet } from './member-set.js'
import type { PartTable } from '../strategies/consolidate/part-table.js'
import { forgetChange, showAttributes, showLink, showUnlink } from './sync-inverse.js'
import { LinkValues } from './link-attributes-of.js'
import { noAttributes } from '../contract/relation-errors.js'

/** Where a member was before. */
export interface Former {
  readonly member: RecordKey
  readonly parent: UserKey
}

/** What is in a collection, as far as it is known, and what was added and removed since it was stored. */
export class CollectionState {
  readonly added = new MemberSet()
  readonly removed = new MemberSet()
  /** Those among the removed that were added since: nothing of them is stored, but where orphans are deleted, they are such. */
  readonly addedThenRemoved = new MemberSet()
  /** Those among the removed that the server did not have when the members were loaded: they come back only by being added. */
  readonly removedNotStored = new MemberSet()
  /** Those among the added that the server had already when the members were loaded: to take them out again is a change. */
  readonly #repeated = new MemberSet()
  /** Those whose change may have reached one of the records it concerns, and not yet all: it is carried through, or turned back, but never forgotten. */
  readonly partlySent = new MemberSet()
  /** Attributes of links, as far as they are known. */
  readonly links = new LinkValues()
  /** The members, once loaded; a bare key among them is not loaded itself. */
  loaded: MemberSet | undefined
  /** What the bin held, until it is turned into members. */
  stored: Value | undefined
  /** Parents that members were taken from and whose lists still name them, by the member's key. */
  readonly previousParents = new Map<string, Former>()
  /** Keys that were listed and had no record when the collection was loaded. */
  dangling: readonly KeyValue[] = []
  /** Where the members are parts of the owner's record. */
  parts: PartTable | undefined
  /** Changes that a flush is sending, and those of them that were changed again since. */
  #sending: MemberSet | undefined
  #overtaken: MemberSet | undefined
  #binding: Binding | undefined
  #loading: Promise<void> | undefined

  get binding(): Binding | undefined {
    return this.#binding
  }

  /** From now on the session's knowledge of keys is used, and links that were made before are shown on their other sides. */
  bind(binding: Binding): void {
    if (!this.links.isEmpty && binding.relation.attributes === undefined) throw noAttributes(binding)
    this.#binding = binding
    const keyOf = binding.strategy.keyOf ?? ((entity: object): KeyValue | null => binding.reader.keyOf(entity))
    const { added, removed, addedThenRemoved, removedNotStored, partlySent, loaded } = this
    for (const members of [added, removed, addedThenRemoved, removedNotStored, this.#repeated, partlySent, loaded])
      if (members) members.keyOf = keyOf
    for (const member of this.added.entities) {
      showLink(binding.relation, binding.tracked.entity, member)
      this.#showAttributes(member)
    }
  }

  get isChanged(): boolean {
    return this.added.size > 0 || this.removed.size > 0 || this.previousParents.size > 0
  }

  get isLoaded(): boolean {
    return this.loaded !== undefined && [...this.loaded].every(isEntity)
  }

  /** Those that were added and are not at hand. */
  get addedKeys(): KeyValue[] {
    return [...this.added].filter((member): member is KeyValue => !isEntity(member))
  }

  beginSending(): void {
    this.#sending = this.#copyOf([...this.added, ...this.removed])
  }

  endSending(): void {
    this.#sending = undefined
    this.#overtaken = undefined
  }

  #copyOf(members: readonly Member[]): MemberSet {
    const copy = new MemberSet()
    copy.keyOf = this.added.keyOf
    copy.restore(members)
    return copy
  }

  /** It is changed back while the change is under way: that may be stored by then, and its answer is not that of this one. */
  #overtake(member: Member, pending: MemberSet): void {
    if (this.#sending === undefined || !pending.has(member) || !this.#sending.delete(member)) return
    this.partlySent.add(member)
    this.#overtaken ??= this.#copyOf([])
    this.#overtaken.add(member)
  }

  /** The user's own change. */
  add(given: Member): void {
    const member = this.#resolved(given)
    this.#overtake(member, this.removed)
    if (this.#isSure(member)) this.addFromInverse(member)
    else {
      this.#unremove(member)
      this.added.add(member)
    }
    if (!isEntity(member) && this.#binding !== undefined) adopt(this, this.#binding, member)
    if (this.#binding !== undefined && isEntity(member))
      showLink(this.#binding.relation, this.#binding.tracked.entity, member)
  }

  /** The same, with attributes; those of a link that is there already are replaced. */
  link(given: Member, attributes: object): void {
    const member = this.#resolved(given)
    if (this.#binding !== undefined && this.#binding.relation.attributes === undefined)
      throw noAttributes(this.#binding)
    this.add(member)
    this.links.set(member, { value: attributes, snapshot: undefined }, this.added)
    this.added.add(member)
    this.#showAttributes(member)
  }

  remove(given: Member): void {
    const member = this.#resolved(given)
    this.#overtake(member, this.added)
    const isUnsent = this.added.has(member) && !this.#mayBeStored(member)
    if (this.#isSure(member)) this.removeFromInverse(member)
    else {
      this.added.delete(member)
      this.removed.add(member)
      this.links.delete(member, this.added)
    }
    if (isUnsent) this.#orphan(member)
    if (this.#binding !== undefined && isEntity(member))
      showUnlink(this.#binding.relation, this.#binding.tracked.entity, member)
  }

  /** A change that the other side knows of already. */
  addFromInverse(member: Member): void {
    if (this.parts !== undefined) return this.parts.include(member)
    this.#overtake(member, this.removed)
    if (this.loaded?.has(member) && !this.removed.has(member)) return
    if (!this.#unremove(member)) this.added.add(member)
    this.loaded?.add(member)
  }

  removeFromInverse(member: Member): void {
    if (this.parts !== undefined) return this.parts.exclude(member)
    this.#overtake(member, this.added)
    const isListed = this.loaded?.has(member) ?? true
    const isUnsent = this.added.has(member) && !this.#mayBeStored(member)
    this.added.delete(member)
    if (!isUnsent && isListed) this.removed.add(member)
    this.loaded?.delete(member)
    this.links.delete(member, this.added)
  }

  /** Whoever asks for it while it is under way waits for the same. */
  loadOnce(load: () => Promise<void>): Promise<void> {
    return (this.#loading ??= load().finally(() => (this.#loading = undefined)))
  }

  /** An entity whose key was added or removed is at hand now. */
  resolveKey(entity: object | undefined): void {
    const { relation, tracked } = this.#binding!
    if (entity === undefined || tracked.state === 'gone') return
    if (this.added.has(entity)) {
      this.added.add(entity)
      this.loaded?.add(entity)
      showLink(relation, tracked.entity, entity)
      this.#showAttributes(entity)
    } else if (this.removed.has(entity)) {
      this.removed.add(entity)
      showUnlink(relation, tracked.entity, entity)
    }
  }

  /** Takes over what the server has, with this session's changes on top. */
  fill(members: Iterable<Member>): void {
    const loaded = new MemberSet()
    loaded.keyOf = this.added.keyOf
    this.removedNotStored.restore([...this.removed])
    this.#repeated.clear()
    for (const member of members) {
      this.removedNotStored.delete(member)
      if (this.added.has(member)) this.#repeated.add(member)
      if (!this.removed.has(member)) loaded.add(member)
    }
    for (const member of this.added) loaded.add(member)
    this.loaded = loaded
  }

  /** Another parent takes in a member that is known by its key alone. */
  giveAway(key: KeyValue): void {
    if (this.added.delete(key) && this.#mayBeStored(key)) this.removed.add(key)
    this.loaded?.delete(key)
  }

  /** What is known not to be stored needs no removal. */
  dropUnlisted(listed: readonly KeyValue[]): void {
    if (this.removed.size === 0) return
    const stored = new Set(listed.map(userKeyId))
    for (const member of [...this.removed]) {
      const key = this.removed.keyOfMember(member)
      if (!this.#isTold(member) && !this.partlySent.has(member) && key !== null && !stored.has(userKeyId(key)))
        this.removed.delete(member)
    }
  }

  /** Nothing of it is stored: what it holds is still to be added, and is all there is. */
  startAnew(): void {
    this.parts?.startAnew()
    this.parts = undefined
    for (const member of this.loaded ?? []) this.added.add(member)
    this.removed.clear()
    this.addedThenRemoved.clear()
    this.removedNotStored.clear()
    this.#repeated.clear()
    this.partlySent.clear()
    this.previousParents.clear()
    this.stored = undefined
    this.dangling = []
    this.fill([])
  }

  settle(member: Member): void {
    if (this.#overtaken?.has(member) === true) return
    this.added.delete(member)
    this.removed.delete(member)
    this.addedThenRemoved.delete(member)
    this.removedNotStored.delete(member)
    this.#repeated.delete(member)
    this.partlySent.delete(member)
  }

  /** Its records are as they were before the change. */
  turnedBack(member: Member): void {
    this.partlySent.delete(member)
  }

  /** A member is to be deleted before it was ever stored as one. */
  takeBack(key: KeyValue): void {
    if (!this.added.delete(key)) return
    if (this.#mayBeStored(key)) this.removed.add(key)
    this.loaded?.delete(key)
    this.links.delete(key, this.added)
  }

  /** The other end has forgotten that it was added here, or taken out: it is again as stored. */
  revert(member: Member): void {
    if (this.parts !== undefined || this.partlySent.has(member)) return
    const isRepeated = this.#repeated.delete(member)
    if (this.added.delete(member)) {
      if (isRepeated) return
      this.loaded?.delete(member)
      this.links.delete(member, this.added)
    } else if (this.removed.has(member) && this.#unremove(member)) this.loaded?.add(member)
  }

  /** The owner is let go of: the others forget its changes. */
  forgetAtOthers(): void {
    for (const member of [...this.added, ...this.removed]) if (!this.partlySent.has(member)) this.#forgetChange(member)
  }

  /** A member is let go of: it is known by its key from now on. */
  keepKey(key: KeyValue): void {
    if (this.parts !== undefined) return
    for (const members of [this.added, this.removed, this.partlySent]) if (members.delete(key)) members.add(key)
  }

  /** Whether it was added, and that is not stored yet. */
  isUnsent(key: KeyValue): boolean {
    return this.added.has(key)
  }

  /** The entity of that key is deleted: it is nobody's member any more. */
  forget(key: KeyValue): void {
    this.settle(key)
    this.loaded?.delete(key)
    this.links.delete(key, this.added)
  }

  /** What puts everything back as it is now. */
  remember(): () => void {
    const { loaded, stored, dangling, parts } = this
    const binding = this.#binding
    const [added, removed, members] = [[...this.added], [...this.removed], [...(loaded ?? [])]]
    const [unstored, absent, begun] = [[...this.addedThenRemoved], [...this.removedNotStored], [...this.partlySent]]
    const repeated = [...this.#repeated]
    const [restoreParts, restoreLinks] = [parts?.remember(), this.links.remember()]
    return () => {
      restoreParts?.()
      restoreLinks()
      this.added.restore(added)
      this.removed.restore(removed)
      this.addedThenRemoved.restore(unstored)
      this.removedNotStored.restore(absent)
      this.#repeated.restore(repeated)
      this.partlySent.restore(begun)
      loaded?.restore(members)
      this.loaded = loaded
      this.stored = stored
      this.dangling = dangling
      this.parts = parts
      this.#binding = binding
    }
  }

  /** Forgets what is known of the stored members and what was changed; what others still have to be told stays. */
  reset(): void {
    const isBegun = (member: Member): boolean => this.partlySent.has(member)
    const isKept = (member: Member): boolean => isBegun(member) || !this.#forgetChange(member)
    this.added.restore([...this.added].filter((member) => isKept(member) && isBegun(member)))
    this.removed.restore([...this.removed].filter(isKept))
    this.addedThenRemoved.clear()
    this.removedNotStored.clear()
    this.#repeated.clear()
    this.loaded = undefined
    this.stored = undefined
    this.parts?.reset()
    // Those that are stored are brought up to date in place.
    this.links.keep((key, { snapshot }) => snapshot !== undefined || isBegun(key))
  }

  /** False where nothing that is stored was to be removed. */
  #unremove(member: Member): boolean {
    const isUnstored = this.addedThenRemoved.delete(member)
    const isAbsent = this.removedNotStored.delete(member)
    return this.removed.delete(member) && !isUnstored && !isAbsent && !this.partlySent.has(member)
  }

  /** False where the member itself belongs to somebody else by now. */
  #forgetChange(member: Member): boolean {
    const binding = this.#binding
    if (binding === undefined || !isEntity(member) || this.parts !== undefined) return true
    return forgetChange(binding.relation, binding.tracked.entity, member)
  }

  #mayBeStored(member: Member): boolean {
    return this.partlySent.has(member) || this.#repeated.has(member)
  }

  #orphan(member: Member): void {
    if (this.#binding?.relation.orphans !== 'delete') return
    this.removed.add(member)
    this.addedThenRemoved.add(member)
  }

  /** The entity, if the session has it or as soon as it does: then the other side shows the change, too. */
  #resolved(given: Member): Member {
    const binding = this.#binding
    if (binding === undefined || this.parts !== undefined) return given
    const { reader, relation } = binding
    const member = isEntity(given) && reader.isDetached(given) ? (reader.keyOf(given) ?? given) : given
    if (isEntity(member)) return member
    const known = reader.known(relation.target, member)
    if (known !== undefined) return known.state === 'removed' ? member : known.entity
    reader.whenKnown(relation.target, member, (entity) => this.resolveKey(entity))
    return member
  }

  /** Whether taking back a change leaves nothing to send: only where it is known what was stored before it. */
  #isSure(member: Member): boolean {
    if (this.#binding === undefined || this.loaded !== undefined || this.parts !== undefined) return true
    return this.#isTold(member)
  }

  /** Whether the entity itself says whom it belongs to. */
  #isTold(member: Member): boolean {
    if (this.#binding === undefined) return false
    const { kind, inverse } = this.#binding.relation
    return isEntity(member) && kind === 'oneToMany' && inverse !== undefined
  }

  #showAttributes(member: Member): void {
    const binding = this.#binding
    const link = this.links.get(member, this.added)
    if (binding !== undefined && link !== undefined && isEntity(member))
      showAttributes(binding.relation, binding.tracked.entity, member, link)
  }
}
