import { isDeepStrictEqual } from 'node:util'
import type { WriteOperation } from '../../plan/operation.js'
import { listAppend, listAppendUnique, listCreate } from '../../plan/operations.js'
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
    nothing: [],
    empty: (bin) => listCreate(bin, 'unordered', false),
    encode(value, depth) {
      if (Array.isArray(value))
        return unique ? distinct(encodeFrom(value, 0, depth), itself) : encodeFrom(value, 0, depth)
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
    advanceAdded: (known, sent) => (unique ? known : [...(sent as unknown[])]),
    ...(unique && { reread: rereadUnique }),
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

/** Items of a unique list after a write in doubt: those that it appended are known where they are stored. */
function rereadUnique(known: unknown, sent: unknown, stored: unknown): unknown {
  const [before, wanted, now] = [known, sent, stored] as (readonly unknown[])[]
  const isAppended = wanted.length > before.length && isDeepStrictEqual(wanted.slice(0, before.length), before)
  if (!isAppended) return stored
  const isStored = (item: unknown): boolean => now.some((each) => isDeepStrictEqual(each, item))
  return [...before, ...wanted.slice(before.length).filter(isStored)]
}

/** Items without those that equal an earlier one as stored. */
export function distinct<T>(items: readonly T[], stored: (item: T) => Value): T[] {
  const seen = new Set<Token>()
  return items.filter((each) => seen.size < seen.add(tokenOf(stored(each))).size)
}

const itself = (stored: Value): Value => stored

export const notAList = (stored: unknown): ValueProblem =>
  new ValueProblem(
    `the stored value is ${shown(stored)}, not a list`,
    'Declare the type that is stored, or repair the record.',
  )
