import type { WriteOperation } from '../../plan/operation.js'
import { listAppend, listAppendUnique, listCreate, listRemoveValues } from '../../plan/operations.js'
import type { Value } from '../../plan/value.js'
import { compareValues } from '../../plan/value-order.js'
import { rereadEntries } from '../reread-entries.js'
import { depthOf, type TypeCodec } from '../type-codec.js'
import { encodeItem } from './item.js'
import { listType } from './list-type.js'
import { tokenOf, type Token } from './token.js'

interface SortedList {
  readonly unique?: boolean
  readonly persistIndex?: boolean
}

/** An array, stored as a list in value order. Items that came and went are sent; the place of an item in the array means nothing. */
export function sortedListType(item: TypeCodec, { unique = false, persistIndex = false }: SortedList): TypeCodec {
  const list = listType(item)
  const stored = (value: unknown, depth: number): Value[] => {
    const sorted = (list.encode(value, depth) as Value[]).sort(compareValues)
    return unique ? sorted.filter((each, i) => i === 0 || compareValues(sorted[i - 1], each) !== 0) : sorted
  }
  const append = (bin: string, values: readonly Value[]): readonly WriteOperation[] => {
    if (values.length === 0) return []
    return [unique ? listAppendUnique(bin, values) : listAppend(bin, values, 'ordered')]
  }
  const empty = (bin: string): WriteOperation => listCreate(bin, 'ordered', persistIndex)
  return {
    nothing: [],
    empty,
    name: `sorted ${list.name}`,
    encode: stored,
    decode: (value) => inOrder(list.decode(value) as unknown[], (each) => encodeItem(item, each, 0)),
    snapshot: (value) => stored(value, 0),
    same(value, snapshot) {
      if (!Array.isArray(value)) return false
      const before = snapshot as readonly Value[]
      try {
        const now = stored(value, 0)
        return now.length === before.length && now.every((each, i) => compareValues(each, before[i]) === 0)
      } catch {
        // An item that cannot be stored counts as changed; encoding rejects it.
        return false
      }
    },
    patch(value, snapshot, place) {
      const { removed, added } = difference(snapshot as readonly Value[], stored(value, depthOf(place)))
      const remove = removed.length > 0 ? [listRemoveValues(place.bin, removed)] : []
      return [...remove, ...append(place.bin, added)]
    },
    reread(known, sent, now) {
      const [before, wanted, found] = [known, sent, now].map((one) => byValue(one as readonly Value[]))
      return [...rereadEntries(before, wanted, found).values()].flatMap((run) => run as Value[]).sort(compareValues)
    },
    // The index is set when the record is created, never later: creating the list again would sort what others wrote.
    create: (value, bin) => [empty(bin), ...append(bin, stored(value, 0))],
  }
}

/** Items that are equal, by what they are equal to. */
function byValue(values: readonly Value[]): ReadonlyMap<Token, readonly Value[]> {
  const runs = new Map<Token, Value[]>()
  for (const value of values) {
    const token = tokenOf(value)
    const run = runs.get(token)
    if (run === undefined) runs.set(token, [value])
    else run.push(value)
  }
  return runs
}

/** Brings items into the order of their stored values; the client shows doubles as integers, so their own form is compared. */
export function inOrder<T>(items: T[], encode: (item: T) => Value): T[] {
  const encoded = items.map(encode)
  if (encoded.every((each, i) => i === 0 || compareValues(encoded[i - 1], each) <= 0)) return items
  return encoded
    .map((each, i): [Value, T] => [each, items[i]])
    .sort(([a], [b]) => compareValues(a, b))
    .map(([, each]) => each)
}

/** Values to remove and to append; a value of which fewer are left is removed first, because a removal takes all that are equal. */
function difference(before: readonly Value[], now: readonly Value[]): { removed: Value[]; added: Value[] } {
  const removed: Value[] = []
  const added: Value[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < now.length) {
    const value = j >= now.length || (i < before.length && compareValues(before[i], now[j]) <= 0) ? before[i] : now[j]
    const [had, has] = [runOf(before, i, value), runOf(now, j, value)]
    if (has < had) removed.push(value)
    const appended = has < had ? has : has - had
    for (let n = 0; n < appended; n++) added.push(value)
    i += had
    j += has
  }
  return { removed, added }
}

/** Number of items from `start` on that equal the value. */
function runOf(sorted: readonly Value[], start: number, value: Value): number {
  let end = start
  while (end < sorted.length && compareValues(sorted[end], value) === 0) end++
  return end - start
}
