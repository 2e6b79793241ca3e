import { readProperty } from '../../codec/index.js'
import type { KeyValue } from '../../keys/index.js'
import { userKeyId } from '../../plan/record-key.js'
import type { Binding } from '../contract/binding.js'
import { linkKey, type LinkClass } from '../contract/link-class.js'
import { isEntity, isNew, type Member } from '../contract/member.js'
import { checkMember } from '../contract/relation-errors.js'
import type { CollectionState } from './collection-state.js'
import { keepLink, noteChanged, noteDropped, noteMade } from './links-to-send.js'
import { assignToLink, newLink, replaceLink } from './link-values.js'
import type { RefState } from './ref-state.js'
import { findCollectionState, refStateOf } from './state-of.js'

/** The collection of one end of link records, as people see it: its members are what the links lead to. */
export class LinkedMembers {
  readonly #state: CollectionState
  readonly #binding: Binding
  readonly #links: LinkClass

  constructor(state: CollectionState, binding: Binding, links: LinkClass) {
    this.#state = state
    this.#binding = binding
    this.#links = links
  }

  /** All links are known, and what they lead to is at hand. */
  get isLoaded(): boolean {
    return this.#state.members.every((link) => isEntity(link) && this.#far(link).isLoaded)
  }

  /** Entities that these links lead to; what has no record is left out. */
  membersOf(links: readonly Member[]): object[] {
    return links.flatMap((link) => (isEntity(link) ? (this.#far(link).value ?? []) : []))
  }

  /** Keys that loaded links lead to, and that have no record. */
  get dangling(): KeyValue[] {
    return this.#state.members.flatMap((link) => {
      const far = isEntity(link) ? this.#far(link) : undefined
      return far?.isLoaded === true && far.value === null ? (far.key ?? []) : []
    })
  }

  /** Refuses a member that cannot be one, before anything is changed. */
  check(member: Member): void {
    checkMember(member, { ...this.#binding, relation: { ...this.#binding.relation, target: this.#links.target.name } })
  }

  /** Links the member, or gives the link that is there these values. */
  add(given: Member, values: object = {}): void {
    const member = this.#resolved(given)
    const entity = this.#entityOf(member)
    const known = this.find(member)
    const link = isEntity(known) ? known : newLink(this.#links)
    assignToLink(link, this.#links, values)
    if (link !== known) this.#begin(link, entity ?? member)
    else if (Object.keys(values).length > 0 && !isNew(link, this.#binding.reader)) noteChanged(this.#state, link)
    keepLink(this.#state, link)
    this.#state.add(link)
    if (entity === undefined) {
      this.#far(link).set(member)
      this.#showLater(link, member as KeyValue)
    } else if (!this.#showAt(entity, link)) this.#far(link).set(entity)
  }

  /** Gives a new link its ends before anybody lists it: its key is made of them. */
  #begin(link: object, far: Member): void {
    noteMade(link)
    refStateOf(readProperty(link, this.#links.near) as object).set(this.#binding.tracked.entity)
    this.#far(link).set(far)
    this.#mergeLater(link)
  }

  /** A stored link that the session reads before the flush takes the place of the one that was made to replace it, and its values. */
  #mergeLater(link: object): void {
    const { reader, tracked } = this.#binding
    const { model } = this.#links
    const key = reader.keyOf(link)
    if (key === null || reader.known(model.name, key) !== undefined) return
    reader.whenKnown(model.name, key, (stored) => {
      const added = this.#state.findAdded(key)
      if (stored === link || reader.tracked(link) !== undefined || tracked.state === 'gone') return
      if (added !== link && added !== stored) return
      replaceLink(stored, link, this.#links)
      const entity = this.#entityOf(this.#far(link).target!)
      for (const state of [this.#state, entity && this.#collectionOf(entity)]) state?.resolveKey(stored)
      noteChanged(this.#state, stored)
    })
  }

  remove(given: Member): void {
    const member = this.#resolved(given)
    const link = this.find(member)
    if (link === undefined) return
    const entity = this.#entityOf(member)
    const there = entity && this.#collectionOf(entity)
    if (isEntity(link) && isNew(link, this.#binding.reader)) return this.#drop(link, there)
    this.#state.remove(link)
    this.#hide(link, there, member)
  }

  /** The other end shows the link no more, once the session has it. */
  #hide(link: Member, there: CollectionState | undefined, member: Member): void {
    if (there !== undefined) return there.remove(link)
    if (isEntity(member)) return
    const { reader, tracked } = this.#binding
    reader.whenKnown(this.#links.target.name, member, (entity) => {
      if (tracked.state !== 'gone' && this.#state.isRemoved(link)) this.#collectionOf(entity)?.remove(link)
    })
  }

  /** Forgets a link that is not stored; the one that it would have replaced goes. It keeps its ends, of which its key is made. */
  #drop(link: object, there: CollectionState | undefined): void {
    const key = this.#state.keyOf(link)
    this.#state.mark(link, undefined)
    there?.mark(link, undefined)
    if (this.#binding.reader.tracked(link) !== undefined) noteDropped(this.#state, link)
    else if (key !== null) {
      this.#state.remove(key)
      this.#hide(key, there, this.#far(link).target!)
    }
  }

  /** The link to a member: its entity where the session has it, otherwise its key; undefined while there can be none. */
  find(member: Member): Member | undefined {
    const key = this.keyOf(member)
    if (key === null) return this.#state.addedEntities.find((link) => this.#leadsTo(link, member))
    const added = this.#state.findAdded(key)
    const known = this.#binding.reader.known(this.#links.model.name, key)
    return added ?? (known === undefined || known.shownState === 'removed' ? key : known.entity)
  }

  /** The key of the link to a member; null while one of its ends has none. */
  keyOf(member: Member): KeyValue | null {
    const { reader, tracked } = this.#binding
    const { owners, target } = this.#links
    const owner = reader.keyOf(tracked.entity, owners.name)
    const far = isEntity(member) ? reader.keyOf(member, target.name) : member
    return owner === null || far === null ? null : linkKey(this.#links, owner, far, reader)
  }

  #leadsTo(link: object, member: Member): boolean {
    const { target, key } = this.#far(link)
    return target === member || (key !== null && !isEntity(member) && userKeyId(key) === userKeyId(member))
  }

  #far(link: object): RefState {
    return refStateOf(readProperty(link, this.#links.far) as object)
  }

  /** The other end shows the link too, where a session has it. */
  #showAt(entity: object, link: object): boolean {
    const there = this.#collectionOf(entity)
    there?.add(link)
    return there !== undefined
  }

  #showLater(link: object, key: KeyValue): void {
    const { reader, tracked } = this.#binding
    reader.whenKnown(this.#links.target.name, key, (entity) => {
      const added = this.#addedAs(link)
      if (tracked.state !== 'gone' && added !== undefined) this.#showAt(entity, added)
    })
  }

  /** The link itself, or the stored one that took its place. */
  #addedAs(link: object): object | undefined {
    const key = this.#state.keyOf(link)
    const added = key === null ? undefined : this.#state.findAdded(key)
    return isEntity(added) ? added : undefined
  }

  #collectionOf(entity: object): CollectionState | undefined {
    const { farCollection } = this.#links
    const state =
      farCollection === undefined ? undefined : findCollectionState(readProperty(entity, farCollection) ?? {})
    return state?.binding === undefined || state.binding.tracked.state === 'gone' ? undefined : state
  }

  #entityOf(member: Member): object | undefined {
    if (isEntity(member)) return member
    const known = this.#binding.reader.known(this.#links.target.name, member)
    return known?.shownState === 'removed' ? undefined : known?.entity
  }

  /** An entity that another session has detached stands for its key. */
  #resolved(member: Member): Member {
    const { reader } = this.#binding
    return isEntity(member) && reader.isDetached(member)
      ? (reader.keyOf(member, this.#links.target.name) ?? member)
      : member
  }
}
