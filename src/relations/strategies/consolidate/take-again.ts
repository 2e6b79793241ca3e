import { readProperty, type ChildCodec } from '../../../codec/index.js'
import type { Value } from '../../../plan/value.js'
import { nestedIn } from './attach-part.js'
import type { PartTable } from './part-table.js'

/** Takes in a part that was read again: a known one stays as it is here, with the parts that others have put into it. */
export function takeAgain(table: PartTable, stored: Value): void {
  const { parts, owner } = table
  const read = parts.decode(stored, owner)
  const known = table.known(parts.idOf(read))
  if (known === undefined) table.take(stored)
  else known.snapshot = withOthers(known.part, parts.codec, known.snapshot, parts.codec.snapshot(read))
}

/** The snapshot of a part with children that only a newer one has; the part gets them, too. */
function withOthers(part: object, codec: ChildCodec, snapshot: object, newer: object): object {
  return codec.children.reduce((now, field) => {
    const nested = nestedIn(readProperty(part, field.name))
    const known = new Map(codec.knownChildren(now, field))
    for (const [key, child] of codec.knownChildren(newer, field)) {
      const mine = known.get(key)
      if (mine !== undefined) {
        known.set(key, { ...mine, snapshot: withOthers(mine.part, field.codec, mine.snapshot, child.snapshot) })
      } else if (nested?.find(child.id) === null) {
        nested.take(child.part)
        known.set(key, child)
      }
    }
    return codec.withChildren(now, field, known)
  }, snapshot)
}
