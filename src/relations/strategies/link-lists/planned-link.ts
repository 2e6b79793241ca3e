import { readProperty } from '../../../codec/index.js'
import type { RelationModel } from '../../../model/index.js'
import { recordId, type RecordKey, type UserKey } from '../../../plan/record-key.js'
import { isEntity, writtenAs, type Member } from '../../contract/member.js'
import type { Reader } from '../../contract/reader.js'
import type { Tracked } from '../../contract/tracked.js'
import type { CollectionState } from '../../state/collection-state.js'
import { collectionStateOf } from '../../state/state-of.js'
import type { LinkPair, LinkSide } from '../../write/link-upkeep.js'
import { heldHere, heldThere, type LinkListSides } from './link-list-sides.js'

/** A link, whichever side it was changed on: where it is stored, at one end or at both, and the record it leads to. */
interface PlannedLink {
  readonly ends: readonly LinkSide[]
  readonly to: RecordKey
  /** The value under which this end holds the record. */
  readonly ref: UserKey
  readonly id: string
  /** Present where others may change the link at the same time: nobody knows of a record that is just created. */
  readonly pair?: LinkPair
  readonly settle: () => void
}

/** Says where the link of an entity and its member is stored. */
export function plannedLink(
  sides: LinkListSides,
  change: 'add' | 'remove',
  tracked: Tracked,
  member: Member,
  state: CollectionState,
  reader: Reader,
): PlannedLink {
  const here: LinkSide = {
    store: sides.store,
    key: tracked.key,
    ref: heldThere(sides, tracked.key),
    written: writtenAs(tracked),
  }
  const key = state.keyOf(member)!
  const to = reader.recordKey(sides.target, key)
  const ref = heldHere(sides, to)
  const id = linkId(
    sides.model,
    `${recordId(here.key)}#${sides.store.bin}`,
    `${recordId(to)}#${sides.otherLists?.at(to).bin ?? ''}`,
  )
  const confirm = change === 'add' ? 'confirmAdded' : 'confirmRemoved'
  const settleHere = (): void => state[confirm](member)
  if (sides.inverse === undefined || sides.otherLists === undefined)
    return { ends: [here], to, ref, id, settle: settleHere }
  const other = isEntity(member) ? reader.tracked(member) : reader.known(sides.target.name, key)
  const there: LinkSide = { store: sides.otherLists.at(to), key: to, ref, written: writtenAs(other) }
  const inverse = sides.inverse.name
  const settle = (): void => {
    settleHere()
    if (other) collectionStateOf(readProperty(other.entity, inverse) as object)[confirm](tracked.entity)
  }
  const isFresh = [tracked, other].some((end) => end?.state === 'new' && end.key.isReused !== true)
  return { ends: [here, there], to, ref, id, settle, ...(isFresh ? {} : { pair: pairOf(sides.model, here, there) }) }
}

/** Chooses the owner of a link. In a relation that is its own inverse either end may be, but all sessions must choose the same one. */
function pairOf(model: RelationModel, here: LinkSide, there: LinkSide): LinkPair {
  const isOwner = model.inverse === model.name ? recordId(here.key) < recordId(there.key) : model.owner
  return isOwner ? { owner: here, other: there } : { owner: there, other: here }
}

/** Identifies a link by the same text from both of its sides. */
function linkId(relation: RelationModel, here: string, there: string): string {
  const ids = [here, there]
  // Friends are friends of each other: such a relation is its own other side.
  if (relation.inverse === relation.name) return ids.sort().join(' ~ ')
  return (relation.owner ? ids : ids.reverse()).join(' ~ ')
}
