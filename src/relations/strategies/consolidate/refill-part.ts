import { readProperty, storedMap, type ChildCodec } from '../../../codec/index.js'
import { refsOf, type Ref } from '../../../model/index.js'
import type { Value } from '../../../plan/value.js'
import { findRefState } from '../../state/state-of.js'
import { nestedIn } from './attach-part.js'
import { childrenOfPart } from './part-tree.js'

/** A part that people may hold, and what was known of it. */
interface FormerPart {
  readonly part: object
  readonly snapshot: object
}

/** Makes an instance that people may hold what was read as another one; so are the parts in it. */
export function refillPart({ part, snapshot }: FormerPart, codec: ChildCodec, stored: Value, read: object): void {
  codec.fill(part, stored)
  // A reference stays the same object, which only the session can point elsewhere.
  for (const { name } of refsOf(codec.model)) {
    const { key } = readProperty(read, name) as Ref<object>
    findRefState(readProperty(part, name) as object)?.takeStored(key)
  }
  for (const field of codec.children) {
    const known = codec.knownChildren(snapshot, field)
    const values = new Map(field.storedIn(storedMap(stored)))
    const children = [...childrenOfPart(read, field)].map((child) => {
      const key = field.keyOf(field.codec.key!.keyOf(child))
      const former = known.get(key)
      if (former === undefined) return child
      refillPart(former, field.codec, values.get(key)!, child)
      return former.part
    })
    nestedIn(readProperty(part, field.name))?.replace(children)
  }
}
