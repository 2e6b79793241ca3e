import { readProperty } from '../../../codec/index.js'
import type { KeyValue } from '../../../keys/index.js'
import type { EntityModel, RelationModel } from '../../../model/index.js'
import type { Draft } from '../../../plan/draft.js'
import { removeBin, writeBin } from '../../../plan/operations.js'
import type { Outcome } from '../../../plan/outcome.js'
import { userKeyId, type RecordKey, type UserKey } from '../../../plan/record-key.js'
import { askingOwner, confirming, detaching } from '../../write/explain-reads.js'
import { keyBefore, readBefore, held, linkWrite } from '../../write/link-bin.js'
import type { CollectionState } from '../../state/collection-state.js'
import type { Tracked } from '../../contract/tracked.js'
import type { Reader } from '../../contract/reader.js'
import type { Cascade } from '../../contract/contributor.js'
import { keepLinkOfDeleted, undoUnlessStored } from '../../write/undo-link.js'
import { ownerLists } from '../../write/owner-lists.js'
import { together } from '../../../plan/plan-draft.js'
import { isInKey, keepInKey } from '../../write/ref-in-key.js'
import { isCreation, isEntity, isNew, isUnknown, writtenAs, modelAt, storedRef } from '../../contract/member.js'
import type { RefState } from '../../state/ref-state.js'
import { ListUpkeep } from '../../write/list-upkeep.js'
import { collectionStateOf, isTakenOut, refStateOf, hasShownChanges } from '../../state/state-of.js'
import type { RelationStrategy } from '../../contract/relation-strategy.js'
import { keyBinLinks } from '../../verify/relation-links.js'
import type { LinkEnd, LinkVerification } from '../../contract/link-verification.js'
import { CreatedFor } from '../../write/record-store.js'
import { createdForLinks } from '../../verify/leftover-links.js'
import { binEnd } from '../../verify/link-ends.js'
import { KeyBinDeletion } from './key-bin-deletion.js'
import { KeyBinReads } from './key-bin-reads.js'
import { planRelease } from './key-bin-release.js'
import type { KeyBinSides } from './key-bin-sides.js'
import { ListLeaving } from './list-leaving.js'
import { OwnerGoneUndo } from './owner-gone-undo.js'

/**
 * The other's key in a bin of this record: the truth of the relation. Where the other keeps a list of these, a change goes
 * through this bin first and then through the lists, so that the last writer of the bin also decides the lists.
 */
export class KeyBinStrategy implements RelationStrategy {
  readonly relation: string
  readonly model: RelationModel
  readonly bins: readonly string[]
  readonly verification: LinkVerification
  readonly leftovers: LinkVerification | undefined
  readonly #sides: KeyBinSides
  readonly #reads: KeyBinReads
  readonly #leaving: ListLeaving
  readonly #deletion: KeyBinDeletion
  readonly #undo: OwnerGoneUndo
  /** Notes in our record, where the target owns us. */
  readonly #forTarget: readonly CreatedFor[]
  /** Notes in the target's record, where we own it and only our bin leads there. */
  readonly #forUs: CreatedFor | undefined

  constructor(model: RelationModel, owner: EntityModel, target: EntityModel, inverse: RelationModel | undefined) {
    this.relation = model.name
    this.model = model
    this.bins = [model.bin!]
    // A collection without a bin of its own finds us by an index on ours.
    const [list, indexed] = inverse?.bin === undefined ? [undefined, inverse] : [inverse, undefined]
    const lists = list && ownerLists(target, list, owner)
    const upkeep = lists && new ListUpkeep(lists, owner, model, list.through !== undefined)
    this.#sides = { model, owner, target, list, lists, upkeep, indexed }
    this.#reads = new KeyBinReads(model, owner, target)
    this.#leaving = new ListLeaving(this.#sides)
    this.#deletion = new KeyBinDeletion(this.#sides, this.#reads, this.#leaving)
    this.#undo = new OwnerGoneUndo(this.#sides, this.isEndOfLink)
    const listed = lists && { lists, property: list.name, onDelete: list.onDelete }
    this.verification = keyBinLinks(model, owner, target, listed, this.isEndOfLink)
    this.#forTarget = inverse === undefined ? [] : CreatedFor.ofEach(target, inverse, owner)
    this.#forUs = inverse === undefined ? CreatedFor.of(owner, model, target) : undefined
    const held = (here: RecordKey, other: UserKey): LinkEnd => binEnd(owner, model, here, other)
    this.leftovers = inverse === undefined ? createdForLinks(model, owner, target, { held }) : undefined
  }

