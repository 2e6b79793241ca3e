import type { EntityModel, RelationModel } from '../../model/index.js'
import { binEquals, read, type BinGuard } from '../../plan/command.js'
import { tolerating, type Draft } from '../../plan/draft.js'
import { removeBin } from '../../plan/operations.js'
import { userKeyId, type RecordKey, type UserKey } from '../../plan/record-key.js'
import { whileItHolds } from '../write/explain-reads.js'
import type { CollectionState } from '../state/collection-state.js'
import type { Tracked } from '../contract/tracked.js'
import type { Reader } from '../contract/reader.js'
import type { Cascade } from '../contract/contributor.js'
import { linkWrite } from '../write/link-bin.js'
import { keepHeld } from '../write/ref-in-key.js'
import { isEntity, storedRef, type Member } from '../contract/member.js'
import type { Progress } from '../state/link-progress.js'
import type { RefState } from '../state/ref-state.js'
import { retarget } from '../write/guarded-ref-write.js'
import { isTakenOut, parentRef } from '../state/state-of.js'
import type { KeyValue } from '../../keys/index.js'

/** Ways in which a child that was taken out of a collection leaves it. */
export interface Leaving {
  /** The child's own write takes it off this parent. */
  readonly isOwn: boolean
  /** The child's own write gives its bin another value, whatever the record says now. */
  readonly isWritten: boolean
}

/** A child that is known by its key alone, or does not say that it is leaving, has to be taken out by its parent. */
export function leavingOf(member: Member, inverse: RelationModel, parent: Tracked, reader: Reader): Leaving {
  if (!isEntity(member)) return { isOwn: false, isWritten: false }
  const ref = parentRef(member, inverse)
  const key = reader.keyOf(parent.entity, inverse.target)!
  const isOwn = !ref.isStored && ref.isStoredAs(key)
  // A child that was taken out of another parent as well is written only while it is that one's.
  return { isOwn, isWritten: isOwn || (!ref.isStored && !isTakenOut(reader.tracked(member), ref)) }
}

/** True for an entity that the same flush deletes. */
export function isDeleting(member: Member, draft: Draft, reader: Reader): boolean {
  const tracked = isEntity(member) ? reader.tracked(member) : undefined
  return tracked !== undefined && draft.isDeleting(tracked.key)
}

/** Deletes those that were taken out of a collection and put nowhere else; a child of another parent was never in it. */
export async function reachOrphans(
  parent: Tracked,
  state: CollectionState,
  target: EntityModel,
  inverse: RelationModel,
  reach: Cascade,
  reader: Reader,
): Promise<void> {
  const key = reader.keyOf(parent.entity, inverse.target)!
  const children = await entitiesOf(target, state.removed, reader, inverse)
  await findHere(parent, children, state, inverse, reader)
  for (const child of children) {
    const ref = parentRef(child, inverse)
    const isOrphan = ref.key === null && (state.isOrphaned(child) || ref.isStoredAs(key))
    // Another parent may have added it by its key alone.
    if (!isOrphan) reach.save(child)
    else if (reader.tracked(child) !== undefined) reach.remove(child, stillAt(ref, inverse, reader))
  }
}

/** The child has the parent that is known here: another session may have given it one before it is deleted as an orphan. */
export function stillAt({ stored }: RefState, inverse: RelationModel, reader: Reader): BinGuard {
  const owner = stored === null ? null : reader.recordKey(reader.entityModel(inverse.target), stored)
  return binEquals(inverse.bin!, owner && storedRef(inverse, owner))
}

/**
 * The record of a child still says what is known of its parent: another session may move it before it is deleted with that one. Undefined where it cannot
 * be moved, or was given this parent without being read.
 */
export function whileChildOf(
  parent: Tracked,
  child: object,
  inverse: RelationModel,
  reader: Reader,
): BinGuard | undefined {
  const ref = parentRef(child, inverse)
  if (ref.isStoredKnown) return stillAt(ref, inverse, reader)
  return ref.isRead ? undefined : binEquals(inverse.bin!, storedRef(inverse, parent.key))
}

/** Of those that were taken out from where they were not, as far as they knew: who is here by now. */
async function findHere(
  parent: Tracked,
  children: readonly object[],
  state: CollectionState,
  inverse: RelationModel,
  reader: Reader,
): Promise<void> {
  const stored = children.filter((child) => !state.isOrphaned(child)).flatMap((child) => reader.tracked(child) ?? [])
  for (const { entity } of await readAgain(parent, stored, inverse, reader))
    parentRef(entity, inverse).removeFromInverse(parent.entity)
}

/** Cascades the delete of a parent to its children; those that have already left it in this session are saved, or deleted as its orphans. */
export async function reachChildren(
  parent: Tracked,
  children: readonly Tracked[],
  { onDelete, orphans, bin }: RelationModel,
  inverse: RelationModel,
  state: CollectionState,
  reach: Cascade,
  reader: Reader,
): Promise<void> {
  // A session that moves a child which a transaction has found in a list changes that list, too, and is in conflict with it.
  const mayBeMoved = !reader.isInside || bin === undefined
  const key = reader.keyOf(parent.entity, inverse.target)!
  await readAgain(parent, children, inverse, reader)
  for (const { entity } of children) {
    const ref = parentRef(entity, inverse)
    const isHere = ref.mayBeAt(parent.entity)
    const isOrphan = !isHere && orphans === 'delete' && ref.key === null && ref.isStoredAs(key)
    if (isHere ? onDelete === 'cascade' : isOrphan && onDelete !== 'detach') {
      if (isOrphan) reach.remove(entity, stillAt(ref, inverse, reader))
      else reach.remove(entity, mayBeMoved ? whileChildOf(parent, entity, inverse, reader) : undefined)
      continue
    }
    if (!isHere) {
      reach.save(entity)
      continue
    }
    leave(entity, inverse, state, reach)
    reach.detach(entity, inverse.name)
  }
}

