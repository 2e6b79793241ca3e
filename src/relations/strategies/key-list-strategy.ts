import { orderedLayout, type BinLayout } from '../../plan/bin-layout.js'
import { readProperty } from '../../codec/index.js'
import type { KeyValue } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import { binEquals, type Bins, type WriteCommand } from '../../plan/command.js'
import type { Draft } from '../../plan/draft.js'
import { isWrittenOrMissing, type Outcome } from '../../plan/outcome.js'
import type { RecordKey, UserKey } from '../../plan/record-key.js'
import { UnloadedChildren } from './unloaded-children.js'
import { lookingAgain } from '../write/explain-reads.js'
import {
  leavingOf,
  reachChildren,
  reachOrphans,
  reachTakenOut,
  release,
  type Leaving,
  isDeleting,
  findAndReachLeaving,
} from '../cascade/children.js'
import type { CollectionState } from '../state/collection-state.js'
import type { Tracked } from '../contract/tracked.js'
import type { Reader } from '../contract/reader.js'
import type { Cascade } from '../contract/contributor.js'
import { ALL_MEMBERS, type Drain } from '../contract/drain.js'
import { firstForbidding, leaves } from '../cascade/restrict.js'
import { storeOf } from '../write/store-of.js'
import { together } from '../../plan/plan-draft.js'
import { loadListed } from '../read/load-key-lists.js'
import { isEntity, isNew, writtenAs, type Member, recordOfRef, storedRef } from '../contract/member.js'
import { withChanges } from '../read/pending-overlay.js'
import { progressOf } from '../state/link-progress.js'
import { restricted } from '../contract/relation-errors.js'
import { retarget } from '../write/guarded-ref-write.js'
import { collectionStateOf, hasShownChanges, isHere, parentRef } from '../state/state-of.js'
import type { CollectionMembers } from '../contract/collection-members.js'
import type { MemberStore } from '../contract/member-store.js'
import type { RelationStrategy } from '../contract/relation-strategy.js'
import { reachUnlistedOrphans } from '../cascade/one-sided-orphans.js'
import { keyListLinks } from '../verify/relation-links.js'
import type { LinkEnd, LinkVerification } from '../contract/link-verification.js'
import { CreatedFor } from '../write/record-store.js'
import { createdForLinks } from '../verify/leftover-links.js'
import { listEnd } from '../verify/link-ends.js'

/**
 * An ordered list of child keys on the parent. Two-sided, the child's bin is the truth and the child's own strategy keeps this list
 * in step; only children that are known by key alone are planned here. One-sided, the list is all there is.
 */
export class KeyListStrategy implements RelationStrategy {
  readonly relation: string
  readonly model: RelationModel
  readonly bins: readonly string[]
  readonly layouts: readonly BinLayout[]
  readonly members: CollectionMembers
  readonly store: MemberStore
  readonly verification: LinkVerification
  readonly leftovers: LinkVerification | undefined
  readonly #owner: EntityModel
  readonly #target: EntityModel
  /** The child's bin that holds the parent's key, when the relation is two-sided. */
  readonly #childBin: string | undefined
  readonly #inverse: RelationModel | undefined
  /** False where only the list stores the relation: then there are no references to detach. */
  readonly #reachesOnDelete: boolean
  /** Notes of new members, where only this list leads to them. */
  readonly #createdFor: CreatedFor | undefined
  /** Takes in children that are known by their keys alone, when the relation is two-sided. */
  readonly #unloaded: UnloadedChildren | undefined

  /** `owners`: the class of the owners, or the several that a member may belong to one of. */
  constructor(
    model: RelationModel,
    owner: EntityModel,
    target: EntityModel,
    inverse: RelationModel | undefined,
    owners = owner,
  ) {
    this.relation = model.name
    this.model = model
    this.store = storeOf(owner, model, target)
    this.bins = this.store.bins
    this.layouts = this.bins.map((bin) => orderedLayout(bin, 'list'))
    this.members = this.store.members
    this.verification = keyListLinks(model, this.store, target, inverse)
    const held = (list: RecordKey, member: UserKey): LinkEnd => listEnd(this.store, model.name, list, member)
    this.leftovers = createdForLinks(model, owner, target, inverse === undefined ? { held } : { ownBin: inverse.bin })
    this.#createdFor = inverse === undefined ? CreatedFor.of(owner, model, target) : undefined
    this.#owner = owner
    this.#target = target
    this.#childBin = inverse?.bin
    this.#reachesOnDelete = model.onDelete !== 'detach' || this.#childBin !== undefined
    this.#inverse = inverse
    this.#unloaded = inverse && new UnloadedChildren(model, this.store, owners, target, inverse)
  }

  listed(stored: Bins): readonly UserKey[] {
    return (stored[this.store.bin] ?? []) as readonly UserKey[]
  }

