import { readProperty } from '../../codec/index.js'
import type { KeyValue } from '../../keys/index.js'
import type { EntityModel, RelationModel } from '../../model/index.js'
import { binEquals, read, write, type WriteCommand } from '../../plan/command.js'
import type { Draft } from '../../plan/draft.js'
import { writeBin } from '../../plan/operations.js'
import { isOvertaken, isWrittenOrMissing, type Outcome } from '../../plan/outcome.js'
import { userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import { askingOwner, lookingAgain } from '../write/explain-reads.js'
import { keyBefore, readBefore, held, whileLinkable } from '../write/link-bin.js'
import { leavingOf, reachChildren, reachOrphans, reachTakenOut, release } from '../cascade/children.js'
import type { CollectionState } from '../state/collection-state.js'
import type { Tracked } from '../contract/tracked.js'
import type { Reader } from '../contract/reader.js'
import type { Cascade } from '../contract/contributor.js'
import { inSteps, type Drain } from '../contract/drain.js'
import { leaves } from '../cascade/restrict.js'
import { indexedMembers, indexMembers } from './index-members.js'
import { indexOn, type IndexedBy } from '../contract/index-lookup.js'
import { isInKey, keepInKey } from '../write/ref-in-key.js'
import { isEntity, recordOfRef, storedRef, type Member } from '../contract/member.js'
import { markDeleting } from '../write/delete-marker.js'
import { progressOf } from '../state/link-progress.js'
import { ownerGone, restricted } from '../contract/relation-errors.js'
import { askOwner } from '../write/owner-there.js'
import { leaveUnlessThere, retarget } from '../write/guarded-ref-write.js'
import { collectionStateOf, hasShownChanges, isHere } from '../state/state-of.js'
import type { CollectionMembers } from '../contract/collection-members.js'
import type { LinkVerification } from '../contract/link-verification.js'
import { createdForLinks } from '../verify/leftover-links.js'
import type { RelationStrategy } from '../contract/relation-strategy.js'

/**
 * Nothing on the parent: an index on the child's bin finds the children. The child's own strategy writes that bin; only children that
 * are known by key alone are planned here.
 */
export class SecondaryIndexStrategy implements RelationStrategy {
  readonly relation: string
  readonly model: RelationModel
  readonly bins: readonly string[] = []
  readonly members: CollectionMembers
  readonly leftovers: LinkVerification | undefined
  readonly #owner: EntityModel
  readonly #owners: EntityModel
  readonly #target: EntityModel
  readonly #childBin: string
  readonly #inverse: RelationModel
  readonly lookup: (owner: Pick<Tracked, 'key'>) => IndexedBy

  /** `owners`: the class of the owners, or the several that a member may belong to one of. */
  constructor(model: RelationModel, owner: EntityModel, target: EntityModel, inverse: RelationModel, owners = owner) {
    this.relation = model.name
    this.model = model
    this.#owner = owner
    this.#owners = owners
    this.#target = target
    this.#childBin = inverse.bin!
    this.leftovers = createdForLinks(model, owner, target, { ownBin: inverse.bin })
    this.#inverse = inverse
    const index = indexOn(target, inverse)
    this.lookup = ({ key }) => ({ model: target, index, value: storedRef(inverse, key) })
    this.members = indexMembers(target, this.#childBin, this.lookup)
  }

  hasChanges({ entity }: Tracked): boolean {
    return hasShownChanges(this.#state(entity))
  }

  async cascade(tracked: Tracked, reach: Cascade, reader: Reader): Promise<void> {
    if (tracked.state === 'removed') return this.#reachOnDelete(tracked, reach, reader)
    const state = this.#state(tracked.entity)
    for (const member of state.addedEntities) reach.save(member)
    if (this.model.orphans === 'keep') for (const member of state.removed.filter(isEntity)) reach.save(member)
    else await reachOrphans(tracked, state, this.#target, this.#inverse, reach, reader)
  }

  save(tracked: Tracked, draft: Draft, reader: Reader): void | Promise<void> {
    const state = this.#state(tracked.entity)
    const isWrittenAnyway = tracked.state === 'new' || tracked.createsRecord === true
    if (draft.isTransaction && !isWrittenAnyway && [...state.added, ...state.removed].some(isKey))
      draft.add('write', held(this.#owner, tracked.key), isWritten)
    for (const member of state.added) {
      if (!isEntity(member)) this.#planUnloaded(tracked, member, state, draft, reader)
      else if (isHere(member, this.#inverse, tracked, reader)) draft.beforeSending(() => state.confirmAdded(member))
    }
    if (this.model.orphans === 'delete') return this.#settleOrphans(state, draft, reader)
    const leaving = state.removed.flatMap((member) => this.#planRelease(tracked, member, state, draft, reader) ?? [])
    if (leaving.length > 0) return Promise.all(leaving).then(() => undefined)
  }

  /** Children are deleted or detached by `reach`; until it is gone, the record says that it takes no new ones. */
  remove(tracked: Tracked, draft: Draft): void {
    if (this.model.onDelete === 'restrict') return
    draft.follow('mark', lookingAgain(tracked, this.model))
    if (draft.isTransaction) return
    draft.add('mark', markDeleting(tracked), isWrittenOrMissing)
  }

  async load(level: readonly Tracked[], reader: Reader, _along?: readonly string[]): Promise<readonly Tracked[]> {
    const found = await Promise.all(level.map((owner) => this.#loadOne(owner, reader)))
    return [...new Set(found.flat())]
  }

  async #loadOne(owner: Tracked, reader: Reader): Promise<Tracked[]> {
    const state = this.#state(owner.entity)
    const since = state.beginLoad()
    try {
      return await this.#fill(owner, state, since, reader)
    } finally {
      state.loaded.endLoad()
    }
  }

  async #fill(owner: Tracked, state: CollectionState, since: number, reader: Reader): Promise<Tracked[]> {
    const found: Tracked[] = []
    if (owner.state !== 'new')
      for await (const step of indexedMembers(this.lookup(owner), owner, reader)) found.push(...step.found)
    for (const added of await reader.find(this.#target, state.addedKeys)) state.resolveKey(added?.entity)
    state.loaded.fill(
      found.map(({ entity }) => entity),
      since,
    )
    return [...found, ...state.addedEntities.flatMap((entity) => reader.tracked(entity) ?? [])]
  }

  #state(entity: object): CollectionState {
    return collectionStateOf(readProperty(entity, this.relation) as object)
  }

  /** Takes in a child that nobody has loaded. */
  #planUnloaded(tracked: Tracked, member: KeyValue, state: CollectionState, draft: Draft, reader: Reader): void {
    const child = reader.recordKey(this.#target, member)
    const own = storedRef(this.#inverse, tracked.key)
    keepInKey(this.#target, this.#inverse, child, own, reader)
    const isLate = tracked.state === 'new' && !draft.isTransaction
    if (!isLate && !draft.isTransaction)
      draft.follow('write', askingOwner({ model: this.#target, key: child }, this.#owner))
    const isAsked = !isLate && !draft.isInside
    const change = writeBin(this.#childBin, own)
    const operations = isAsked ? [readBefore(this.#inverse, this.#owners), change] : [change]
    const command = write(this.#target.name, child, operations, {
      exists: 'mustExist',
      ttl: 'keep',
      guards: whileLinkable(this.#target),
    })
    const sentBefore = state.replacedBy(member)
    draft.add(isLate ? 'add references' : 'write', command, (outcome) => {
      if (outcome.state === 'inDoubt' && !draft.isTransaction) state.notePartlySent(member)
      if (outcome.state !== 'written') return false
      state.confirmAdded(member)
      const found = keyBefore(this.#inverse, outcome.bins)
      // An earlier write whose answer was lost may be why the record names this parent.
      const isSame = found !== null && userKeyId(found) === userKeyId(own)
      if (isAsked) this.#confirm(tracked, member, isSame ? sentBefore : found, state, draft, reader)
      return true
    })
  }

  /**
   * The parent is not written, so it is asked whether it is still there and means to stay; otherwise the child goes back to the one it had. `before` is undefined
   * where another session has given it to the same parent, and does that.
   */
  #confirm(
    tracked: Tracked,
    member: KeyValue,
    before: UserKey | null | undefined,
    state: CollectionState,
    draft: Draft,
    reader: Reader,
  ): void {
    askOwner(this.#owner, tracked.key, draft, reader, (error) => {
      const why = error ?? ownerGone(this.#owner, reader.fromStored(this.#owner, tracked.key.key))
      if (isInKey(this.#target, this.#inverse)) throw why
      if (before === undefined) {
        state.add(member)
        throw why
      }
      const child = reader.recordKey(this.#target, member)
      draft.add(
        'undo',
        retarget(this.#target, child, this.#childBin, storedRef(this.#inverse, tracked.key), before),
        (outcome) => {
          state.add(member)
          if (outcome.state !== 'written' && !isOvertaken(outcome)) state.notePartlySent(member, before)
          if (outcome.state === 'written' && before !== null) {
            const from = recordOfRef(this.#owners, before)
            leaveUnlessThere(this.#target, child, this.#inverse, this.#owners, from, draft)
          }
          return why
        },
      )
    })
  }

  #planRelease(
    tracked: Tracked,
    member: Member,
    state: CollectionState,
    draft: Draft,
    reader: Reader,
  ): void | Promise<void> {
    const { isWritten } = leavingOf(member, this.#inverse, tracked, reader)
    // The child's own write says where it belongs, whatever was said here.
    if (isWritten) return draft.beforeSending(() => state.confirmRemoved(member))
    const child = reader.recordKey(this.#target, state.keyOf(member)!)
    const progress = progressOf(member, 1, state, draft, () => state.confirmRemoved(member))
    return release(this.#target, child, this.#inverse, tracked.key, draft, reader, progress)
  }

  #release({ key }: Tracked, child: RecordKey): WriteCommand {
    return retarget(this.#target, child, this.#childBin, storedRef(this.#inverse, key), null)
  }

  /** Orphans are forgotten when they are deleted, in the same flush; those without a record are nothing to wait for. */
  #settleOrphans(state: CollectionState, draft: Draft, reader: Reader): void {
    const others = state.removed.filter((member) => !isRemoved(member, reader))
    if (others.length > 0) draft.beforeSending(() => others.forEach((member) => state.confirmRemoved(member)))
  }

  async #reachOnDelete(tracked: Tracked, reach: Cascade, reader: Reader): Promise<void> {
    const { onDelete } = this.model
    // Adding a child in a transaction writes to the parent: reading it here detects such a write, which the query cannot.
    if (reader.isInside) await reader.read([read(this.#owner.name, tracked.key, 'none')])
    const state = this.#state(tracked.entity)
    if (onDelete === 'restrict') {
      await reachTakenOut(tracked, this.#target, this.model, this.#inverse, state, reach, reader)
      const forbidding = { owner: tracked, target: this.#target, inverse: this.#inverse, reach, reader }
      for await (const keys of reader.keysBy(this.lookup(tracked))) {
        const member = keys.find((key) => !leaves(key, forbidding))
        if (member !== undefined) throw restricted(tracked, this.model, member)
      }
      return
    }
    const children: Tracked[] = []
    const passing: Tracked[] = []
    for await (const { found, fresh, leaving } of reader.foundBy(this.lookup(tracked))) {
      children.push(...found)
      passing.push(...fresh)
      for (const { entity } of leaving) reach.join(entity)
      if (children.length <= reach.room) continue
      reader.release(passing)
      return reach.drain(this.#drain(tracked, reader))
    }
    children.push(...(await reader.find(this.#target, state.addedKeys)).filter((child) => child !== null))
    const added = state.addedEntities.flatMap((entity) => reader.tracked(entity) ?? [])
    const all = [...new Set([...children, ...added])]
    await reachChildren(tracked, all, this.model, this.#inverse, state, reach, reader)
  }

  #drain(owner: Tracked, reader: Reader): Drain {
    const lookup = { ...this.lookup(owner), marked: true }
    const release = (key: KeyValue): WriteCommand => this.#release(owner, reader.recordKey(this.#target, key))
    const survey = (count: number): AsyncIterable<readonly KeyValue[]> => inSteps(reader.keysBy(lookup), count)
    return {
      owner,
      className: this.#owner.name,
      property: this.relation,
      target: this.#target,
      fate: this.model.onDelete === 'cascade' ? { kind: 'delete' } : { kind: 'release', release },
      only: binEquals(this.#childBin, storedRef(this.#inverse, owner.key)),
      chunks: (count) => untilNone(() => survey(count)),
      survey,
    }
  }
}

/** Looks again until nothing is found: somebody may have added a member while the index was walked. */
async function* untilNone(find: () => AsyncIterable<readonly KeyValue[]>): AsyncGenerator<readonly KeyValue[]> {
  for (let isDone = false; !isDone;) {
    isDone = true
    for await (const keys of find()) {
      isDone = false
      yield keys
    }
  }
}

const isWritten = ({ state }: Outcome): boolean => state === 'written'
const isKey = (member: Member): boolean => !isEntity(member)

/** True for an entity whose delete is under way, also for one that leaves its record. */
const isRemoved = (member: Member, reader: Reader): boolean =>
  isEntity(member) && reader.tracked(member)?.state === 'removed'
