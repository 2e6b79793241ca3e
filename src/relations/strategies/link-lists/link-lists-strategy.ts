import { orderedLayout, type BinLayout } from '../../../plan/bin-layout.js'
import { readProperty, type PartCodec } from '../../../codec/index.js'
import type { KeyValue } from '../../../keys/index.js'
import type { EntityModel, RelationModel } from '../../../model/index.js'
import type { Draft, Settle } from '../../../plan/draft.js'
import type { Expression } from '../../../plan/expression.js'
import { isWrittenOrMissing, type Outcome } from '../../../plan/outcome.js'
import type { RecordKey } from '../../../plan/record-key.js'
import type { Value } from '../../../plan/value.js'
import type { CollectionState } from '../../state/collection-state.js'
import type { Tracked } from '../../contract/tracked.js'
import type { Reader } from '../../contract/reader.js'
import type { Cascade } from '../../contract/contributor.js'
import { ALL_MEMBERS } from '../../contract/drain.js'
import { LinkAttributes } from './link-attributes.js'
import { ownerLists } from '../../write/owner-lists.js'
import { layoutOf, storeOf } from '../../write/store-of.js'
import { together } from '../../../plan/plan-draft.js'
import type { LinkValue } from '../../state/relation-side.js'
import { dropLink, LinkUpkeep, type LinkSide } from '../../write/link-upkeep.js'
import { loadListed } from '../../read/load-key-lists.js'
import { isEntity, isNew, type Member } from '../../contract/member.js'
import { progressOf } from '../../state/link-progress.js'
import { collectionStateOf, hasShownChanges } from '../../state/state-of.js'
import type { CollectionMembers } from '../../contract/collection-members.js'
import type { MemberStore } from '../../contract/member-store.js'
import type { EndedLinks } from '../../contract/ended-links.js'
import type { RelationStrategy } from '../../contract/relation-strategy.js'
import { linkListLinks, linkMapLinks } from '../../verify/relation-links.js'
import type { LinkVerification } from '../../contract/link-verification.js'
import { CreatedFor } from '../../write/record-store.js'
import { createdForLinks } from '../../verify/leftover-links.js'
import { listEnd, mapEnd } from '../../verify/link-ends.js'
import { forgetTimeOfEnd, timeOfEnd } from './time-of-end.js'
import { EndedLinkReads, recoded } from './ended-links.js'
import { EndedUpkeep } from './ended-upkeep.js'
import { LinkAttributeReads } from './link-attribute-reads.js'
import type { LinkListSides } from './link-list-sides.js'
import { LinkListsDeletion } from './link-lists-deletion.js'
import { plannedLink } from './planned-link.js'

/** Many to many: on each side an ordered list of the others' keys, or a map from them to the attributes of the link. Whichever side is changed, both are written. */
export class LinkListsStrategy implements RelationStrategy {
  readonly relation: string
  readonly model: RelationModel
  readonly bins: readonly string[]
  readonly layouts: readonly BinLayout[]
  readonly members: CollectionMembers
  readonly store: MemberStore
  readonly verification: LinkVerification
  readonly leftovers: LinkVerification | undefined
  readonly parts: RelationStrategy['parts']
  readonly ended: EndedLinks | undefined
  readonly copied: RelationStrategy['copied']
  readonly #sides: LinkListSides
  readonly #attributes: LinkAttributes | undefined
  readonly #reads: LinkAttributeReads
  readonly #upkeep: LinkUpkeep
  readonly #deletion: LinkListsDeletion
  readonly #endedUpkeep: EndedUpkeep | undefined
  /** Notes in members that this side owns. */
  readonly #createdFor: CreatedFor | undefined
  /** Notes in records of this side that the other side owns. */
  readonly #forOther: readonly CreatedFor[]

