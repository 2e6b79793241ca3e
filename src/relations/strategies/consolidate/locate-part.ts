import type { ChildCodec } from '../../../codec/index.js'
import type { LocatedPart, PartFields } from '../../contract/relation-strategy.js'
import type { PartTable } from './part-table.js'

/** Finds a part by its id, for a handle on it. */
export function locatePart(table: PartTable, given: unknown): Omit<LocatedPart, 'read'> {
  const { parts, owner } = table
  const { codec } = parts
  const id = parts.checkedId(given)
  const known = table.isSure(id) ? table.known(id) : undefined
  const found = table.find(id)
  const part = found ?? undefined
  const sent = part && table.sent.of(id)
  return {
    id,
    part: found,
    place: parts.sortKey === undefined ? id : known?.place,
    isRemoved: table.state.isRemoved(id),
    isAdded: table.state.findAdded(id) !== undefined,
    sent,
    unsent: (fields, since) => {
      const snapshot = since?.snapshot ?? known?.snapshot
      if (part === undefined || snapshot === undefined || codec.same(part, snapshot)) return []
      const now = codec.snapshot(part)
      // Other fields are sent as changes of the part, with the orders and indexes that they belong to.
      const before = withFields(codec, now, snapshot, fields)
      const place = known?.place ?? parts.placeOf(part)
      return before && parts.patch({ part, place, snapshot: before, keeps: known?.keeps }, owner)
    },
    accept: (fields) => {
      for (const each of [known, sent])
        if (each !== undefined && part !== undefined)
          each.snapshot = withFields(codec, each.snapshot, codec.snapshot(part), fields) ?? each.snapshot
    },
    showWhenRead: (change) => table.unsent.add(id, change),
    edits: table.unsent.editsOf(id),
    edit: (edit) => table.unsent.edit({ ...edit, id }),
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