/** Reaches the children that were taken out of a collection whose parent is deleted, which may be known by their keys alone. */
export async function reachTakenOut(
  parent: Tracked,
  target: EntityModel,
  relation: RelationModel,
  inverse: RelationModel,
  state: CollectionState,
  reach: Cascade,
  reader: Reader,
): Promise<void> {
  const keys = state.removed.map((member) => (isEntity(member) ? reader.keyOf(member)! : member))
  if (keys.length === 0) return
  const children = await findAndReachLeaving(target, keys, reach, reader)
  await reachChildren(parent, children, relation, inverse, state, reach, reader)
}

/** The child is detached, unless its parent stays after all. */
function leave(child: object, inverse: RelationModel, state: CollectionState, reach: Cascade): void {
  const ref = parentRef(child, inverse)
  let isRefBack = (): boolean => true
  const { isPreview } = reach
  const takeOut = (): void => void (isRefBack = ref.tentatively(() => state.remove(child), isPreview))
  const entryBack = state.tentatively(child, takeOut, isPreview)
  // A child that was moved meanwhile has left all the same.
  reach.onRollback(() => void (isRefBack() && entryBack()), child)
}

/** Children that were found here and do not know of it were moved since they were loaded. */
export async function readAgain(
  parent: Tracked,
  children: readonly Tracked[],
  inverse: RelationModel,
  reader: Reader,
): Promise<readonly Tracked[]> {
  const here = reader.keyOf(parent.entity, inverse.target)!
  const moved = children.filter(({ entity, state }) => {
    const ref = parentRef(entity, inverse)
    // A child that leaves this very parent need not be read again; one that leaves another may be marked as an orphan of that.
    const isLeavingAnother = ref.isTakenOut && !ref.isStoredAs(here)
    if (isLeavingAnother) return state === 'stored' || state === 'removed'
    return state === 'stored' && ref.isStored && !ref.mayBeAt(parent.entity)
  })
  const records = await reader.read(moved.map(({ model, key }) => read(model.name, key, [inverse.bin!])))
  const parents = reader.entityModel(inverse.target)
  moved.forEach(({ entity }, i) => {
    const stored = records[i]?.bins[inverse.bin!] as UserKey | undefined
    const ref = parentRef(entity, inverse)
    const now = stored === undefined ? null : reader.fromStored(parents, stored)
    const isHere = now !== null && userKeyId(now) === userKeyId(here)
    // A child that is leaving another parent goes on doing so, unless it is here by now.
    if (ref.isStored || isHere) ref.takeStored(now)
  })
  return moved
}

/** The entities of members that were taken out; those of which nothing is known are loaded. */
async function entitiesOf(
  target: EntityModel,
  members: Iterable<Member>,
  reader: Reader,
  inverse: RelationModel,
): Promise<object[]> {
  const all = [...members]
  const isKnown = (member: Member): member is object => isEntity(member) && parentRef(member, inverse).isRead
  const keys = all
    .filter((member) => !isKnown(member))
    .map((member) => (isEntity(member) ? reader.keyOf(member)! : member))
  const found = await reader.find(target, keys)
  return [...all.filter(isKnown), ...found.flatMap((child) => (child === null ? [] : [child.entity]))]
}

/** Takes the parent out of the child's bin, only while it is still there: another session may have moved the child meanwhile. */
export function release(
  target: EntityModel,
  child: RecordKey,
  inverse: RelationModel,
  owner: RecordKey,
  draft: Draft,
  reader: Reader,
  progress: Progress,
): void | Promise<void> {
  const parent = storedRef(inverse, owner)
  keepHeld(target, inverse, child, parent, reader)
  const bin = inverse.bin!
  const settle = tolerating(['missing', 'guard'], progress)
  if (!draft.isInside) {
    const command = retarget(target, child, bin, parent, null)
    draft.follow('write', whileItHolds({ model: target, key: child }))
    if (draft.isTransaction) draft.add('write', command, settle)
    else draft.addApart('write', command, settle)
    return
  }
  // Only one write per record: a guard would apply to all of its operations, so the transaction reads first.
  return reader.read([read(target.name, child, [bin])]).then(([record]) => {
    const now = record?.bins[bin] as UserKey | undefined
    if (now === undefined || userKeyId(now) !== userKeyId(parent)) return void progress(true)
    draft.add('write', linkWrite(target, child, [removeBin(bin)]), (outcome) => settle(outcome))
  })
}

/** Finds the entities under the keys that stay; those that the session deletes anyway join the cascade. `inverse`: a list has these keys, and they lead back to it by that. */
export async function findAndReachLeaving(
  model: EntityModel,
  keys: readonly KeyValue[],
  reach: Cascade,
  reader: Reader,
  inverse?: RelationModel,
): Promise<Tracked[]> {
  const found = await reader.find(model, keys)
  return keys.flatMap((key, i) => {
    const tracked = found[i]
    if (tracked !== null) return tracked
    const known = reader.known(model.name, key)
    if (known?.state === 'removed') reach.join(known.entity, reader.isInside ? inverse?.bin : undefined)
    return []
  })
}
