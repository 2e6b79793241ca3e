import { ListValue, type Value } from '../value/value.js'
import type { Arguments } from './arguments.js'
import { ListOpcode } from './opcode.js'
import { keepSize } from './keep-size.js'
import {
  listFirstValue,
  listIndex,
  listIndexRange,
  listInterval,
  listRank,
  listRankRange,
  listRelativeRankRange,
  listValue,
  listValues,
} from './list-selection.js'
import type { Change, Read } from './operation.js'
import { ReturnType, parseWanted } from './return-type.js'
import { badReturnType, positionResult, requireNotInverted, type Selection } from './selection.js'
import { at, without } from './positions.js'

/** A way to select elements; the first argument of a call is always what it wants to know about them. */
interface Query {
  readonly takes: readonly [number, number]
  /** True for a single element, answered by itself; otherwise a list. */
  readonly single?: true
  readonly select: (list: ListValue, args: Arguments, inverted: boolean) => Selection
}

const BY_INDEX: Query = { takes: [2, 2], single: true, select: (list, args) => listIndex(list, args.integer(1)) }
const BY_RANK: Query = { takes: [2, 2], single: true, select: (list, args) => listRank(list, args.integer(1)) }
const BY_FIRST_VALUE: Query = {
  takes: [2, 2],
  single: true,
  select: (list, args) => listFirstValue(list, args.value(1)),
}
const BY_VALUE: Query = {
  takes: [2, 2],
  select: (list, args, inverted) => listValue(list, args.value(1), inverted),
}
const BY_VALUES: Query = {
  takes: [2, 2],
  select: (list, args, inverted) => listValues(list, args.list(1).items, inverted),
}
const BY_INDEX_RANGE: Query = {
  takes: [2, 3],
  select: (list, args, inverted) => listIndexRange(list, args.integer(1), args.count(2), inverted),
}
const BY_INTERVAL: Query = {
  takes: [2, 3],
  select: (list, args, inverted) => listInterval(list, args.value(1), args.optionalValue(2), inverted),
}
const BY_RANK_RANGE: Query = {
  takes: [2, 3],
  select: (list, args, inverted) => listRankRange(list, args.integer(1), args.count(2), inverted),
}
const BY_RELATIVE_RANK_RANGE: Query = {
  takes: [3, 4],
  select: (list, args, inverted) =>
    listRelativeRankRange(list, args.value(1), args.integer(2), args.count(3), inverted),
}

function selectWith(query: Query, list: ListValue, args: Arguments): { chosen: Selection; result: Value } {
  const wanted = parseWanted(args.integer(0))
  if (query.single) requireNotInverted(wanted.inverted)
  const chosen = query.select(list, args, wanted.inverted)
  return { chosen, result: listResult(list, chosen, wanted.type, query.single === true) }
}

function listResult(list: ListValue, chosen: Selection, type: number, single: boolean): Value {
  const result = positionResult(chosen, type, list.items.length, single)
  if (result !== undefined) return result
  if (type !== ReturnType.VALUE) throw badReturnType(type)
  const values = at(list.items, chosen.elements)
  if (!single) return new ListValue(values)
  return values.length === 0 ? null : values[0]
}

function listWithout(list: ListValue, positions: readonly number[]): ListValue {
  if (positions.length === 0) return list
  return keepSize(list, new ListValue(without(list.items, positions), list.flags), at(list.items, positions), [])
}

function get(query: Query): Read<ListValue> {
  return { takes: query.takes, answer: (list, args) => selectWith(query, list, args).result }
}

function remove(query: Query): Change<ListValue> {
  return {
    takes: query.takes,
    run: (list, args) => {
      const { chosen, result } = selectWith(query, list, args)
      return { container: listWithout(list, chosen.positions), result }
    },
  }
}

export const LIST_READS: Readonly<Record<number, Read<ListValue>>> = {
  [ListOpcode.SIZE]: { takes: [0, Infinity], answer: (list) => list.items.length },
  [ListOpcode.GET]: {
    takes: [1, 1],
    answer: (list, args) => listResult(list, listIndex(list, args.integer(0)), ReturnType.VALUE, true),
  },
  [ListOpcode.GET_RANGE]: {
    takes: [1, 2],
    answer: (list, args) =>
      listResult(list, listIndexRange(list, args.integer(0), args.count(1), false), ReturnType.VALUE, false),
  },
  [ListOpcode.GET_BY_INDEX]: get(BY_INDEX),
  [ListOpcode.GET_BY_FIRST_VALUE]: get(BY_FIRST_VALUE),
  [ListOpcode.GET_BY_RANK]: get(BY_RANK),
  [ListOpcode.GET_BY_VALUE]: get(BY_VALUE),
  [ListOpcode.GET_BY_VALUE_LIST]: get(BY_VALUES),
  [ListOpcode.GET_BY_INDEX_RANGE]: get(BY_INDEX_RANGE),
  [ListOpcode.GET_BY_VALUE_INTERVAL]: get(BY_INTERVAL),
  [ListOpcode.GET_BY_RANK_RANGE]: get(BY_RANK_RANGE),
  [ListOpcode.GET_BY_RELATIVE_RANK_RANGE]: get(BY_RELATIVE_RANK_RANGE),
}

export const LIST_REMOVALS: Readonly<Record<number, Change<ListValue>>> = {
  [ListOpcode.REMOVE_BY_INDEX]: remove(BY_INDEX),
  [ListOpcode.REMOVE_BY_FIRST_VALUE]: remove(BY_FIRST_VALUE),
  [ListOpcode.REMOVE_BY_RANK]: remove(BY_RANK),
  [ListOpcode.REMOVE_BY_VALUE]: remove(BY_VALUE),
  [ListOpcode.REMOVE_BY_VALUE_LIST]: remove(BY_VALUES),
  [ListOpcode.REMOVE_BY_INDEX_RANGE]: remove(BY_INDEX_RANGE),
  [ListOpcode.REMOVE_BY_VALUE_INTERVAL]: remove(BY_INTERVAL),
  [ListOpcode.REMOVE_BY_RANK_RANGE]: remove(BY_RANK_RANGE),
  [ListOpcode.REMOVE_BY_RELATIVE_RANK_RANGE]: remove(BY_RELATIVE_RANK_RANGE),
  [ListOpcode.POP]: take([1, 1], ReturnType.VALUE, true, (list, args) => listIndex(list, args.integer(0))),
  [ListOpcode.POP_RANGE]: take([1, 2], ReturnType.VALUE, false, (list, args) =>
    listIndexRange(list, args.integer(0), args.count(1), false),
  ),
  [ListOpcode.REMOVE]: take([1, 1], ReturnType.COUNT, true, (list, args) => listIndex(list, args.integer(0))),
  [ListOpcode.REMOVE_RANGE]: take([1, 2], ReturnType.COUNT, false, (list, args) =>
    listIndexRange(list, args.integer(0), args.count(1), false),
  ),
  [ListOpcode.TRIM]: take([2, 2], ReturnType.COUNT, false, (list, args) =>
    listIndexRange(list, args.integer(0), args.count(1), true),
  ),
}

/** The older removals, which name no return type. */
function take(
  takes: readonly [number, number],
  type: number,
  single: boolean,
  select: (list: ListValue, args: Arguments) => Selection,
): Change<ListValue> {
  return {
    takes,
    run: (list, args) => {
      const chosen = select(list, args)
      return {
        container: listWithout(list, chosen.positions),
        result: listResult(list, chosen, type, single),
      }
    },
  }
}
