import { requestBudget } from '../protocol/request-budget.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { equalValues } from '../value/compare.js'
import { ListValue, type Value } from '../value/value.js'
import { keepSize } from './keep-size.js'
import { lowerBound, sortedCopy, sortedPositions } from './search.js'

export const ListWriteFlag = {
  ADD_UNIQUE: 1,
  INSERT_BOUNDED: 2,
  NO_FAIL: 4,
  PARTIAL: 8,
} as const

/** Puts values into an ordered list where they belong; the list itself where the flags leave nothing to do. */
export function insertOrdered(list: ListValue, values: readonly Value[], flags: number): ListValue {
  const added = sortedCopy(values)
  const chosen = flags & ListWriteFlag.ADD_UNIQUE ? uniqueSorted(list, added, flags) : added
  if (chosen === undefined) return list
  return keepSize(list, new ListValue(merge(list.items, chosen), list.flags), [], chosen)
}

/** The values that an ordered list does not have yet; undefined where nothing at all may be added. */
function uniqueSorted(list: ListValue, sorted: readonly Value[], flags: number): readonly Value[] | undefined {
  const distinct = sorted.filter((value, i) => i === 0 || !equalValues(sorted[i - 1], value))
  if (distinct.length < sorted.length && !mayFail(flags, ResultCode.NOT_APPLICABLE)) return undefined
  const added = distinct.filter((value) => !hasSorted(list.items, value))
  if (added.length < distinct.length && !mayFail(flags, ResultCode.ELEMENT_EXISTS)) return undefined
  return added
}

/** Puts values into an unordered list at a position, after nils where the list is shorter. */
export function insertAt(list: ListValue, index: number, values: readonly Value[], flags: number): ListValue {
  const size = list.items.length
  const position = insertPosition(index, size)
  if (flags & ListWriteFlag.INSERT_BOUNDED && position > size) {
    if (flags & ListWriteFlag.NO_FAIL) return list
    throw new CommandError(ResultCode.NOT_APPLICABLE, 'beyond the end of the list')
  }
  const added = flags & ListWriteFlag.ADD_UNIQUE ? uniqueUnsorted(list, values, flags) : values
  if (added === undefined) return list
  const padded = position > size ? padding(position - size).concat(added) : added
  return keepSize(list, new ListValue(spliced(list.items, position, padded), list.flags), [], padded)
}

function spliced(items: readonly Value[], position: number, added: readonly Value[]): readonly Value[] {
  if (added.length === 1) return items.toSpliced(position, 0, added[0])
  return items.slice(0, position).concat(added, items.slice(position))
}

export function insertPosition(index: number, size: number): number {
  const position = index < 0 ? size + index : index
  if (position < 0 || position > 0x7fffffff) throw new CommandError(ResultCode.NOT_APPLICABLE, 'out of bounds')
  return position
}

export function padding(count: number): Value[] {
  if (count <= 0) return []
  requestBudget.pad(count)
  return new Array<Value>(count).fill(null)
}

function uniqueUnsorted(list: ListValue, values: readonly Value[], flags: number): readonly Value[] | undefined {
  const has = membership(list.items, values.length)
  const repeated = repeatedPositions(values)
  const added: Value[] = []
  for (let i = 0; i < values.length; i++) {
    if (has(values[i])) {
      if (!mayFail(flags, ResultCode.ELEMENT_EXISTS)) return undefined
    } else if (repeated.has(i)) {
      if (!mayFail(flags, ResultCode.NOT_APPLICABLE)) return undefined
    } else {
      added.push(values[i])
    }
  }
  return added.length === 0 ? undefined : added
}

/** Verdict on a value that may not be added: true where the others still may, false where nothing may, or the error. */
function mayFail(flags: number, code: number): boolean {
  if (!(flags & ListWriteFlag.NO_FAIL)) throw new CommandError(code, 'not unique')
  return (flags & ListWriteFlag.PARTIAL) !== 0
}

/** A test for being an element, sorted first where many values are to be tested. */
function membership(items: readonly Value[], tests: number): (value: Value) => boolean {
  if (tests < 8) return (value) => items.some((item) => equalValues(item, value))
  const sorted = sortedCopy(items)
  return (value) => hasSorted(sorted, value)
}

function hasSorted(sorted: readonly Value[], value: Value): boolean {
  const position = lowerBound(sorted, value)
  return position < sorted.length && equalValues(sorted[position], value)
}

/** Positions of values that stand earlier in the array, too. */
function repeatedPositions(values: readonly Value[]): Set<number> {
  const order = sortedPositions(values)
  return new Set(order.filter((position, i) => i > 0 && equalValues(values[order[i - 1]], values[position])))
}

/** Two sorted arrays as one, in one pass. */
function merge(items: readonly Value[], added: readonly Value[]): readonly Value[] {
  if (added.length === 1) return items.toSpliced(lowerBound(items, added[0]), 0, added[0])
  const merged: Value[] = []
  let from = 0
  for (const value of added) {
    const to = lowerBound(items, value, from)
    while (from < to) merged.push(items[from++])
    merged.push(value)
  }
  while (from < items.length) merged.push(items[from++])
  return merged
}
