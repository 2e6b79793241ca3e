import type { EntityModel } from '../../model/index.js'
import { userKeyId, type UserKey } from '../../plan/record-key.js'
import type { CollectionState } from '../state/collection-state.js'
import type { Tracked } from '../contract/tracked.js'
import type { Reader } from '../contract/reader.js'
import type { Cascade } from '../contract/contributor.js'
import { isEntity, storedRef, type Member } from '../contract/member.js'
import type { MemberStore } from '../contract/member-store.js'

/**
 * Deletes those that were taken out of a list which is all that tells who is in it: what it did not hold is not an orphan. A list that was not
 * loaded is asked in the batch read that finds the children.
 */
export async function reachUnlistedOrphans(
  parent: Tracked,
  state: CollectionState,
  lists: MemberStore,
  target: EntityModel,
  reach: Cascade,
  reader: Reader,
): Promise<void> {
  const stored = (member: Member): UserKey =>
    storedRef(target, reader.recordKey(target, isEntity(member) ? reader.keyOf(member, target.name)! : member))
  const stays = state.loaded.members
  const members = state.removed.filter((member) => state.isOrphaned(member) || stays?.has(member) !== false)
  const unsure = stays === undefined ? members.filter((member) => !state.isOrphaned(member)).map(stored) : []
  const [found, held] = await Promise.all([
    reader.find(target, members.filter(isKey)),
    unsure.length === 0 ? [] : lists.held(parent.key, unsure, reader),
  ])
  const elsewhere = new Set(unsure.map(userKeyId))
  for (const key of held) elsewhere.delete(userKeyId(key))
  for (const child of [...members.filter(isEntity), ...found.flatMap((each) => each?.entity ?? [])]) {
    if (reader.tracked(child) !== undefined && !elsewhere.has(userKeyId(stored(child)))) reach.remove(child)
  }
}

const isKey = (member: Member): member is Exclude<Member, object> => !isEntity(member)
