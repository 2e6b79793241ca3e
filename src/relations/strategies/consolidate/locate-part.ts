import type { LocatedPart } from '../../contract/relation-strategy.js'
import type { PartTable } from './part-table.js'

/** Finds a part by its id, for a handle on it. */
export function locatePart(table: PartTable, given: unknown): LocatedPart {
  const { parts, owner } = table
  const id = parts.checkedId(given)
  const known = table.isSure(id) ? table.known(id) : undefined
  return {
    id,
    part: table.find(id),
    place: parts.sortKey === undefined ? id : known?.place,
    isAdded: table.state.findAdded(id) !== undefined,
    unsent: () =>
      known === undefined || parts.codec.same(known.part, known.snapshot) ? [] : parts.patch(known, owner),
    accept: () => void (known && (known.snapshot = parts.codec.snapshot(known.part))),
    showWhenRead: (change) => table.unsent.add(id, change),
  }
}
