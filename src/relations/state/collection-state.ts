import type { KeyValue } from '../../keys/index.js'
import { userKeyId } from '../../plan/record-key.js'
import { takeFromOthers } from './unloaded-parents.js'
import type { Binding } from '../contract/binding.js'
import { afterAdd, afterRemove, isTold, knowledgeOf } from './known-membership.js'
import { MembersAndChanges } from './members-and-changes.js'
import { isEntity, type Member } from '../contract/member.js'
import type { HeldParts } from './held-parts.js'
import { PreviousParents } from './lists-to-tell.js'
import {
  LinkValue,
  forgetChange,
  showAttributes,
  showLink,
  showUnlink,
  type Knowledge,
  type RelationSide,
} from './relation-side.js'
import { forgetLink, forgetRelinked } from './unsent-link.js'
import { rememberFields } from './remember-fields.js'
import { checkMember, noAttributes } from '../contract/relation-errors.js'

/** A collection of an entity, in step with the other sides of its links where the session has them. */
export class CollectionState extends MembersAndChanges implements RelationSide {
  readonly previousParents = new PreviousParents()
  private bound: Binding | undefined
  private held: HeldParts | undefined
  #loading: Promise<void> | undefined

  get binding(): Binding | undefined {
    return this.bound
  }

  /** Parts, if the members are stored in the owner's record. */
  get parts(): HeldParts | undefined {
    return this.held
  }

  holdParts(parts: HeldParts): void {
    this.held = parts
  }

  /** From now on the session's knowledge of keys is used, and links that were made before are shown on their other sides. */
  bind(binding: Binding): void {
    if (!this.links.isEmpty && binding.relation.attributes === undefined) throw noAttributes(binding)
    this.bound = binding
    const keyOf =
      binding.strategy.keyOf ??
      ((entity: object): KeyValue | null => binding.reader.keyOf(entity, binding.relation.target))
    this.changes.keyOf = keyOf
    this.loaded.keyOf = keyOf
    this.relinked()
    for (const member of this.addedEntities) {
      showLink(binding.relation, binding.tracked.entity, member)
      this.#showAttributes(member)
    }
  }

  get isChanged(): boolean {
    return this.changes.size > 0 || this.previousParents.size > 0
  }

  /** Refuses a member that cannot be one, before anything is changed. */
  check(given: Member): void {
    if (this.parts !== undefined) this.parts.check(given)
    else if (this.bound !== undefined) checkMember(given, this.bound)
  }

  /** The user's own change. */
  add(given: Member): void {
    const member = this.#resolved(given)
    this.addFromInverse(member)
    const { binding } = this
    if (binding === undefined) return
    if (isEntity(member)) showLink(binding.relation, binding.tracked.entity, member)
    else takeFromOthers(this, binding, member)
  }

  /** Adds a member with attributes; those of an existing link are replaced. */
  link(given: Member, attributes: object): void {
    const member = this.#resolved(given)
    const { binding } = this
    if (binding !== undefined && binding.relation.attributes === undefined) throw noAttributes(binding)
    this.change(member, 'added', true)
    this.add(member)
    this.links.set(member, new LinkValue(attributes))
    this.#showAttributes(member)
  }

  remove(given: Member): void {
    const member = this.#resolved(given)
    const { binding } = this
    this.removeFromInverse(member, binding?.relation.orphans === 'delete')
    if (binding !== undefined && isEntity(member)) showUnlink(binding.relation, binding.tracked.entity, member)
  }

