import type { Value } from '../../plan/value.js'
import type { TypeCodec } from '../type-codec.js'
import { ValueProblem, indexStep, shown, throwUnder } from '../value-problem.js'
import { decodeItem, encodeItem, isSameItem, snapshotItem } from './item.js'
import { notAList } from './list-type.js'

/** An array with one type for each position, stored as a list. A change writes it as a whole. */
export function tupleType(items: readonly TypeCodec[]): TypeCodec {
  const each = <T, R>(values: readonly T[], call: (codec: TypeCodec, value: T) => R): R[] =>
    items.map((codec, i) => {
      try {
        return call(codec, values[i])
      } catch (error) {
        return throwUnder(indexStep(i), error)
      }
    })
  return {
    name: `tuple of ${items.map(({ name }) => name).join(', ')}`,
    encode(value, depth): Value {
      if (Array.isArray(value) && value.length === items.length)
        return each(value as unknown[], (codec, item) => encodeItem(codec, item, depth))
      const fix = `Give an array of ${items.length} items.`
      throw new ValueProblem(`${shown(value)} is not a tuple of ${items.length} items`, fix)
    },
    decode(stored) {
      if (!Array.isArray(stored)) throw notAList(stored)
      return each(stored as Value[], (codec, item) => decodeItem(codec, item))
    },
    snapshot: (value) => each(value as unknown[], snapshotItem),
    same: (value, snapshot) =>
      Array.isArray(value) &&
      value.length === items.length &&
      items.every((codec, i) => isSameItem(codec, value[i], (snapshot as unknown[])[i])),
  }
}