  hasChanges({ entity }: Tracked): boolean {
    return hasShownChanges(this.#state(entity))
  }

  cascadeKeys(tracked: Tracked, { room }: Cascade, reader: Reader): Promise<readonly KeyValue[]> | undefined {
    if (!this.#reachesOnDelete) return undefined
    const isWhole = this.model.onDelete === 'restrict'
    return this.members.keys(tracked, reader, isWhole ? ALL_MEMBERS : { offset: 0, count: room + 1 })
  }

  async cascade(tracked: Tracked, reach: Cascade, reader: Reader, listed?: readonly KeyValue[]): Promise<void> {
    if (tracked.state === 'removed') return listed && this.#reachOnDelete(tracked, listed, reach, reader)
    const state = this.#state(tracked.entity)
    for (const member of state.addedEntities) {
      if (this.#childBin !== undefined || isNew(member, reader)) reach.save(member)
    }
    if (this.model.orphans === 'delete') {
      if (this.#inverse === undefined)
        await reachUnlistedOrphans(tracked, state, this.store, this.#target, reach, reader)
      else await reachOrphans(tracked, state, this.#target, this.#inverse, reach, reader)
    } else if (this.#childBin !== undefined) for (const member of state.removed.filter(isEntity)) reach.save(member)
  }

  save(tracked: Tracked, draft: Draft, reader: Reader): void | Promise<void> {
    const state = this.#state(tracked.entity)
    if (!draft.isInside || this.#unloaded === undefined || state.addedKeys.length === 0)
      return this.#plan(tracked, state, draft, reader, new Map())
    // In a transaction the parents they have now are known before anything is written, so that all lists change together.
    return this.#unloaded
      .parentsOf(state.addedKeys, reader)
      .then((parents) => this.#plan(tracked, state, draft, reader, parents))
  }

  #plan(
    tracked: Tracked,
    state: CollectionState,
    draft: Draft,
    reader: Reader,
    parents: ReadonlyMap<Member, UserKey>,
  ): void | Promise<void> {
    if (tracked.state === 'new') this.store.create(tracked, draft)
    return together([
      ...state.previousParents.all.map((former) => this.#unloaded?.leave(tracked, former, state, draft, reader)),
      ...state.added.map((member) => this.#planAdd(tracked, member, state, draft, reader, parents.get(member))),
      ...state.removed.map((member) => this.#planRemove(tracked, member, state, draft, reader)),
    ])
  }

  /** Children are deleted or detached by `reach`; the record itself is marked until it is gone. */
  remove(tracked: Tracked, draft: Draft, reader: Reader): void | Promise<void> {
    const state = this.#state(tracked.entity)
    if (this.model.orphans !== 'delete') this.#dropNotes(state.removed, state, draft, reader)
    if (this.model.onDelete === 'restrict' && !this.store.isApart) return
    if (this.#reachesOnDelete) draft.follow('mark', lookingAgain(tracked, this.model))
    return this.store.close(tracked, draft, reader)
  }

  load(level: readonly Tracked[], reader: Reader, along?: readonly string[]): Promise<readonly Tracked[]> {
    return loadListed(this.model, this.#target, level, reader, this.store, { along })
  }

  #state(entity: object): CollectionState {
    return collectionStateOf(readProperty(entity, this.relation) as object)
  }

  #planAdd(
    tracked: Tracked,
    member: Member,
    state: CollectionState,
    draft: Draft,
    reader: Reader,
    parent: UserKey | undefined,
  ): void | Promise<void> {
    if (this.#unloaded === undefined) return this.#planListed(tracked, member, state, draft, reader)
    if (!isEntity(member)) return this.#unloaded.plan(tracked, member, state, draft, reader, parent)
    if (!isHere(member, this.#inverse!, tracked, reader)) return
    // The member was unknown when its bin was written.
    if (state.isPartlySent(member)) return this.#unloaded.planEntry(tracked, member, state, draft, reader)
    if (!parentRef(member, this.#inverse!).isChanged) draft.beforeSending(() => state.confirmAdded(member))
  }

  #planListed(
    tracked: Tracked,
    member: Member,
    state: CollectionState,
    draft: Draft,
    reader: Reader,
  ): void | Promise<void> {
    if (isEntity(member)) this.#createdFor?.note(reader.tracked(member), tracked.key, draft)
    const settle = ({ state: end }: Outcome): boolean => {
      if (end === 'written') state.confirmAdded(member)
      return end === 'written'
    }
    const at = { owner: tracked.key, member: this.#keyOf(member, state, reader) }
    const entry = { ...at, isReplaced: state.isReplaced(member), ...writtenAs(tracked) }
    return this.store.add(entry, draft, 'add references', settle, reader)
  }

  #planRemove(
    tracked: Tracked,
    member: Member,
    state: CollectionState,
    draft: Draft,
    reader: Reader,
  ): void | Promise<void> {
    const { isOwn, isWritten } = this.#leaving(member, tracked, reader)
    // The child's own strategy does both, and a child that is deleted leaves the list with it.
    if (isOwn) return
    const done = (): void => state.confirmRemoved(member)
    if (state.isOrphaned(member) && state.loaded.members?.has(member) !== true) return draft.beforeSending(done)
    const key = this.#keyOf(member, state, reader)
    // A key that is not an entity by now has no record, where orphans are looked for.
    const isOrphan = this.model.orphans === 'delete' && (!isEntity(member) || isDeleting(member, draft, reader))
    const isMissing = isOrphan && !isEntity(member)
    // A child that was deleted softly before is not found either, and stays listed.
    if (isMissing && this.#target.deletedAt !== undefined) return draft.beforeSending(done)
    const isAlone = this.#childBin === undefined || isWritten || isOrphan
    const progress = progressOf(member, isAlone ? 1 : 2, state, draft, done)
    const child = recordOfRef(this.#target, key)
    const settle = (outcome: Outcome): boolean => {
      if (outcome.state === 'written') this.#unloaded?.taken(child, tracked, draft, reader)
      return progress(isWrittenOrMissing(outcome), outcome)
    }
    if (isMissing && draft.isInside && this.#unloaded !== undefined)
      return this.#unloaded.takeOffMissing(tracked.key, member, draft, reader, settle, done)
    // Orphans that only this list leads to leave it last: a flush that is cut off in between loses sight of nobody.
    const stage = this.model.orphans === 'delete' && this.#inverse === undefined ? 'delete' : 'remove references'
    const removing = this.store.remove({ owner: tracked.key, member: key }, draft, stage, settle, reader)
    if (!isOrphan) this.#dropNotes([member], state, draft, reader)
    if (isAlone || this.#inverse === undefined) return removing
    return together([removing, release(this.#target, child, this.#inverse, tracked.key, draft, reader, progress)])
  }

  /** Drops the notes of members that are taken out, and stay. */
  #dropNotes(members: readonly Member[], state: CollectionState, draft: Draft, reader: Reader): void {
    for (const member of members)
      if (!isEntity(member) || reader.tracked(member)?.state !== 'removed')
        this.#createdFor?.unlinked(recordOfRef(this.#target, this.#keyOf(member, state, reader)), draft)
  }

  #leaving(member: Member, tracked: Tracked, reader: Reader): Leaving {
    return this.#inverse ? leavingOf(member, this.#inverse, tracked, reader) : { isOwn: false, isWritten: false }
  }

  async #reachOnDelete(tracked: Tracked, stored: readonly KeyValue[], reach: Cascade, reader: Reader): Promise<void> {
    const { onDelete } = this.model
    if (onDelete !== 'restrict' && stored.length > reach.room) return reach.drain(this.#drain(tracked, reader))
    const state = this.#state(tracked.entity)
    const keys = withChanges(state, stored)
    if (this.#inverse === undefined && this.model.orphans === 'delete')
      await reachUnlistedOrphans(tracked, state, this.store, this.#target, reach, reader)
    if (onDelete === 'restrict') return this.#forbid(tracked, keys, state, reach, reader)
    const wanted = this.#inverse === undefined ? keys : [...stored, ...keys]
    const found = await findAndReachLeaving(this.#target, wanted, reach, reader, this.#inverse)
    const added = state.addedEntities.flatMap((entity) => reader.tracked(entity) ?? [])
    const children = [...new Set([...found, ...added])]
    if (this.#inverse === undefined) for (const { entity } of children) reach.remove(entity)
    else await reachChildren(tracked, children, this.model, this.#inverse, state, reach, reader)
  }

  /** Counts unsent additions as well as stored members. */
  async #forbid(
    owner: Tracked,
    keys: readonly KeyValue[],
    state: CollectionState,
    reach: Cascade,
    reader: Reader,
  ): Promise<void> {
    const forbidding = { owner, target: this.#target, inverse: this.#inverse, reach, reader }
    const pending = keys.find((key) => state.isAdded(key) && !leaves(key, forbidding))
    const member = pending ?? (await firstForbidding(keys, forbidding))
    if (member !== undefined) throw restricted(owner, this.model, member)
    if (this.#inverse !== undefined)
      await reachTakenOut(owner, this.#target, this.model, this.#inverse, state, reach, reader)
  }

  #drain(owner: Tracked, reader: Reader): Drain {
    const stored = (key: KeyValue): UserKey => storedRef(this.#target, reader.recordKey(this.#target, key))
    const release = (key: KeyValue): WriteCommand => {
      const child = reader.recordKey(this.#target, key)
      return retarget(this.#target, child, this.#childBin!, storedRef(this.#inverse!, owner.key), null)
    }
    return {
      owner,
      className: this.#owner.name,
      property: this.relation,
      target: this.#target,
      fate: this.model.onDelete === 'cascade' ? { kind: 'delete' } : { kind: 'release', release },
      only: this.#inverse && binEquals(this.#childBin!, storedRef(this.#inverse, owner.key)),
      chunks: (count) => this.store.drained(owner, reader, count),
      survey: (count) => this.store.surveyed(owner, reader, count),
      trim: (keys) => this.store.trim(owner.key, keys.map(stored)),
    }
  }

  #keyOf(member: Member, state: CollectionState, reader: Reader): UserKey {
    return storedRef(this.#target, reader.recordKey(this.#target, state.keyOf(member)!))
  }
}
