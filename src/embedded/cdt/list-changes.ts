import { CommandError, ResultCode } from '../protocol/result-code.js'
import { compareValues, equalValues } from '../value/compare.js'
import { ListValue, type Value } from '../value/value.js'
import type { Arguments } from './arguments.js'
import { increment } from './increment.js'
import { keepSize } from './keep-size.js'
import { ListWriteFlag, insertAt, insertOrdered, insertPosition } from './list-insertion.js'
import { LIST_REMOVALS } from './list-queries.js'
import { ListOpcode } from './opcode.js'
import type { Change, Outcome } from './operation.js'
import { changedListFlags, createdListFlags } from './order-flags.js'
import { lowerBound, sortedCopy } from './search.js'

const EMPTY = (): ListValue => new ListValue([])

function emptyWithOrder(argument: number): (args: Arguments) => ListValue {
  return (args) => new ListValue([], createdListFlags(args.flags(argument)))
}

export const LIST_CHANGES: Readonly<Record<number, Change<ListValue>>> = {
  ...LIST_REMOVALS,
  [ListOpcode.SET_TYPE]: { takes: [1, 1], start: EMPTY, run: setType },
  [ListOpcode.APPEND]: {
    takes: [1, 3],
    start: emptyWithOrder(1),
    run: (list, args) => sized(append(list, [args.stored(0)], args.flags(2))),
  },
  [ListOpcode.APPEND_ITEMS]: {
    takes: [1, 3],
    start: emptyWithOrder(1),
    run: (list, args) => sized(append(list, args.storedList(0).items, args.flags(2))),
  },
  [ListOpcode.INSERT]: {
    takes: [2, 3],
    start: EMPTY,
    run: (list, args) => sized(insert(list, args.integer(0), [args.stored(1)], args.flags(2))),
  },
  [ListOpcode.INSERT_ITEMS]: {
    takes: [2, 3],
    start: EMPTY,
    run: (list, args) => sized(insert(list, args.integer(0), args.storedList(1).items, args.flags(2))),
  },
  [ListOpcode.SET]: { takes: [2, 3], start: EMPTY, run: setElement },
  [ListOpcode.INCREMENT]: { takes: [1, 4], start: emptyWithOrder(2), run: incrementElement },
  [ListOpcode.CLEAR]: {
    takes: [0, Infinity],
    run: (list) => ({ container: new ListValue([], list.flags), result: null }),
  },
  [ListOpcode.SORT]: { takes: [0, 1], missingBin: ResultCode.INCOMPATIBLE_TYPE, run: sort },
}

function sized(list: ListValue): Outcome<ListValue> {
  return { container: list, result: list.items.length }
}

function append(list: ListValue, values: readonly Value[], flags: number): ListValue {
  if (values.length === 0) return sameContent(list)
  return list.ordered ? insertOrdered(list, values, flags) : insertAt(list, list.items.length, values, flags)
}

function insert(list: ListValue, index: number, values: readonly Value[], flags: number): ListValue {
  requireUnordered(list)
  return values.length === 0 ? sameContent(list) : insertAt(list, index, values, flags)
}

/** A new object, so that a list which was to be created is. */
function sameContent(list: ListValue): ListValue {
  return new ListValue(list.items, list.flags)
}

function requireUnordered(list: ListValue): void {
  if (list.ordered) throw new CommandError(ResultCode.NOT_APPLICABLE, 'an ordered list chooses the positions itself')
}

function setElement(list: ListValue, args: Arguments): Outcome<ListValue> {
  const value = args.stored(1)
  requireUnordered(list)
  return { container: replace(list, args.integer(0), value, args.flags(2)), result: null }
}

function replace(list: ListValue, index: number, value: Value, flags: number): ListValue {
  if (index >= list.items.length) return insertAt(list, index, [value], flags)
  const position = insertPosition(index, list.items.length)
  if (flags & ListWriteFlag.ADD_UNIQUE) {
    const elsewhere = list.items.some((item, i) => i !== position && equalValues(item, value))
    if (elsewhere) return refuseDuplicate(list, flags)
  }
  const items = list.items.with(position, value)
  return keepSize(list, new ListValue(items, list.flags), [list.items[position]], [value])
}

function refuseDuplicate(list: ListValue, flags: number): ListValue {
  if (flags & ListWriteFlag.NO_FAIL) return list
  throw new CommandError(ResultCode.ELEMENT_EXISTS, 'not unique')
}

function incrementElement(list: ListValue, args: Arguments): Outcome<ListValue> {
  const position = insertPosition(args.integer(0), list.items.length)
  const result = increment(list.items[position], args.optionalValue(1) ?? null, 1)
  const change = list.ordered ? replaceOrdered : replace
  return { container: change(list, position, result, args.flags(3)), result }
}

function replaceOrdered(list: ListValue, position: number, value: Value, flags: number): ListValue {
  if (position > list.items.length) throw new CommandError(ResultCode.NOT_APPLICABLE, 'beyond the end of the list')
  if (flags & ListWriteFlag.ADD_UNIQUE) {
    const found = lowerBound(list.items, value)
    if (found < list.items.length && equalValues(list.items[found], value)) {
      return found === position ? list : refuseDuplicate(list, flags)
    }
  }
  return moveOrdered(list, position, value)
}

/** Puts a value in the place of the element at `position` and moves it where it now belongs. */
export function moveOrdered(list: ListValue, position: number, value: Value): ListValue {
  const items = list.items.slice()
  const removed = items.splice(position, 1)
  items.splice(lowerBound(items, value), 0, value)
  return keepSize(list, new ListValue(items, list.flags), removed, [value])
}

function setType(list: ListValue, args: Arguments): Outcome<ListValue> {
  const flags = changedListFlags(args.flags(0))
  const becomesOrdered = new ListValue(list.items, flags).ordered && !list.ordered
  const items = becomesOrdered ? sortedCopy(list.items) : list.items
  return { container: keepSize(list, new ListValue(items, flags), [], []), result: null }
}

const SORT_DESCENDING = 1
const SORT_DROP_DUPLICATES = 2

function sort(list: ListValue, args: Arguments): Outcome<ListValue> {
  const flags = args.flags(0)
  if (list.items.length < 2) return { container: list, result: null }
  const descending = (flags & SORT_DESCENDING) !== 0 && !list.ordered
  let items = list.ordered ? list.items : sortedCopy(list.items)
  if (descending) items = items.toSorted((a, b) => compareValues(b, a))
  if (!(flags & SORT_DROP_DUPLICATES)) {
    return { container: keepSize(list, new ListValue(items, list.flags), [], []), result: null }
  }
  const distinct = items.filter((item, i) => i === 0 || !equalValues(items[i - 1], item))
  // Duplicates are only looked for in ascending order.
  if (descending && distinct.length > 1)
    throw new CommandError(ResultCode.PARAMETER, 'cannot drop duplicates downwards')
  return { container: new ListValue(distinct, list.flags), result: null }
}