  hasChanges({ entity }: Tracked): boolean {
    return hasShownChanges(this.#state(entity))
  }

  cascade(tracked: Tracked, reach: Cascade, reader: Reader): void | Promise<void> {
    if (tracked.state === 'removed')
      return this.model.onDelete === 'detach' ? undefined : this.#deletion.reachOnDelete(tracked, reach, reader)
    const state = this.#state(tracked.entity)
    const { target } = state
    // The stored link goes with its end.
    if (this.isEndOfLink && tracked.state === 'new' && this.#stateOf(target, reader) === 'removed')
      return reach.remove(tracked.entity)
    if (isEntity(target) && isNew(target, reader)) reach.save(target)
    else if (this.#stateOf(target, reader) === 'new')
      reach.save(reader.known(this.#sides.target.name, target as KeyValue)!.entity)
    if (
      tracked.overwrite === true ||
      !state.isCleared ||
      (this.#sides.list ?? this.#sides.indexed)?.orphans !== 'delete'
    )
      return
    if (!state.isBlind) return this.#deletion.reachOrphan(tracked, state, reach, reader)
    return this.#reads.storedOwner(tracked, reader).then((owner) => {
      state.learnStored(owner)
      this.#deletion.reachOrphan(tracked, state, reach, reader)
    })
  }

  save(tracked: Tracked, draft: Draft, reader: Reader): void | Promise<void> {
    const state = this.#state(tracked.entity)
    const to = this.isEndOfLink ? state.key : null
    const { target, lists } = this.#sides
    const isApart = lists?.isApart === true
    const checked = to === null ? undefined : keepLinkOfDeleted(tracked, target, to, isApart, draft, reader)
    if (checked !== undefined) return checked.then(() => this.#plan(tracked, state, draft, reader))
    const needsOwner = this.#sides.list !== undefined || isTakenOut(tracked, state)
    if (!draft.isInside || !needsOwner || isCreation(tracked) || isAsStored(tracked, state)) {
      return this.#plan(tracked, state, draft, reader)
    }
    // In a transaction the owner it has now is known before anything is written, so that all lists change together.
    return this.#reads.storedOwner(tracked, reader).then((owner) => this.#plan(tracked, state, draft, reader, owner))
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
    if (isTakenOut(tracked, state)) this.#planRelease(tracked, state, draft, reader, present)
    else if (isChanged) this.#planBin(tracked, state, draft, reader)
    else state.reconsider()
    if (this.#sides.list === undefined) return
    if (toTell !== undefined) draft.beforeSending(() => state.lists.note(toTell))
    const { toJoin, toLeave } = toTell ?? state.lists
    const joining = toJoin === undefined ? undefined : this.#planListed(tracked, state, toJoin, draft, reader)
    const former = new Map(toLeave)
    if (present !== null && !state.isAt(present)) former.set(userKeyId(present), present)
    const leaving = [...former.values()].map((owner) => this.#leaving.plan(tracked, state, owner, draft, reader))
    return together([joining, ...leaving])
  }

  remove(tracked: Tracked, draft: Draft, reader: Reader): Promise<void> {
    return this.#deletion.remove(tracked, draft, reader)
  }

  load(level: readonly Tracked[], reader: Reader, along?: readonly string[]): Promise<readonly Tracked[]> {
    return this.#reads.load(level, reader, along)
  }

  targetKey(owner: Tracked, reader: Reader): Promise<KeyValue | null> {
    return this.#reads.targetKey(owner, reader)
  }

  #state(entity: object): RefState {
    return refStateOf(readProperty(entity, this.relation) as object)
  }

  #keepKey({ key }: Tracked, { key: to }: RefState, reader: Reader): void {
    keepInKey(this.#sides.owner, this.model, key, to === null ? null : this.#storedAs(to, reader), reader)
  }

  #storedAs(to: KeyValue, reader: Reader): UserKey {
    const { target } = this.#sides
    return storedRef(target, reader.recordKey(target, to))
  }

  #planBin(tracked: Tracked, state: RefState, draft: Draft, reader: Reader): void {
    const to = state.key
    const name = this.model.bin!
    const change = to === null ? removeBin(name) : writeBin(name, this.#storedAs(to, reader))
    const isCreated = isCreation(tracked)
    const settle = (outcome: Outcome): boolean => {
      const left = state.stored
      const isDone = this.#settleBin(tracked, state, to, outcome, draft, reader)
      if (!isDone || this.#sides.indexed === undefined) return isDone
      if (left !== null) this.#collectionOf(left, reader)?.confirmRemoved(tracked.entity)
      if (to !== null) this.#collectionOf(to, reader)?.confirmAdded(tracked.entity)
      // An owner of the same flush has just been stored.
      if (to !== null && !isToNew) this.#undo.askOwner(tracked, state, to, draft, reader, isCreated)
      return true
    }
    const isToNew = this.#stateOf(state.target, reader) === 'new'
    if (isToNew) draft.tie(tracked.key, reader.recordKey(this.#sides.target, to!))
    else if (to !== null && this.#sides.indexed !== undefined) {
      if (draft.isInside) this.#hold(to, draft, reader)
      draft.follow('write', askingOwner(tracked, this.#sides.target))
    }
    // A reference in the key is stored with the record: nobody could read that otherwise.
    const isLate = isToNew && !draft.isTransaction && !isInKey(this.#sides.owner, this.model)
    this.#noteCreated(tracked, state, isLate, draft, reader)
    if (isCreation(tracked) && !isLate) {
      draft.add('write', linkWrite(this.#sides.owner, tracked.key, to === null ? [] : [change], 'mustNotExist'), settle)
      if (isToNew && !draft.isTransaction)
        undoUnlessStored(tracked, this.model, reader.known(this.#sides.target.name, to!)!, draft, reader)
      return
    }
    const isBlind = isCreation(tracked) || draft.isInside
    if (!isBlind && this.#sides.list !== undefined)
      draft.follow('remove references', detaching(tracked, this.#sides.target, this.#sides.list.name))
    const operations = isBlind ? [change] : [readBefore(this.model, this.#sides.target), change]
    draft.add(isLate ? 'add references' : 'write', linkWrite(this.#sides.owner, tracked.key, operations), settle)
  }

  #noteCreated(tracked: Tracked, { target, stored }: RefState, isLate: boolean, draft: Draft, reader: Reader): void {
    const to = isEntity(target) ? reader.tracked(target) : undefined
    if (isLate) this.#forUs?.note(to, tracked.key, draft)
    if (stored !== null && reader.known(this.#sides.target.name, stored)?.state !== 'removed')
      this.#forUs?.unlinked(reader.recordKey(this.#sides.target, stored), draft)
    for (const notes of this.#forTarget) {
      if (isLate && to?.key.set === notes.ownerSet) notes.note(tracked, to.key, draft)
      notes.linked(tracked, isLate ? 'add references' : 'write', draft)
    }
  }

  #planRelease(tracked: Tracked, state: RefState, draft: Draft, reader: Reader, present: KeyValue | null): void {
    // The entity was moved to an owner whose collection has detached it, too.
    if (present !== null && this.#collectionOf(present, reader)?.isRemoved(tracked.entity)) state.knowStored(present)
    const left = state.stored!
    planRelease(this.#sides, { tracked, state, left, present }, draft, reader, (isDone, outcome) => {
      if (outcome.reason !== 'guard') this.#settleBin(tracked, state, null, outcome, draft, reader)
      if (isDone && this.#sides.indexed !== undefined) this.#collectionOf(left, reader)?.confirmRemoved(tracked.entity)
    })
  }

  /** Looks also by its key: a record that this session is about to create cannot be looked for on the server. */
  #stateOf(target: RefState['target'], reader: Reader): Tracked['state'] | undefined {
    if (target === null) return undefined
    return (isEntity(target) ? reader.tracked(target) : reader.known(this.#sides.target.name, target))?.state
  }

  #settleBin(
    tracked: Tracked,
    state: RefState,
    to: KeyValue | null,
    outcome: Outcome,
    draft: Draft,
    reader: Reader,
  ): boolean {
    if (outcome.state === 'inDoubt' && !draft.isTransaction && !isCreation(tracked)) state.doubtStored()
    if (outcome.state !== 'written') return false
    const before = keyBefore(this.model, outcome.bins)
    const owner = before === null ? null : reader.fromStored(this.#sides.target, before)
    state.confirm(to, owner)
    if (owner === null || this.#sides.list === undefined) return true
    const id = userKeyId(owner)
    if (state.lists.toLeave.has(id) || (to !== null && id === userKeyId(to))) return true
    // Another session moved it since it was loaded: that list has to be changed as well.
    state.lists.mustLeave(owner)
    void this.#leaving.plan(tracked, state, owner, draft, reader)
    return true
  }

  #hold(owner: KeyValue, draft: Draft, reader: Reader): void {
    const key = reader.recordKey(this.#sides.target, owner)
    if (draft.isDeleting(key) || reader.known(this.#sides.target.name, owner)?.state === 'removed') return
    draft.add('write', held(modelAt(this.#sides.target, key), key), ({ state }) => state === 'written')
  }

  #planListed(tracked: Tracked, state: RefState, owner: KeyValue, draft: Draft, reader: Reader): void | Promise<void> {
    const list = this.#sides.list!
    const key = reader.recordKey(this.#sides.target, owner)
    const isOld = !isUnknown(tracked)
    if (isOld) draft.follow('add references', confirming(tracked, `${list.name} drops it`))
    const settle = (outcome: Outcome): boolean => {
      if (outcome.state !== 'notWritten' && !draft.isTransaction) state.notePartlySent(!state.isStoredAs(owner))
      if (outcome.state === 'written') {
        state.lists.joined()
        this.#collectionOf(owner, reader)?.confirmAdded(tracked.entity)
        // The list that it leaves is changed later, and what is checked then is checked once.
        if (isOld && state.lists.toLeave.size === 0) this.#sides.upkeep!.check(tracked.key, { on: key }, draft, reader)
        return true
      }
      if (outcome.reason === 'missing' || outcome.reason === 'guard')
        this.#undo.plan(tracked, state, owner, draft, reader)
      return false
    }
    const written = writtenAs(reader.known(this.#sides.target.name, owner))
    const entry = { owner: key, member: tracked.key.key, ...written }
    return this.#sides.lists!.at(key).add(entry, draft, 'add references', settle, reader)
  }

  get isEndOfLink(): boolean {
    return (this.#sides.list ?? this.#sides.indexed)?.through !== undefined
  }

  /** The collection of an owner that the session has. */
  #collectionOf(owner: KeyValue, reader: Reader): CollectionState | undefined {
    const known = reader.known(this.#sides.target.name, owner)
    return (
      known && collectionStateOf(readProperty(known.entity, (this.#sides.list ?? this.#sides.indexed)!.name) as object)
    )
  }
}

/** False for an upsert: what the record says is unknown. */
const isAsStored = ({ overwrite }: Tracked, state: RefState): boolean => state.isStored && overwrite !== true