  /** A change that the other side knows of already. */
  addFromInverse(member: Member): void {
    if (this.parts !== undefined) return this.parts.include(member)
    this.change(member, afterAdd(this.changes.get(member)?.kind, this.#knowledge(member)))
  }

  removeFromInverse(member: Member, makesOrphan = false): void {
    if (this.parts !== undefined) return this.parts.exclude(member)
    const before = this.changes.get(member)?.kind
    const kind = afterRemove(before, this.#knowledge(member))
    this.change(member, kind === 'orphaned' && before === 'added' && !makesOrphan ? undefined : kind)
    this.links.delete(member)
  }

  /** Another parent takes in a member that is known by its key alone. */
  giveAway(key: KeyValue): void {
    this.rollback(key)
    this.loaded.members?.delete(key)
  }

  /** Discards an unsent addition: the member is deleted before it was ever stored as one. */
  rollback(key: KeyValue): void {
    const change = this.changes.get(key)
    if (change?.kind !== 'added') return
    const mayBeStored = this.isUnderWay(change) || this.#knowledge(key) === 'stored'
    this.change(key, mayBeStored ? 'removed' : undefined)
    this.links.delete(key)
  }

  /** The other end has forgotten that it was added here, or taken out: it is again as stored. */
  revert(member: Member): void {
    const change = this.changes.get(member)
    if (this.parts !== undefined || change?.isPartlySent === true) return
    if (change?.kind === 'added' || this.links.get(member)?.snapshot === undefined) this.links.delete(member)
    if (change !== undefined) this.change(member, undefined)
  }

  /** The entity says again that it belongs here: a removal that has reached one of the records is turned back. */
  restore(entity: object): void {
    if (this.isPartlySent(entity)) this.addFromInverse(entity)
    else this.revert(entity)
  }

  /** Discards an unsent addition: the entity points elsewhere. */
  withdraw(entity: object): void {
    const key = this.keyOf(entity)
    if (key !== null) this.rollback(key)
  }

  mayHave(): boolean {
    return true
  }

  wordOf(): Knowledge {
    return 'unknown'
  }

  shareLink(member: Member, link: LinkValue): void {
    this.links.set(member, link)
    this.relinked()
  }

  /** The owner is detached: the others forget its changes. */
  forgetAtOthers(): void {
    for (const { member, isPartlySent } of [...this.changes]) if (!isPartlySent) this.#forgetChange(member)
  }

  /** A member is detached: it is known by its key from now on. */
  keepKey(key: KeyValue): void {
    const change = this.changes.get(key)
    if (this.parts === undefined && change !== undefined && isEntity(change.member))
      this.replace(change, { ...change, member: key, shown: change.member })
  }

  /** True when it was added, and that is not stored yet. */
  isUnsent(key: KeyValue): boolean {
    return this.isAdded(key)
  }

  /** The entity of that key is deleted: it is nobody's member any more. */
  forget(key: KeyValue): void {
    this.changes.delete(key)
    this.loaded.confirm(key, false)
    this.links.delete(key)
  }

  /** The entity of that key is deleted softly: it stays listed, and is not shown. */
  hide(key: KeyValue): void {
    this.forget(key)
  }

  /** Drops removals of members that are known not to be stored. */
  dropUnlisted(listed: readonly KeyValue[]): void {
    const { changes, binding } = this
    const removed = [...changes].filter(({ kind, isPartlySent }) => kind === 'removed' && !isPartlySent)
    if (removed.length === 0) return
    const stored = new Set(listed.map(userKeyId))
    for (const { member } of removed) {
      const key = this.keyOf(member)
      if (!isTold(member, binding!) && key !== null && !stored.has(userKeyId(key))) changes.delete(member)
    }
  }

  /** Shares a load in flight with all callers. */
  loadOnce(load: () => Promise<void>): Promise<void> {
    return (this.#loading ??= load().finally(() => (this.#loading = undefined)))
  }

  /** An entity whose key was added or removed is at hand now. */
  resolveKey(entity: object | undefined): void {
    const { relation, tracked } = this.binding!
    const change = entity === undefined ? undefined : this.changes.get(entity)
    if (entity === undefined || change === undefined || tracked.state === 'gone') return
    this.replace(change, { ...change, member: entity, shown: undefined })
    this.loaded.resolve(entity)
    if (change.kind !== 'added') return showUnlink(relation, tracked.entity, entity)
    showLink(relation, tracked.entity, entity)
    this.#showAttributes(entity)
  }

  /** Nothing of it is stored: what it holds is still to be added, as it is in a collection that no session has had, and is all there is. */
  startAnew(): void {
    this.parts?.startAnew()
    this.held = undefined
    const members = this.loaded.members === undefined ? this.added : this.members
    if (this.bound !== undefined || this.loaded.members !== undefined || members.length < this.changes.size) {
      this.changes.clear()
      for (const member of members) this.#addAnew(member)
    }
    this.previousParents.clear()
    this.loaded.fill([])
  }

  /** A stored entity that another session has detached would be created a second time: its key is added. */
  #addAnew(member: Member): void {
    const reader = this.bound?.reader
    const key =
      isEntity(member) && reader?.isDetached(member) === true ? reader.keyOf(member, this.bound!.relation.target) : null
    if (key === null) this.mark(member, 'added')
    else this.changes.put({ kind: 'added', member: key, isPartlySent: false, shown: member as object })
  }

  /** Forgets what is known of the stored members and what was changed; what others still have to be told stays. */
  reset(): void {
    for (const { kind, member, isPartlySent } of [...this.changes]) {
      if (isPartlySent) continue
      // A member that belongs to another owner by now stays removed.
      const isForgotten = this.#forgetChange(member)
      if (isForgotten || kind === 'added') this.changes.delete(member)
    }
    if (this.bound !== undefined) forgetRelinked(this.links, this.bound, (key) => this.isPartlySent(key))
    this.loaded.clear()
    this.parts?.reset()
    // Stored links are updated in place by the next read.
    this.links.keep((key, link) => link.snapshot !== undefined || this.isPartlySent(key))
  }

  /** Returns a function that restores the current state. */
  remember(): () => void {
    const restore = rememberFields(this)
    return () => {
      restore()
      this.relinked()
    }
  }

  protected relinked(): void {
    this.bound?.tracked.relinked?.()
  }

  #knowledge(member: Member): Knowledge {
    const change = this.changes.get(member)
    if (change !== undefined && this.isUnderWay(change)) return 'unknown'
    return knowledgeOf(member, this.loaded, this.binding)
  }

  /** False where the member itself belongs to somebody else by now. */
  #forgetChange(member: Member): boolean {
    const { binding } = this
    if (binding === undefined || this.parts !== undefined) return true
    if (forgetLink(member, binding) || !isEntity(member)) return true
    return forgetChange(binding.relation, binding.tracked.entity, member)
  }

  /** The entity, if the session has it or as soon as it does: then the other side shows the change, too. */
  #resolved(given: Member): Member {
    const { binding } = this
    if (binding === undefined || this.parts !== undefined) return given
    const { reader, relation } = binding
    const member = isEntity(given) && reader.isDetached(given) ? (reader.keyOf(given, relation.target) ?? given) : given
    if (isEntity(member)) return member
    const known = reader.known(relation.target, member)
    if (known !== undefined) return known.shownState === 'removed' ? member : known.entity
    reader.whenKnown(relation.target, member, (entity) => this.resolveKey(entity))
    return member
  }

  #showAttributes(member: Member): void {
    const { binding } = this
    const link = this.links.get(member)
    if (binding !== undefined && link !== undefined && isEntity(member))
      showAttributes(binding.relation, binding.tracked.entity, member, link)
  }
}