  /** `owners`: the class of the owners, or the several that a member may be linked with. */
  constructor(
    model: RelationModel,
    owner: EntityModel,
    target: EntityModel,
    inverse: RelationModel | undefined,
    owners: EntityModel,
    attributes?: PartCodec,
  ) {
    this.relation = model.name
    this.model = model
    this.store = storeOf(owner, model, target, attributes)
    this.bins = this.store.bins
    this.layouts = this.bins.map((bin) => orderedLayout(bin, attributes === undefined ? 'list' : 'map'))
    const otherLists = inverse && ownerLists(target, inverse, owners, { attributes })
    this.#sides = { model, owner, owners, target, inverse, bin: layoutOf(model), store: this.store, otherLists }
    this.#attributes = attributes && new LinkAttributes(attributes, model, target, this.store)
    this.#reads = new LinkAttributeReads(this.#sides, this.#attributes)
    this.copied = this.#attributes && ((stored) => this.#attributes!.copied(stored))
    this.parts = attributes && {
      class: attributes.model.class,
      changed: ({ entity }) => this.#attributes!.unsent(this.#state(entity)),
    }
    this.members = this.store.members
    this.verification = attributes === undefined ? linkListLinks(this.#sides) : linkMapLinks(this.#sides, attributes)
    this.leftovers = createdForLinks(model, owner, target, {
      held: (here, other) =>
        attributes === undefined
          ? listEnd(this.store, model.name, here, other)
          : mapEnd(this.store, model.name, here, other, attributes),
    })
    this.#createdFor = CreatedFor.of(owner, model, target)
    this.#forOther = inverse === undefined ? [] : CreatedFor.ofEach(target, inverse, owner)
    const name = `${owner.name}.${model.name}`
    if (attributes !== undefined && model.endedBin !== undefined) {
      this.ended = new EndedLinkReads(this.#sides, attributes)
      this.#endedUpkeep = new EndedUpkeep(name, (link) => recoded(attributes, link))
    }
    this.#deletion = new LinkListsDeletion(this.#sides, this.ended)
    this.#upkeep = new LinkUpkeep(this.#sides.bin, name, this.#endedUpkeep)
  }

  hasChanges({ entity }: Tracked): boolean {
    const state = this.#state(entity)
    return hasShownChanges(state) || this.#changed(state).length > 0
  }

  cascadeKeys(tracked: Tracked, { room, isAgain }: Cascade, reader: Reader): Promise<readonly KeyValue[]> | undefined {
    const { onDelete } = this.model
    // Links that came since are found by a check of their own, once the record is marked.
    if (onDelete === 'detach' && (this.#sides.inverse === undefined || isAgain)) return undefined
    return this.members.keys(tracked, reader, onDelete === 'restrict' ? ALL_MEMBERS : { offset: 0, count: room + 1 })
  }

  async cascade(tracked: Tracked, reach: Cascade, reader: Reader, listed?: readonly KeyValue[]): Promise<void> {
    if (tracked.state === 'removed') return listed && this.#deletion.reachOnDelete(tracked, listed, reach, reader)
    for (const member of this.#state(tracked.entity).addedEntities) {
      if (isNew(member, reader)) reach.save(member)
    }
  }

  save(tracked: Tracked, draft: Draft, reader: Reader): void | Promise<void> {
    const state = this.#state(tracked.entity)
    if (tracked.state === 'new') this.store.create(tracked, draft)
    return together([
      ...state.added.map((member) => this.#plan('add', tracked, member, state, draft, reader)),
      ...state.removed.map((member) => this.#plan('remove', tracked, member, state, draft, reader)),
      ...this.#changed(state).map(([key, link]) => this.#planAttributes(tracked, key, link, state, draft, reader)),
    ])
  }

  remove(tracked: Tracked, draft: Draft, reader: Reader): Promise<void> {
    return this.#deletion.remove(tracked, draft, reader)
  }

  load(level: readonly Tracked[], reader: Reader, along?: readonly string[]): Promise<readonly Tracked[]> {
    const attributes = this.#attributes
    return loadListed(this.model, this.#sides.target, level, reader, this.store, {
      along,
      keysIn: (stored) => this.#sides.bin.keysIn(stored, this.#sides.target),
      take: attributes && ((owner, state, stored) => this.#reads.take(attributes, owner, state, stored, reader)),
    })
  }

  attributesOf(owner: Tracked, member: Member, reader: Reader): Promise<object | null> {
    return this.#reads.attributesOf(owner, member, reader)
  }

  storedLinks(owner: Tracked, reader: Reader, only?: Expression): Promise<readonly (readonly [KeyValue, object])[]> {
    return this.#reads.storedLinks(owner, reader, only)
  }

  check(owner: Tracked, stored: Value | undefined, reader: Reader): void {
    this.#reads.check(owner, stored, reader)
  }

  attached(owner: Tracked, reader: Reader, stored: Value | undefined, isRead: boolean): void {
    this.#reads.attached(owner, reader, stored, isRead)
  }

  #changed(state: CollectionState): [KeyValue, LinkValue][] {
    return this.#attributes === undefined || state.links.isEmpty ? [] : [...this.#attributes.changed(state)]
  }

  /** Only what changed of them, on both sides. */
  #planAttributes(
    tracked: Tracked,
    key: KeyValue,
    link: LinkValue,
    state: CollectionState,
    draft: Draft,
    reader: Reader,
  ): void | Promise<void> {
    const attributes = this.#attributes!
    const { ends, ref, id } = plannedLink(this.#sides, 'add', tracked, key, state, reader)
    if (!draft.once(`attributes ${id}`)) return
    const snapshot = attributes.snapshot(link)
    const settle = (): void => link.confirm(snapshot)
    const progress = progressOf(key, ends.length, state, draft, settle, () => link.notePartlySent())
    return together(
      ends.map(({ store, key: owner }, i) => {
        const member = ends[1 - i]?.ref ?? ref
        const change = attributes.patch(state, key, link, store.bin, member)
        const settled = (outcome: Outcome): boolean => progress(isWritten(outcome), outcome)
        return store.change({ owner, member }, change, draft, 'add references', settled, reader)
      }),
    )
  }

  #state(entity: object): CollectionState {
    return collectionStateOf(readProperty(entity, this.relation) as object)
  }

  #plan(
    change: 'add' | 'remove',
    tracked: Tracked,
    member: Member,
    state: CollectionState,
    draft: Draft,
    reader: Reader,
  ): void | Promise<void> {
    const { ends, to, ref, id, pair, settle } = plannedLink(this.#sides, change, tracked, member, state, reader)
    if (!draft.once(`${change} ${id}`)) return
    const late = this.#noteMember(change, tracked, member, to, draft, reader)
    const attributes = change === 'add' ? this.#attributes?.encode(state, member) : undefined
    const link = change === 'add' ? state.links.get(member) : undefined
    const snapshot = link && this.#attributes?.snapshot(link)
    const isReplaced = state.isReplaced(member)
    const endedAt = change === 'remove' && this.ended !== undefined ? timeOfEnd(state, member) : undefined
    const isAlone = ends.length === 1 && tracked.state !== 'new'
    const linked = (): void => {
      settle()
      if (endedAt !== undefined) forgetTimeOfEnd(state, member)
      link?.confirm(snapshot)
      if (pair !== undefined) this.#upkeep.check(pair, draft)
      else if (isAlone) this.#endedUpkeep?.checkAlone(ends[0], ref, draft)
    }
    const noteless = progressOf(member, late.length, state, draft, linked)
    const progress = progressOf(member, ends.length, state, draft, () => {
      if (late.length === 0) return linked()
      for (const drop of late) drop((outcome) => noteless(isWrittenOrMissing(outcome), outcome))
    })
    return together(
      ends.map((end, i) => {
        const link = { owner: end.key, member: ends[1 - i]?.ref ?? ref, ...end.written }
        if (change === 'remove') {
          const removed = (outcome: Outcome): boolean => progress(isWrittenOrMissing(outcome), outcome)
          return end.store.remove({ ...link, endedAt }, draft, 'remove references', removed, reader)
        }
        const added = (outcome: Outcome): boolean => {
          // The other end must not point to this one, which is gone.
          const back = ends[1 - i]
          if (back && (outcome.reason === 'missing' || outcome.reason === 'guard'))
            this.#rollback(back, end, member, state, draft)
          return progress(isWritten(outcome), outcome)
        }
        return end.store.add({ ...link, attributes, isReplaced }, draft, 'add references', added, reader)
      }),
    )
  }

  /** Notes whom a new member is created for; returns how notes are dropped that must stay until both ends are stored. */
  #noteMember(
    change: 'add' | 'remove',
    tracked: Tracked,
    member: Member,
    to: RecordKey,
    draft: Draft,
    reader: Reader,
  ): readonly ((settle: Settle) => void)[] {
    const other = isEntity(member) ? reader.tracked(member) : undefined
    if (change === 'remove') {
      if (this.#sides.inverse === undefined && other?.state !== 'removed') this.#createdFor?.unlinked(to, draft)
      return []
    }
    const forOther = this.#forOther.find(({ ownerSet }) => ownerSet === to.set)
    this.#createdFor?.note(other, tracked.key, draft)
    forOther?.note(tracked, to, draft)
    // The record of the member is written with the link, where it stores one.
    if (this.#sides.otherLists === undefined) return []
    return [
      ...this.#dropNote(this.#createdFor, other, this.#sides.otherLists.at(to), draft),
      ...this.#dropNote(forOther, tracked, this.store, draft),
    ]
  }

  /** Until a companion says whom the member belongs to, only the note does. */
  #dropNote(
    createdFor: CreatedFor | undefined,
    member: Tracked | undefined,
    store: MemberStore,
    draft: Draft,
  ): readonly ((settle: Settle) => void)[] {
    if (createdFor === undefined || member === undefined || !createdFor.isNoted(member)) return []
    if (store.isApart && !draft.isTransaction)
      return [(settle) => createdFor.linked(member, 'add references', draft, settle)]
    createdFor.linked(member, 'add references', draft)
    return []
  }

  #rollback(from: LinkSide, to: LinkSide, member: Member, state: CollectionState, draft: Draft): void {
    dropLink(from, to, draft, (outcome) => {
      const isDone = isWrittenOrMissing(outcome)
      if (isDone) state.turnedBack(member)
      return isDone
    })
  }
}

const isWritten = ({ state }: Outcome): boolean => state === 'written'
