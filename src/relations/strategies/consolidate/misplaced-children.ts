import { storedMap, type ChildCodec } from '../../../codec/index.js'
import { describeKey, type KeyValue } from '../../../keys/index.js'
import type { WriteOperation } from '../../../plan/operation.js'
import { atKey, mapPut, mapRemoveKeys } from '../../../plan/operations.js'
import type { MapKey, Value } from '../../../plan/value.js'
import type { InsideFault } from '../../contract/inside-verification.js'

/** A stored part that children may be in. */
interface Holder {
  readonly stored: Value
  readonly codec: ChildCodec
  /** The collection of the record, and the bin that it is stored in. */
  readonly property: string
  readonly bin: string
  /** The path to the part, for people and in the bin. */
  readonly way: string
  readonly path: readonly MapKey[]
}

/** Children inside a stored part that are not under their own ids: a change of them would not find them. Inner ones come first, as they are moved where they are. */
export function* misplacedChildren(holder: Holder): Iterable<InsideFault> {
  const { stored, codec, property, bin, way, path } = holder
  for (const field of codec.children) {
    const children = field.storedIn(storedMap(stored))
    const taken = new Set(children.map(([key]) => key))
    for (const [key, value] of children) {
      const child = field.codec.decode(value)
      const id: KeyValue = field.codec.key!.keyOf(child)
      const place = `${way}.${field.name} ${describeKey(id)}`
      yield* misplacedChildren({ stored: value, codec: field.codec, property, bin, way: place, path: [...path, key] })
      const right = field.keyOf(id)
      if (right === key) continue
      const says = `keeps ${place} in ${property} under the key ${describeKey(key)}, and not under its own`
      // Only people can say which of two children with one id is right.
      if (taken.has(right)) {
        const both = `${says}, which another child has`
        yield { kind: 'duplicatePart', property, partKey: id, repair: 'none', says: both, operations: [] }
        continue
      }
      taken.add(right)
      const at = path.map((each) => atKey(each))
      const operations: WriteOperation[] = [
        mapPut(bin, right, field.codec.encode(child, path.length + 1), at),
        mapRemoveKeys(bin, [key], 'none', at),
      ]
      yield { kind: 'misplacedPart', property, partKey: id, repair: 'move', says, operations }
    }
  }
}
