import type { KeyValue } from '../../../keys/index.js'
import { userKeyId } from '../../../plan/record-key.js'
import { isEntity } from '../../contract/member.js'
import type { Tracked } from '../../contract/tracked.js'
import { changedParts } from './changed-parts.js'
import { movingParts } from './leaving-parts.js'
import type { KnownPart, PartTable } from './part-table.js'
import type { RecordedChange } from './recorded-changes.js'

/** Changes of one collection that are still to be sent. */
export interface PartItems {
  readonly removed: readonly KeyValue[]
  readonly changed: readonly KnownPart[]
  readonly recorded: readonly RecordedChange[]
  readonly put: readonly object[]
}

/** Everything that a flush has to do, but for children that go to another record: those are stored there first. */
export function itemsOf(table: PartTable): PartItems {
  const { state, parts } = table
  const moving = new Set([...movingParts(table)].map(({ id }) => userKeyId(id)))
  return {
    removed: state.removed
      .map((member) => (isEntity(member) ? parts.idOf(member) : member))
      .filter((id) => !moving.has(userKeyId(id))),
    changed: changedParts(table).flatMap(({ first }) => first ?? []),
    recorded: table.recorded.all,
    put: state.added.map((member) => {
      if (!isEntity(member)) throw parts.bareKey(member)
      return member
    }),
  }
}

/** Items to take out here once they are stored in other records, and those records; undefined where nothing leaves. */
export function leavingItems(
  table: PartTable,
): { readonly items: PartItems; readonly to: readonly Tracked[] } | undefined {
  const moving = [...movingParts(table)]
  const changed = table.parts.codec.children.length === 0 ? [] : changedParts(table)
  const to = [...moving, ...changed].flatMap((each) => each.to)
  if (to.length === 0) return undefined
  const items = {
    removed: moving.map(({ id }) => id),
    changed: changed.flatMap(({ then }) => then ?? []),
    recorded: [],
    put: [],
  }
  return { items, to: [...new Set(to.map(({ owner }) => owner))] }
}
