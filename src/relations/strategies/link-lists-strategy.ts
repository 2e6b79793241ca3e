import { orderedLayout, type BinLayout } from '../../plan/bin-layout.js'
import { readProperty, type PartCodec } from '../../codec/index.js'
import type { KeyValue } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import { remove, type WriteCommand } from '../../plan/command.js'
import type { Draft, Settle } from '../../plan/draft.js'
import { readExpression } from '../../plan/operations.js'
import { isWrittenOrMissing, type Outcome } from '../../plan/outcome.js'
import { recordId, userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import type { Value } from '../../plan/value.js'
import { lookingAgain } from '../write/explain-reads.js'
import type { CollectionState } from '../state/collection-state.js'
import type { Tracked } from '../contract/tracked.js'
import type { Reader } from '../contract/reader.js'
import type { Cascade } from '../contract/contributor.js'
import { ALL_MEMBERS, type Drain, type Fate } from '../contract/drain.js'
import { firstForbidding } from '../cascade/restrict.js'
import { LinkAttributes } from './link-attributes.js'
import type { LinkBin } from '../write/link-bin.js'
import { layoutOf, storeOf } from '../write/store-of.js'
import { together } from '../write/together.js'
import type { LinkValue } from '../state/link-attributes-of.js'
import { LinkUpkeep, linkFrom, type LinkPair, type LinkSide } from '../write/link-upkeep.js'
import { loadListed } from '../read/load-key-lists.js'
import { isEntity, isNew, type Member } from '../contract/member.js'
import { findAndReachLeaving } from '../cascade/reach-removed.js'
import { progressOf } from '../state/link-progress.js'
import { noAttributes, restricted } from '../contract/relation-errors.js'
import { collectionStateOf, hasShownChanges } from '../state/state-of.js'
import { storedKeys } from '../contract/stored-keys.js'
import type { CollectionMembers } from '../contract/collection-members.js'
import type { MemberStore } from '../contract/member-store.js'
import type { RelationStrategy } from '../contract/relation-strategy.js'
import { linkListLinks, linkMapLinks } from '../verify/relation-links.js'
import type { LinkVerification } from '../contract/link-verification.js'
import { CreatedFor } from '../write/record-store.js'
import { createdForLinks } from '../verify/leftover-links.js'
import { listEnd, mapEnd } from '../verify/link-ends.js'

/** A link, whichever side it was changed on: where it is stored, at one end or at both, and the record it leads to. */
interface PlannedLink {
  readonly ends: readonly LinkSide[]
  readonly to: RecordKey
  readonly id: string
  /** Both ends, where others may change the link at the same time: nobody knows of a record that is just created. */
  readonly pair?: LinkPair
  readonly settle: () => void
}

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
  readonly #owner: EntityModel
  readonly #target: EntityModel
  readonly #inverse: RelationModel | undefined
  /** Where the other side keeps its links. */
  readonly #otherStore: MemberStore | undefined
  readonly #bin: LinkBin
  readonly #attributes: LinkAttributes | undefined
  readonly #upkeep: LinkUpkeep
  /** Notes in members that this side owns. */
  readonly #createdFor: CreatedFor | undefined
  /** Notes in records of this side that the other side owns. */
  readonly #forOther: CreatedFor | undefined

  constructor(
    model: RelationModel,
    owner: EntityModel,
    target: EntityModel,
    inverse: RelationModel | undefined,
    attributes?: PartCodec,
  ) {
    this.relation = model.name
    this.model = model
    this.store = storeOf(owner, model, target, attributes)
    this.bins = this.store.bins
    this.layouts = this.bins.map((bin) => orderedLayout(bin, attributes === undefined ? 'list' : 'map'))
    this.#otherStore = inverse && storeOf(target, inverse, owner, attributes)
    this.#bin = layoutOf(model)
    this.#attributes = attributes && new LinkAttributes(attributes, model, target, this.store)
    this.parts = attributes && {
      class: attributes.model.class,
      changed: ({ entity }) => this.#attributes!.unsent(this.#state(entity)),
    }
    this.members = this.store.members
    this.verification =
      attributes === undefined
        ? linkListLinks(model, this.store, target, this.#otherStore)
        : linkMapLinks(model, this.store, target, this.#otherStore, attributes)
    this.leftovers = createdForLinks(model, owner, target, {
      held: (here, other) =>
        attributes === undefined
          ? listEnd(this.store, model.name, here, other)
          : mapEnd(this.store, model.name, here, other, attributes),
    })
    this.#createdFor = CreatedFor.of(owner, model, target)
    this.#forOther = inverse && CreatedFor.of(target, inverse, owner)
    this.#owner = owner
    this.#target = target
    this.#inverse = inverse
    this.#upkeep = new LinkUpkeep(this.#bin, `${owner.name}.${model.name}`)
  }

  hasChanges({ entity }: Tracked): boolean {
    const state = this.#state(entity)
    return hasShownChanges(state) || this.#changed(state).length > 0
  }

  cascadeKeys(tracked: Tracked, { room, isAgain }: Cascade, reader: Reader): Promise<readonly KeyValue[]> | undefined {
    const { onDelete } = this.model
    // Links that came since are found by a check of their own, once the record is marked.
    if (onDelete === 'detach' && (this.#inverse === undefined || isAgain)) return undefined
    return this.members.keys(tracked, reader, onDelete === 'restrict' ? ALL_MEMBERS : { offset: 0, count: room + 1 })
  }

  async cascade(tracked: Tracked, reach: Cascade, reader: Reader, listed?: readonly KeyValue[]): Promise<void> {
    if (tracked.state === 'removed') return listed && this.#reachOnDelete(tracked, listed, reach, reader)
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

  /** The others forget it first; until it is gone, the record says that it is on its way. */
  async remove(tracked: Tracked, draft: Draft, reader: Reader): Promise<void> {
    if (this.#inverse === undefined) {
      if (this.store.isApart) await this.store.close(tracked, draft, reader)
      return
    }
    const keys = await this.members.keys(tracked, reader)
    const others = keys.map((key) => reader.recordKey(this.#target, key))
    if (!draft.isTransaction) this.#askLast(tracked, others, draft)
    if (keys.length === 0 && !this.store.isApart) return
    draft.follow('mark', lookingAgain(tracked, this.model))
    const told = new Set(others.map(({ key }) => userKeyId(key)))
    const closing = this.store.close(tracked, draft, reader, (members) =>
      this.#forgetMore(tracked, members, told, draft),
    )
    await together([closing, ...others.map((other) => this.#forget(tracked, other, draft, reader))])
  }

  /** Somebody may have linked it after its list was read, and before it was marked or deleted: the delete tells. */
  #askLast(tracked: Tracked, others: readonly RecordKey[], draft: Draft): void {
    const { model, key } = tracked
    const [bin] = this.store.bins
    if (bin === undefined) return
    const told = new Set(others.map(({ key: other }) => userKeyId(other)))
    const name = `_sk.links${this.model.index}`
    const operations = [readExpression(name, this.#bin.keys(bin))]
    const command = remove(model.name, key, { operations, durableDelete: model.durableDelete })
    draft.add('delete', command, (outcome) => {
      const { namespace, set } = this.#target
      for (const other of (outcome.bins[name] ?? []) as readonly UserKey[])
        if (!told.has(userKeyId(other))) {
          const at = { owner: { namespace, set, key: other }, member: key.key }
          void this.#otherStore?.remove(at, draft, 'undo', isWrittenOrMissing)
        }
      return isWrittenOrMissing(outcome)
    })
  }

  /** Somebody may have linked it after its list was read; now that it is marked, no more can come. */
  #forgetMore(tracked: Tracked, members: readonly UserKey[], told: ReadonlySet<string>, draft: Draft): void {
    const { namespace, set } = this.#target
    for (const key of members) if (!told.has(userKeyId(key))) void this.#forget(tracked, { namespace, set, key }, draft)
  }

  #forget({ key: { key: member } }: Tracked, owner: RecordKey, draft: Draft, reader?: Reader): void | Promise<void> {
    return this.#otherStore!.remove({ owner, member }, draft, 'remove references', isWrittenOrMissing, reader)
  }

  load(level: readonly Tracked[], reader: Reader, along?: readonly string[]): Promise<readonly Tracked[]> {
    const attributes = this.#attributes
    return loadListed(this.model, this.#target, level, reader, this.store, {
      along,
      keysIn: (stored) => this.#bin.keysIn(stored, this.#target),
      take: attributes && ((owner, state, stored) => this.#takeAttributes(attributes, owner, state, stored, reader)),
    })
  }

  async attributesOf(owner: Tracked, member: Member, reader: Reader): Promise<object | null> {
    const state = this.#state(owner.entity)
    const key = state.keyOf(member)
    if (this.#attributes === undefined) throw noAttributes(state.binding!)
    return key === null ? null : this.#attributes.read(owner, key, state, reader)
  }

  async storedLinks(owner: Tracked, reader: Reader): Promise<readonly (readonly [KeyValue, object])[]> {
    const [stored = {}] = await this.store.read([owner.key], reader)
    const place = { model: this.#owner, key: owner.key, property: this.relation }
    storedKeys(place, this.#target, () => this.#bin.keysIn(stored, this.#target), reader)
    return this.#attributesIn(stored, reader).map(([key, value]) => [
      key,
      this.#attributes!.decode(owner, key, value).value,
    ])
  }

  check(owner: Tracked, stored: Value | undefined, reader: Reader): void {
    const { links } = this.#state(owner.entity)
    if (links.isEmpty) return
    const known = new Set(links.entries.map(([key]) => userKeyId(key)))
    for (const [key, value] of this.#attributesIn(stored ?? {}, reader))
      if (known.has(userKeyId(key))) this.#attributes!.decode(owner, key, value)
  }

  /** Attributes that were known before the record was read are kept up to date. */
  attached({ entity }: Tracked, reader: Reader, stored: Value | undefined, isRead: boolean): void {
    const state = this.#state(entity)
    if (!isRead || state.links.isEmpty) return
    const entries = this.#attributesIn(stored ?? {}, reader)
    this.#attributes!.refill(state, new Map(entries.map(([key, value]) => [userKeyId(key), value])))
  }

  #takeAttributes(
    attributes: LinkAttributes,
    owner: Tracked,
    state: CollectionState,
    stored: Value,
    reader: Reader,
  ): void {
    for (const [key, value] of this.#attributesIn(stored, reader)) attributes.take(owner, key, value, state, reader)
  }

  #attributesIn(stored: Value, reader: Reader): [KeyValue, Value][] {
    const values = stored as { readonly [key: string]: Value }
    return this.#bin
      .keysIn(stored, this.#target)
      .map((key) => [reader.fromStored(this.#target, key), values[String(key)]])
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
    const { ends, to, id } = this.#link('add', tracked, key, state, reader)
    if (!draft.once(`attributes ${id}`)) return
    const snapshot = attributes.snapshot(link)
    const settle = (): void => {
      link.snapshot = snapshot
      link.isPartlySent = false
    }
    const progress = progressOf(key, ends.length, state, draft, settle, () => (link.isPartlySent = true))
    return together(
      ends.map(({ store, key: owner }, i) => {
        const member = (ends[1 - i]?.key ?? to).key
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
    const { ends, to, id, pair, settle } = this.#link(change, tracked, member, state, reader)
    if (!draft.once(`${change} ${id}`)) return
    const late = this.#noteMember(change, tracked, member, to, draft, reader)
    const attributes = change === 'add' ? this.#attributes?.encode(state, member) : undefined
    const link = change === 'add' ? state.links.get(member) : undefined
    const snapshot = link && this.#attributes?.snapshot(link)
    const linked = (): void => {
      settle()
      if (link !== undefined) link.snapshot = snapshot
      if (pair !== undefined) this.#upkeep.check(pair, draft)
    }
    const noteless = progressOf(member, late.length, state, draft, linked)
    const progress = progressOf(member, ends.length, state, draft, () => {
      if (late.length === 0) return linked()
      for (const drop of late) drop((outcome) => noteless(isWrittenOrMissing(outcome), outcome))
    })
    return together(
      ends.map((end, i) => {
        const link = { owner: end.key, member: (ends[1 - i]?.key ?? to).key, isOwnerNew: end.isNew }
        if (change === 'remove') {
          const removed = (outcome: Outcome): boolean => progress(isWrittenOrMissing(outcome), outcome)
          return end.store.remove(link, draft, 'remove references', removed, reader)
        }
        const added = (outcome: Outcome): boolean => {
          // This end is gone, so the other must not point to it.
          const back = ends[1 - i]
          if (back && (outcome.reason === 'missing' || outcome.reason === 'guard'))
            this.#takeBack(back, end, member, state, draft)
          return progress(isWritten(outcome), outcome)
        }
        return end.store.add({ ...link, attributes }, draft, 'add references', added, reader)
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
      if (this.#inverse === undefined && other?.state !== 'removed') this.#createdFor?.letGo(to, draft)
      return []
    }
    this.#createdFor?.note(other, tracked.key, draft)
    this.#forOther?.note(tracked, to, draft)
    // The record of the member is written with the link, where it stores one.
    if (this.#inverse === undefined) return []
    return [
      ...this.#dropNote(this.#createdFor, other, this.#otherStore, draft),
      ...this.#dropNote(this.#forOther, tracked, this.store, draft),
    ]
  }

  /** Until a companion says whom the member belongs to, only the note does. */
  #dropNote(
    createdFor: CreatedFor | undefined,
    member: Tracked | undefined,
    store: MemberStore | undefined,
    draft: Draft,
  ): readonly ((settle: Settle) => void)[] {
    if (createdFor === undefined || member === undefined || !createdFor.isNoted(member)) return []
    if (store?.isApart === true && !draft.isTransaction)
      return [(settle) => createdFor.linked(member, 'add references', draft, settle)]
    createdFor.linked(member, 'add references', draft)
    return []
  }

  #takeBack(from: LinkSide, to: LinkSide, member: Member, state: CollectionState, draft: Draft): void {
    void from.store.remove(linkFrom(from, to), draft, 'undo', (outcome) => {
      const isDone = isWrittenOrMissing(outcome)
      if (isDone) state.turnedBack(member)
      return isDone
    })
  }

  #link(
    change: 'add' | 'remove',
    tracked: Tracked,
    member: Member,
    state: CollectionState,
    reader: Reader,
  ): PlannedLink {
    const here: LinkSide = { store: this.store, key: tracked.key, isNew: tracked.state === 'new' }
    const key = state.keyOf(member)!
    const to = reader.recordKey(this.#target, key)
    const id = linkId(
      this.model,
      `${recordId(here.key)}#${this.store.bin}`,
      `${recordId(to)}#${this.#inverse?.bin ?? ''}`,
    )
    const confirm = change === 'add' ? 'confirmAdded' : 'confirmRemoved'
    const settleHere = (): void => state[confirm](member)
    if (this.#inverse === undefined || this.#otherStore === undefined)
      return { ends: [here], to, id, settle: settleHere }
    const other = isEntity(member) ? reader.tracked(member) : reader.known(this.#target.name, key)
    const there: LinkSide = { store: this.#otherStore, key: to, isNew: other?.state === 'new' }
    const inverse = this.#inverse.name
    const settle = (): void => {
      settleHere()
      if (other) collectionStateOf(readProperty(other.entity, inverse) as object)[confirm](tracked.entity)
    }
    const isFresh = [tracked, other].some((end) => end?.state === 'new' && end.key.isReused !== true)
    return { ends: [here, there], to, id, settle, ...(isFresh ? {} : { pair: this.#pair(here, there) }) }
  }

  /** Chooses the owner of a link. In a relation that is its own inverse either end may be, but all sessions must choose the same one. */
  #pair(here: LinkSide, there: LinkSide): LinkPair {
    const isOwner = this.model.inverse === this.model.name ? recordId(here.key) < recordId(there.key) : this.model.owner
    return isOwner ? { owner: here, other: there } : { owner: there, other: here }
  }

  #drain(owner: Tracked, reader: Reader): Drain {
    const keyOf = (key: KeyValue): RecordKey => reader.recordKey(this.#target, key)
    const trim = (keys: readonly KeyValue[]): readonly WriteCommand[] =>
      this.store.trim(
        owner.key,
        keys.map((key) => keyOf(key).key),
      )
    const release = (key: KeyValue): WriteCommand | undefined =>
      this.#otherStore?.removal({ owner: keyOf(key), member: owner.key.key })
    return {
      owner,
      className: this.#owner.name,
      property: this.relation,
      target: this.#target,
      fate: this.model.onDelete === 'cascade' ? { kind: 'delete' } : this.#lettingGo(owner, release, reader),
      chunks: (count) => this.store.drained(owner, reader, count),
      survey: (count) => this.store.surveyed(owner, reader, count),
      trim,
    }
  }

  /** Members that keep their links apart are changed as any others are: only so a link is found wherever they keep it. */
  #lettingGo(
    owner: Tracked,
    release: (key: KeyValue) => WriteCommand | undefined,
    reader: Reader,
  ): Exclude<Fate, { kind: 'delete' }> {
    if (this.#otherStore?.isApart !== true) return { kind: 'release', release }
    const key = reader.keyOf(owner.entity)!
    const inverse = this.#inverse!.name
    const change = (members: readonly Tracked[]): Promise<readonly Tracked[]> => {
      for (const { entity } of members) collectionStateOf(readProperty(entity, inverse) as object).remove(key)
      return Promise.resolve(members)
    }
    return { kind: 'change', change }
  }

  async #reachOnDelete(tracked: Tracked, keys: readonly KeyValue[], reach: Cascade, reader: Reader): Promise<void> {
    const { onDelete } = this.model
    if (onDelete !== 'restrict' && keys.length > reach.room) return reach.drain(this.#drain(tracked, reader))
    if (onDelete === 'detach') return
    if (onDelete === 'restrict') {
      const state = this.#state(tracked.entity)
      const forbidding = { owner: tracked, target: this.#target, inverse: undefined, reach, reader }
      const listed = keys.filter((key) => !state.isRemoved(key))
      const member = await firstForbidding(listed, forbidding)
      if (member !== undefined) throw restricted(tracked, this.model, member)
      return
    }
    for (const other of await findAndReachLeaving(this.#target, keys, reach, reader)) reach.remove(other.entity)
  }
}

/** Identifies a link by the same text from both of its sides. */
function linkId(relation: RelationModel, here: string, there: string): string {
  const ids = [here, there]
  // Friends are friends of each other: such a relation is its own other side.
  if (relation.inverse === relation.name) return ids.sort().join(' ~ ')
  return (relation.owner ? ids : ids.reverse()).join(' ~ ')
}

const isWritten = ({ state }: Outcome): boolean => state === 'written'
