import type { KeyValue } from '../../../keys/index.js'
import { userKeyId } from '../../../plan/record-key.js'
import { isEntity } from '../../contract/member.js'
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
  const moving = new Set([...table.moving()].map(({ id }) => userKeyId(id)))
  return {
    removed: state.removed
      .map((member) => (isEntity(member) ? parts.idOf(member) : member))
      .filter((id) => !moving.has(userKeyId(id))),
    changed: [...table.changed()],
    recorded: table.recorded.all,
    put: state.added.map((member) => {
      if (!isEntity(member)) throw parts.bareKey(member)
      return member
    }),
  }
}
