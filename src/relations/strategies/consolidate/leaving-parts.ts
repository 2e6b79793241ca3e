import { readProperty, type ChildCodec } from '../../../codec/index.js'
import type { KeyValue } from '../../../keys/index.js'
import { isEntity } from '../../contract/member.js'
import { nestedIn } from './attach-part.js'
import { unsentElsewhere, type PartHolder } from './part-holders.js'
import type { KnownPart, PartTable } from './part-table.js'

/** A stored part of a collection that is to be in another record. */
interface MovingPart {
  readonly id: KeyValue
  readonly to: readonly PartHolder[]
}

/** A stored child of a part that was taken out, and is to be in another record, or holds one that is. */
interface LeavingChild {
  readonly child: object
  readonly to: readonly PartHolder[]
}

/** Parts that were taken out here and that, or parts in them, were added to another record, which is not stored yet. */
export function* movingParts(table: PartTable): Iterable<MovingPart> {
  const { state, parts } = table
  for (const member of state.removed) {
    const id = isEntity(member) ? parts.keyOf(member) : member
    if (id === null) continue
    const known = table.known(id)
    const part = isEntity(member) ? member : known?.part
    const own = part && unsentElsewhere(part, table)
    const inside = known === undefined ? [] : goneFrom(known.part, parts.codec, known.snapshot, table, known.part)
    const to = [...(own === undefined ? [] : [own]), ...inside]
    if (to.length > 0) yield { id, to }
  }
}

/** Children inside a stored part that are stored in another record before they are taken out here. */
export function leavingChildren({ part, snapshot }: KnownPart, table: PartTable): readonly LeavingChild[] {
  const { codec } = table.parts
  return codec.children.length === 0 ? [] : [...leavingFrom(part, codec, snapshot, table, part)]
}

function* leavingFrom(
  part: object,
  codec: ChildCodec,
  snapshot: object,
  table: PartTable,
  root: object,
): Iterable<LeavingChild> {
  for (const field of codec.children) {
    const from = nestedIn(readProperty(part, field.name))
    if (from === undefined) continue
    for (const known of codec.knownChildren(snapshot, field).values()) {
      const below = [...leavingFrom(known.part, field.codec, known.snapshot, table, root)]
      yield* below
      if (from.holds(known.part)) continue
      const own = unsentElsewhere(known.part, table, root)
      const to = [...(own === undefined ? [] : [own]), ...below.flatMap((each) => each.to)]
      if (to.length > 0) yield { child: known.part, to }
    }
  }
}

/** Records to which stored parts inside a part that goes have been added. */
function goneFrom(
  part: object,
  codec: ChildCodec,
  snapshot: object,
  table: PartTable,
  root: object,
): readonly PartHolder[] {
  return [...leavingFrom(part, codec, snapshot, table, root)].flatMap(({ to }) => to)
}
