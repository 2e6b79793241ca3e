import type { ChildCodec } from '../../../codec/index.js'
import type { LocatedPart, PartFields } from '../../contract/relation-strategy.js'
import type { PartTable } from './part-table.js'

/** Finds a part by its id, for a handle on it. */
export function locatePart(table: PartTable, given: unknown): LocatedPart {
  const { parts, owner } = table
  const { codec } = parts
  const id = parts.checkedId(given)
  const known = table.isSure(id) ? table.known(id) : undefined
  return {
    id,
    part: table.find(id),
    place: parts.sortKey === undefined ? id : known?.place,
    isAdded: table.state.findAdded(id) !== undefined,
    unsent: (fields) => {
      if (known === undefined || codec.same(known.part, known.snapshot)) return []
      const now = codec.snapshot(known.part)
      // Other fields are sent as changes of the part, with the orders and indexes that they belong to.
      const before = withFields(codec, now, known.snapshot, fields)
      return before && parts.patch({ ...known, snapshot: before }, owner)
    },
    accept: (fields) => {
      if (known !== undefined)
        known.snapshot = withFields(codec, known.snapshot, codec.snapshot(known.part), fields) ?? known.snapshot
    },
    showWhenRead: (change) => table.unsent.add(id, change),
  }
}

/** The snapshot with these fields of another one; undefined where one of the two lacks the part that has them. */
function withFields(
  codec: ChildCodec,
  snapshot: object,
  other: object,
  { steps, bins }: PartFields,
): object | undefined {
  const [step, ...rest] = steps
  if (step === undefined) return codec.withFields(snapshot, other, bins)
  const { field, id } = step
  const key = field.keyOf(id)
  const known = codec.knownChildren(snapshot, field)
  const [mine, theirs] = [known.get(key), codec.knownChildren(other, field).get(key)]
  if (mine === undefined || mine.part !== theirs?.part) return undefined
  const inside = withFields(field.codec, mine.snapshot, theirs.snapshot, { steps: rest, bins })
  return inside && codec.withChildren(snapshot, field, new Map(known).set(key, { ...mine, snapshot: inside }))
}
