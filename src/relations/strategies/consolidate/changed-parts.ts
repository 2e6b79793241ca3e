import { leavingChildren } from './leaving-parts.js'
import type { PartHolder } from './part-holders.js'
import type { KnownPart, PartTable } from './part-table.js'

/** Writes that a flush has to send for one changed part. */
interface ChangeOfPart {
  /** Absent where all that changed is that children leave. */
  readonly first?: KnownPart
  /** The part that is left once children that leave it are stored in other records. */
  readonly then?: KnownPart
  /** Records to which children go that leave it. */
  readonly to: readonly PartHolder[]
}

const NOWHERE: readonly never[] = Object.freeze([])

/** Stored parts that were changed here. A child that goes to another record is stored there before it is taken out here. */
export function changedParts(table: PartTable): readonly ChangeOfPart[] {
  return [...table.changed()].map((known): ChangeOfPart => {
    const leaving = leavingChildren(known, table)
    if (leaving.length === 0) return { first: known, to: NOWHERE }
    const { parts, owner } = table
    const { part, snapshot } = known
    const keeps = new Set(leaving.map(({ child }) => child))
    const place = parts.placeOf(part)
    const isChanged = parts.patch({ ...known, place, keeps }, owner).length > 0
    return {
      ...(isChanged && { first: { ...known, keeps } }),
      then: {
        ...known,
        place,
        snapshot: parts.codec.keepChildren(parts.codec.snapshot(part), snapshot, keeps),
        orderValues: parts.orderValuesOf(part),
      },
      to: leaving.flatMap(({ to }) => to),
    }
  })
}
