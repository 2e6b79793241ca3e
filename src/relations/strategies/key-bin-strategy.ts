import { readProperty } from '../../codec/index.js'
import type { KeyValue } from '../../keys/index.js'
import type { SkeinError } from '../../errors/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import { binEquals, read, remove } from '../../plan/command.js'
import { tolerating, type Draft } from '../../plan/draft.js'
import { removeBin, writeBin } from '../../plan/operations.js'
import { isWrittenOrMissing, type Outcome } from '../../plan/outcome.js'
import { userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import { askingOwner, confirming, lettingGo } from '../write/explain-reads.js'
import { keyBefore, readBefore } from '../write/previous-key.js'
import { stillAt } from '../cascade/children.js'
import type { CollectionState } from '../state/collection-state.js'
import type { Tracked } from '../contract/tracked.js'
import type { Reader } from '../contract/reader.js'
import type { Cascade } from '../contract/contributor.js'
import { leaves } from '../cascade/restrict.js'
import { held, linkWrite } from '../write/link-bin.js'
import { storeOf } from '../write/store-of.js'
import { together } from '../write/together.js'
import type { MemberStore } from '../contract/member-store.js'
import { isInKey, keepInKey } from '../write/ref-in-key.js'
import { isCreation, isEntity, isNew, isUnknown } from '../contract/member.js'
import { ownerGone, restricted } from '../contract/relation-errors.js'
import type { RefState } from '../state/ref-state.js'
import { leaveUnlessThere, retarget } from '../write/guarded-ref-write.js'
import { undoLink } from '../write/undo-link.js'
import { askOwner } from '../write/owner-there.js'
import { ListUpkeep } from '../write/list-upkeep.js'
import { collectionStateOf, refStateOf, hasShownChanges } from '../state/state-of.js'
import type { RelationStrategy } from '../contract/relation-strategy.js'
import { keyBinLinks } from '../verify/relation-links.js'
import { isKeyOf, unreadableRef } from '../contract/stored-keys.js'
import type { LinkEnd, LinkVerification } from '../contract/link-verification.js'
import { CreatedFor } from '../write/record-store.js'
import { createdForLinks } from '../verify/leftover-links.js'
import { binEnd } from '../verify/link-ends.js'

/**
 * The other's key in a bin of this record: the truth of the relation. Where the other keeps a list of these, a change goes
 * through this bin first and then through the lists, so that whoever is last here also has the last word there.
 */
export class KeyBinStrategy implements RelationStrategy {
  readonly relation: string
  readonly model: RelationModel
  readonly bins: readonly string[]
  readonly verification: LinkVerification
  readonly leftovers: LinkVerification | undefined
  readonly #owner: EntityModel
  readonly #target: EntityModel
  /** The list of our keys on the target. */
  readonly #list: RelationModel | undefined
  /** Where the target keeps that list. */
  readonly #lists: MemberStore | undefined
  /** The collection of the target that finds us by an index on our bin. */
  readonly #indexed: RelationModel | undefined
  readonly #upkeep: ListUpkeep | undefined
  /** Notes in our record, where the target owns us. */
  readonly #forTarget: CreatedFor | undefined
  /** Notes in the target's record, where we own it and only our bin leads there. */
  readonly #forUs: CreatedFor | undefined

  constructor(model: RelationModel, owner: EntityModel, target: EntityModel, inverse: RelationModel | undefined) {
    this.relation = model.name
    this.model = model
    this.bins = [model.bin!]
    this.#owner = owner
    this.#target = target
    // A collection without a bin of its own finds us by an index on ours.
    const [list, indexed] = inverse?.bin === undefined ? [undefined, inverse] : [inverse, undefined]
    this.#list = list
    this.#indexed = indexed
    this.#lists = list && storeOf(target, list, owner)
    this.#upkeep = this.#lists && new ListUpkeep(this.#lists, owner, model.bin!)
    const lists = this.#lists && { store: this.#lists, property: list!.name }
    this.verification = keyBinLinks(model, owner, target, lists, this.isEndOfLink)
    this.#forTarget = inverse && CreatedFor.of(target, inverse, owner)
    this.#forUs = inverse === undefined ? CreatedFor.of(owner, model, target) : undefined
    const held = (here: RecordKey, other: UserKey): LinkEnd => binEnd(owner, model, here, other)
    this.leftovers = inverse === undefined ? createdForLinks(model, owner, target, { held }) : undefined
  }

  hasChanges({ entity }: Tracked): boolean {
    return hasShownChanges(this.#state(entity))
  }

  cascade(tracked: Tracked, reach: Cascade, reader: Reader): void | Promise<void> {
    if (tracked.state === 'removed')
      return this.model.onDelete === 'detach' ? undefined : this.#reachOnDelete(tracked, reach, reader)
    const state = this.#state(tracked.entity)
    const { target } = state
    // What is stored of the link goes with its end.
    if (this.isEndOfLink && tracked.state === 'new' && this.#isLeaving(target, reader))
      return reach.remove(tracked.entity)
    if (isEntity(target) && isNew(target, reader)) reach.save(target)
    else if (this.#isToNew(target, reader)) reach.save(reader.known(this.#target.name, target as KeyValue)!.entity)
    if (tracked.overwrite === true || !state.isCleared || (this.#list ?? this.#indexed)?.orphans !== 'delete') return
    if (!state.isBlind) return this.#reachOrphan(tracked, state, reach, reader)
    return this.#storedOwner(tracked, reader).then((owner) => {
      state.learnStored(owner)
      this.#reachOrphan(tracked, state, reach, reader)
    })
  }

  #reachOrphan(tracked: Tracked, state: RefState, reach: Cascade, reader: Reader): void {
    if (state.stored === null) return
    const isLetGo = (this.#list ?? this.#indexed)!.onDelete === 'detach'
    // An owner that goes itself and lets its members go lets this one go, too.
    if (isLetGo && reader.known(this.#target.name, state.stored)?.state === 'removed') return
    reach.remove(tracked.entity, stillAt(state, this.#target, this.model, reader))
  }

  async #reachOnDelete(tracked: Tracked, reach: Cascade, reader: Reader): Promise<void> {
    const { onDelete, inverse } = this.model
    const state = this.#state(tracked.entity)
    await this.#readUnknown([tracked], [state], reader)
    if (state.key === null) return
    // The other one's own reference, where it has one and not a list.
    const back = this.#target.relations.find(({ name, holds }) => name === inverse && holds === 'ref')
    if (leaves(state.key, { owner: tracked, target: this.#target, inverse: back, reach, reader })) return
    const [other] = await this.load([tracked], reader)
    if (other === undefined) return
    if (onDelete === 'restrict') throw restricted(tracked, this.model, reader.keyOf(other.entity)!)
    reach.remove(other.entity)
  }

  save(tracked: Tracked, draft: Draft, reader: Reader): void | Promise<void> {
    const state = this.#state(tracked.entity)
    const needsOwner = this.#list !== undefined || isLetGo(tracked, state)
    if (!draft.isInside || !needsOwner || isCreation(tracked) || isAsStored(tracked, state)) {
      return this.#plan(tracked, state, draft, reader)
    }
    // In a transaction the owner it has now is known before anything is written, so that all lists change together.
    return this.#storedOwner(tracked, reader).then((owner) => this.#plan(tracked, state, draft, reader, owner))
  }

  /** `present`: the owner that the record says to a transaction; nobody may remember it if that is undone. */
  #plan(
    tracked: Tracked,
    state: RefState,
    draft: Draft,
    reader: Reader,
    present: KeyValue | null = null,
  ): void | Promise<void> {
    const isChanged = !isAsStored(tracked, state)
    if (isChanged && !isCreation(tracked)) this.#keepKey(tracked, state, reader)
    const toTell = isChanged ? state.lists.whenMoved(state.key, state.stored) : undefined
    if (isLetGo(tracked, state)) this.#planRelease(tracked, state, state.stored!, draft, reader, present)
    else if (isChanged) this.#planBin(tracked, state, draft, reader)
    else state.reconsider()
    if (this.#list === undefined) return
    if (toTell !== undefined) draft.beforeSending(() => state.lists.note(toTell))
    const { toJoin, toLeave } = toTell ?? state.lists
    const joining = toJoin !== undefined && this.#planListed(tracked, state, toJoin, draft, reader)
    const former = new Map(toLeave)
    if (present !== null && !state.isAt(present)) former.set(userKeyId(present), present)
    const leaving = [...former.values()].map((owner) => this.#planUnlisted(tracked, state, owner, draft, reader))
    return together([joining, ...leaving])
  }

  /** The record goes, and its key must leave the list first. */
  async remove(tracked: Tracked, draft: Draft, reader: Reader): Promise<void> {
    const state = this.#state(tracked.entity)
    if (this.#list === undefined) return
    const owners = new Map(state.lists.toLeave)
    for (const owner of [state.stored, state.lists.toJoin]) if (owner != null) owners.set(userKeyId(owner), owner)
    const present = !state.isRead || draft.isInside ? await this.#storedOwner(tracked, reader) : null
    if (present !== null) owners.set(userKeyId(present), present)
    // An owner that goes in the same flush takes its list along; until then it is marked.
    const staying = [...owners.values()].filter((owner) => !draft.isDeleting(reader.recordKey(this.#target, owner)))
    await together(staying.map((owner) => this.#planUnlisted(tracked, state, owner, draft, reader)))
    draft.follow('delete', lettingGo(tracked, this.#target, this.#list.name))
    if (!draft.isTransaction) this.#askLast(tracked, state, new Set(owners.keys()), draft, reader)
  }

  /** Somebody may have moved the entity since this session read it: the delete tells. */
  #askLast(tracked: Tracked, state: RefState, told: ReadonlySet<string>, draft: Draft, reader: Reader): void {
    const { model, key } = tracked
    const command = remove(model.name, key, {
      operations: [readBefore(this.model, this.#target)],
      durableDelete: model.durableDelete,
    })
    const settle = ({ state: end, reason, bins }: Outcome): boolean => {
      const before = keyBefore(this.model, bins)
      const owner = before === null ? null : reader.fromStored(this.#target, before)
      if (owner !== null && !told.has(userKeyId(owner)))
        void this.#planUnlisted(tracked, state, owner, draft, reader, 'undo')
      return end === 'written' || reason === 'missing'
    }
    draft.add('delete', command, settle)
  }

  async load(level: readonly Tracked[], reader: Reader, along?: readonly string[]): Promise<readonly Tracked[]> {
    const states = level.map(({ entity }) => this.#state(entity))
    await this.#readUnknown(level, states, reader)
    const pending = states.filter(({ target }) => target !== null && !isEntity(target))
    const found = await reader.find(
      this.#target,
      pending.map(({ target }) => target as KeyValue),
      along,
    )
    // A key whose record is gone points to nothing; what is stored stays until somebody changes it.
    pending.forEach((state, i) => (found[i] === null ? state.lost() : state.resolve(found[i].entity)))
    const targets = states.flatMap(({ target }) => (isEntity(target) ? (reader.tracked(target) ?? []) : []))
    return [...new Set(targets)]
  }

  #state(entity: object): RefState {
    return refStateOf(readProperty(entity, this.relation) as object)
  }

  #keepKey({ key }: Tracked, { key: to }: RefState, reader: Reader): void {
    keepInKey(this.#owner, this.model, key, to === null ? null : reader.recordKey(this.#target, to).key, reader)
  }

  #planBin(tracked: Tracked, state: RefState, draft: Draft, reader: Reader): void {
    const to = state.key
    const name = this.model.bin!
    const change = to === null ? removeBin(name) : writeBin(name, reader.recordKey(this.#target, to).key)
    const isCreated = isCreation(tracked)
    const settle = (outcome: Outcome): boolean => {
      const left = state.stored
      const isDone = this.#settleBin(tracked, state, to, outcome, draft, reader)
      if (!isDone || this.#indexed === undefined) return isDone
      if (left !== null) this.#collectionOf(left, reader)?.confirmRemoved(tracked.entity)
      if (to !== null) this.#collectionOf(to, reader)?.confirmAdded(tracked.entity)
      // An owner of the same flush has just been stored.
      if (to !== null && !isToNew) this.#askOwner(tracked, state, to, draft, reader, isCreated)
      return true
    }
    const isToNew = this.#isToNew(state.target, reader)
    if (isToNew) draft.tie(tracked.key, reader.recordKey(this.#target, to!))
    else if (to !== null && this.#indexed !== undefined) {
      if (draft.isInside) this.#hold(to, draft, reader)
      draft.follow('write', askingOwner(tracked, this.#target))
    }
    const isLate = isToNew && !draft.isTransaction
    this.#noteCreated(tracked, state, isLate, draft, reader)
    if (isCreation(tracked) && !isLate) {
      draft.add('write', linkWrite(this.#owner, tracked.key, to === null ? [] : [change], 'mustNotExist'), settle)
      return
    }
    const isBlind = isCreation(tracked) || draft.isInside
    if (!isBlind && this.#list !== undefined)
      draft.follow('remove references', lettingGo(tracked, this.#target, this.#list.name))
    const operations = isBlind ? [change] : [readBefore(this.model, this.#target), change]
    draft.add(isLate ? 'add references' : 'write', linkWrite(this.#owner, tracked.key, operations), settle)
  }

  #noteCreated(tracked: Tracked, { target, stored }: RefState, isLate: boolean, draft: Draft, reader: Reader): void {
    const to = isEntity(target) ? reader.tracked(target) : undefined
    if (isLate) this.#forUs?.note(to, tracked.key, draft)
    if (stored !== null && reader.known(this.#target.name, stored)?.state !== 'removed')
      this.#forUs?.letGo(reader.recordKey(this.#target, stored), draft)
    if (isLate && to !== undefined) this.#forTarget?.note(tracked, to.key, draft)
    this.#forTarget?.linked(tracked, isLate ? 'add references' : 'write', draft)
  }

  /** A collection has let go of it: that concerns its owner alone, and another session may have given it to another one meanwhile. */
  #planRelease(
    tracked: Tracked,
    state: RefState,
    left: KeyValue,
    draft: Draft,
    reader: Reader,
    present: KeyValue | null,
  ): void {
    const settle = tolerating(['guard'], (isDone, outcome) => {
      if (outcome.reason === 'guard') this.#learnOwner(tracked, state, draft, reader)
      else this.#settleBin(tracked, state, null, outcome, draft, reader)
      if (isDone && this.#indexed !== undefined) this.#collectionOf(left, reader)?.confirmRemoved(tracked.entity)
    })
    const name = this.model.bin!
    const command = retarget(this.#owner, tracked.key, name, reader.recordKey(this.#target, left).key, null)
    if (!draft.isTransaction) draft.addApart('write', command, settle)
    else if (!draft.isInside) draft.add('write', command, settle)
    else if (present === null || state.isStoredAs(present))
      draft.add('write', linkWrite(this.#owner, tracked.key, [removeBin(name)]), (outcome) => settle(outcome))
    else state.takeStored(present)
  }

  #learnOwner(tracked: Tracked, state: RefState, draft: Draft, reader: Reader): void {
    state.mustReread()
    const name = this.model.bin!
    draft.check(read(this.#owner.name, tracked.key, [name]), (record) => {
      const stored = record?.bins[name] as UserKey | undefined
      state.takeStored(stored === undefined ? null : reader.fromStored(this.#target, stored))
    })
  }

  /** Also by its key: a record that this session is about to create cannot be looked for on the server. */
  #isToNew(target: RefState['target'], reader: Reader): boolean {
    if (target === null) return false
    const known = isEntity(target) ? reader.tracked(target) : reader.known(this.#target.name, target)
    return known?.state === 'new'
  }

  #settleBin(
    tracked: Tracked,
    state: RefState,
    to: KeyValue | null,
    outcome: Outcome,
    draft: Draft,
    reader: Reader,
  ): boolean {
    if (outcome.state !== 'written') return false
    const before = keyBefore(this.model, outcome.bins)
    const owner = before === null ? null : reader.fromStored(this.#target, before)
    state.confirm(to, owner)
    if (owner === null || this.#list === undefined) return true
    const id = userKeyId(owner)
    if (state.lists.toLeave.has(id) || (to !== null && id === userKeyId(to))) return true
    // Somebody moved it since it was loaded: that list has to be told as well.
    state.lists.mustLeave(owner)
    void this.#planUnlisted(tracked, state, owner, draft, reader)
    return true
  }

  /** Nothing is written on an owner that finds us by index, so it is asked whether it is there and means to stay. */
  #askOwner(
    tracked: Tracked,
    state: RefState,
    owner: KeyValue,
    draft: Draft,
    reader: Reader,
    isCreated: boolean,
  ): void {
    askOwner(this.#target, reader.recordKey(this.#target, owner), draft, reader, (error) => {
      const why = error ?? ownerGone(this.#target, owner)
      // A record that was created alone where there are transactions: all of it is stored, or nothing.
      if (isCreated && draft.isTransaction) this.#planRemoval(tracked, owner, draft, reader, why)
      else this.#planUndo(tracked, state, owner, draft, reader, why)
    })
  }

  /** Takes back the creation of a record that points to nothing. */
  #planRemoval(tracked: Tracked, owner: KeyValue, draft: Draft, reader: Reader, error: SkeinError): void {
    const { model, key } = tracked
    const guards = [binEquals(this.model.bin!, reader.recordKey(this.#target, owner).key)]
    draft.add('undo', remove(model.name, key, { guards, durableDelete: model.durableDelete }), ({ state }) => {
      if (state === 'written') reader.startAnew(tracked)
      return error
    })
  }

  #hold(owner: KeyValue, draft: Draft, reader: Reader): void {
    const key = reader.recordKey(this.#target, owner)
    if (draft.isDeleting(key) || reader.known(this.#target.name, owner)?.state === 'removed') return
    draft.add('write', held(this.#target, key), ({ state }) => state === 'written')
  }

  #planListed(tracked: Tracked, state: RefState, owner: KeyValue, draft: Draft, reader: Reader): void | Promise<void> {
    const list = this.#list!
    const key = reader.recordKey(this.#target, owner)
    const isOld = !isUnknown(tracked)
    if (isOld) draft.follow('add references', confirming(tracked, `${list.name} drops it`))
    const settle = (outcome: Outcome): boolean => {
      if (outcome.state !== 'notWritten' && !draft.isTransaction) state.notePartlySent(!state.isStoredAs(owner))
      if (outcome.state === 'written') {
        state.lists.joined()
        this.#collectionOf(owner, reader)?.confirmAdded(tracked.entity)
        // The list that it leaves is changed later, and what is checked then is checked once.
        if (isOld && state.lists.toLeave.size === 0) this.#upkeep!.check(tracked.key, { on: key }, draft)
        return true
      }
      if (outcome.reason === 'missing' || outcome.reason === 'guard')
        this.#planUndo(tracked, state, owner, draft, reader)
      return false
    }
    const isOwnerNew = reader.known(this.#target.name, owner)?.state === 'new'
    const entry = { owner: key, member: tracked.key.key, isOwnerNew }
    return this.#lists!.add(entry, draft, 'add references', settle, reader)
  }

  #planUnlisted(
    tracked: Tracked,
    state: RefState,
    owner: KeyValue,
    draft: Draft,
    reader: Reader,
    stage: 'remove references' | 'undo' = 'remove references',
  ): void | Promise<void> {
    const parent = reader.recordKey(this.#target, owner)
    const settle = (outcome: Outcome): boolean => {
      if (!isWrittenOrMissing(outcome)) return false
      state.lists.left(owner)
      this.#collectionOf(owner, reader)?.confirmRemoved(tracked.entity)
      // Another session may have moved it back since this one has moved it away.
      if (outcome.state === 'written' && tracked.state !== 'removed')
        this.#upkeep!.check(tracked.key, { off: parent, on: this.#listedAt(state, reader) }, draft)
      return true
    }
    return this.#lists!.remove({ owner: parent, member: tracked.key.key }, draft, stage, settle, reader)
  }

  #listedAt({ stored, lists }: RefState, reader: Reader): RecordKey | undefined {
    return stored === null || lists.toJoin !== undefined ? undefined : reader.recordKey(this.#target, stored)
  }

  /** The owner is gone: nothing may point to it, so the entity goes back to the owner it had, whose list still has it. */
  #planUndo(
    tracked: Tracked,
    state: RefState,
    owner: KeyValue,
    draft: Draft,
    reader: Reader,
    error?: SkeinError,
  ): void {
    // Without what is part of its key nobody could read the record: it stays as it is, and the error says so.
    if (isInKey(this.#owner, this.model)) {
      if (this.isEndOfLink)
        return undoLink(tracked, this.model, reader.recordKey(this.#target, owner), draft, reader, error)
      if (error !== undefined) throw error
      return
    }
    const name = this.model.bin!
    const { key } = reader.recordKey(this.#target, owner)
    const { previousKey } = state
    const back = previousKey === null ? null : reader.recordKey(this.#target, previousKey).key
    draft.add('undo', retarget(this.#owner, tracked.key, name, key, back), (outcome) => {
      if (outcome.state === 'written') {
        state.wentBack(previousKey)
        if (previousKey !== null) this.#returnTo(tracked, state, previousKey, draft, reader)
      }
      state.lists.joined()
      return error ?? true
    })
  }

  /** The owner it goes back to may have been deleted while the entity named another one. */
  #returnTo(tracked: Tracked, state: RefState, owner: KeyValue, draft: Draft, reader: Reader): void {
    const key = reader.recordKey(this.#target, owner)
    const lost = (): void => {
      if (state.isStoredAs(owner)) state.knowStored(null)
    }
    if (this.#upkeep !== undefined) this.#upkeep.putOn(tracked.key, key, draft, lost)
    else if (this.#indexed !== undefined)
      leaveUnlessThere(this.#owner, tracked.key, this.model.bin!, this.#target, key, draft, lost)
  }

  #isLeaving(target: RefState['target'], reader: Reader): boolean {
    if (target === null) return false
    const known = isEntity(target) ? reader.tracked(target) : reader.known(this.#target.name, target)
    return known?.state === 'removed'
  }

  get isEndOfLink(): boolean {
    return (this.#list ?? this.#indexed)?.through !== undefined
  }

  /** The collection of an owner that the session has. */
  #collectionOf(owner: KeyValue, reader: Reader): CollectionState | undefined {
    const known = reader.known(this.#target.name, owner)
    return known && collectionStateOf(readProperty(known.entity, (this.#list ?? this.#indexed)!.name) as object)
  }

  async targetKey(owner: Tracked, reader: Reader): Promise<KeyValue | null> {
    const [record] = await reader.read([read(this.#owner.name, owner.key, this.bins)])
    const stored = record?.bins[this.model.bin!] ?? null
    if (stored === null) return null
    if (!isKeyOf(this.#target, stored))
      throw unreadableRef({ model: this.#owner, key: owner.key, property: this.relation }, this.#target.name, stored)
    return reader.fromStored(this.#target, stored)
  }

  async #storedOwner(tracked: Tracked, reader: Reader): Promise<KeyValue | null> {
    const [record] = await reader.read([read(this.#owner.name, tracked.key, this.bins)])
    const stored = record?.bins[this.model.bin!] as UserKey | undefined
    return stored === undefined ? null : reader.fromStored(this.#target, stored)
  }

  async #readUnknown(level: readonly Tracked[], states: readonly RefState[], reader: Reader): Promise<void> {
    const unknown = level.filter((_, i) => !states[i].isRead)
    if (unknown.length === 0) return
    const records = await reader.read(unknown.map(({ model, key }) => read(model.name, key, this.bins)))
    unknown.forEach(({ entity }, i) => {
      const stored = records[i]?.bins[this.model.bin!] as UserKey | undefined
      this.#state(entity).takeStored(stored === undefined ? null : reader.fromStored(this.#target, stored))
    })
  }
}

/** Taken out of the collection it was in, as far as the session knows, and put nowhere else. */
const isLetGo = ({ overwrite, state }: Tracked, { isRead, target, stored, isCleared }: RefState): boolean =>
  state === 'stored' && overwrite !== true && isRead && target === null && stored !== null && !isCleared

/** Of what is upserted nobody knows what the record says. */
const isAsStored = ({ overwrite }: Tracked, state: RefState): boolean => state.isStored && overwrite !== true
