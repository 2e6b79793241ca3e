import type { WriteOperation } from '../../plan/operation.js'
import { listAppend, listAppendUnique } from '../../plan/operations.js'
import type { Value } from '../../plan/value.js'
import { depthOf, type TypeCodec } from '../type-codec.js'
import { ValueProblem, indexStep, shown, throwUnder } from '../value-problem.js'
import { decodeItem, encodeItem, isSameItem, snapshotItem } from './item.js'
import { tokenOf, type Token } from './token.js'

/** An array, stored as a list in its own order; where it is `unique`, without items that equal an earlier one. */
export function listType(item: TypeCodec, unique = false): TypeCodec {
  const encodeFrom = (value: readonly unknown[], start: number, depth: number): Value[] => {
    const list: Value[] = []
    for (let i = start; i < value.length; i++) {
      try {
        list.push(encodeItem(item, value[i], depth))
      } catch (error) {
        throwUnder(indexStep(i), error)
      }
    }
    return list
  }
  return {
    name: `list of ${item.name}`,
    encode(value, depth) {
      if (Array.isArray(value)) return unique ? distinct(encodeFrom(value, 0, depth)) : encodeFrom(value, 0, depth)
      throw new ValueProblem(`${shown(value)} is not an array`, 'Give an array.')
    },
    decode(stored) {
      if (!Array.isArray(stored)) throw notAList(stored)
      return stored.map((value: Value, i) => {
        try {
          return decodeItem(item, value)
        } catch (error) {
          return throwUnder(indexStep(i), error)
        }
      })
    },
    snapshot: (value) => (value as readonly unknown[]).map((each) => snapshotItem(item, each)),
    same: (value, snapshot) =>
      Array.isArray(value) &&
      value.length === (snapshot as unknown[]).length &&
      hasPrefix(value, snapshot as unknown[]),
    advanceAdded: (_known, sent) => sent,
    /** A list that only grew is appended to, so that two writers who append do not overwrite each other. */
    patch(value, snapshot, place): readonly WriteOperation[] | undefined {
      const before = snapshot as readonly unknown[]
      if (!Array.isArray(value) || value.length <= before.length || !hasPrefix(value, before)) return undefined
      const added = encodeFrom(value, before.length, depthOf(place))
      return unique
        ? [listAppendUnique(place.bin, added, place.path, 'unordered')]
        : [listAppend(place.bin, added, 'unordered', place.path)]
    },
  }

  function hasPrefix(value: readonly unknown[], prefix: readonly unknown[]): boolean {
    for (let i = 0; i < prefix.length; i++) if (!isSameItem(item, value[i], prefix[i])) return false
    return true
  }
}

function distinct(stored: readonly Value[]): Value[] {
  const seen = new Set<Token>()
  return stored.filter((each) => seen.size < seen.add(tokenOf(each)).size)
}

export const notAList = (stored: unknown): ValueProblem =>
  new ValueProblem(
    `the stored value is ${shown(stored)}, not a list`,
    'Declare the type that is stored, or repair the record.',
  )
