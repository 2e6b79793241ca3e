import { storedMap, type ChildCodec } from '../../../codec/index.js'
import { describeKey, type KeyValue } from '../../../keys/index.js'
import type { Value } from '../../../plan/value.js'
import type { InsideFault } from '../../contract/inside-verification.js'

/** Children inside a stored part that are not under their own ids: a change of them would not find them. */
export function* misplacedChildren(
  stored: Value,
  codec: ChildCodec,
  property: string,
  way: string,
): Iterable<InsideFault> {
  for (const field of codec.children)
    for (const [key, value] of field.storedIn(storedMap(stored))) {
      const id: KeyValue = field.codec.key!.keyOf(field.codec.decode(value))
      const place = `${way}.${field.name} ${describeKey(id)}`
      if (field.keyOf(id) !== key) {
        const says = `keeps ${place} in ${property} under the key ${describeKey(key)}, and not under its own`
        yield { kind: 'misplacedPart', property, partKey: id, repair: 'none', says, operations: [] }
      }
      yield* misplacedChildren(value, field.codec, property, place)
    }
}
