import { MAP_KEY_ORDERED, MAP_PRESERVE_ORDER, ListValue, MapValue, type Value } from '../value/value.js'
import type { Arguments } from './arguments.js'
import { keepSize } from './keep-size.js'
import {
  mapFirstValue,
  mapIndex,
  mapIndexRange,
  mapKey,
  mapKeyInterval,
  mapKeys,
  mapRank,
  mapRankRange,
  mapRelativeIndexRange,
  mapRelativeRankRange,
  mapValue,
  mapValueInterval,
  mapValues,
} from './map-selection.js'
import { MapOpcode } from './opcode.js'
import type { Change, Read } from './operation.js'
import { ReturnType, parseWanted } from './return-type.js'
import { badReturnType, positionResult, requireNotInverted, type Selection } from './selection.js'
import { at, without } from './positions.js'

/** A way to select entries; the first argument of a call is always what it wants to know about them. */
interface Query {
  readonly takes: readonly [number, number]
  /** True for a single entry, answered by itself; otherwise a list or a map. */
  readonly single?: true
  readonly select: (map: MapValue, args: Arguments, inverted: boolean) => Selection
}

const BY_KEY: Query = {
  takes: [2, 2],
  single: true,
  select: (map, args, inverted) => mapKey(map, args.value(1), inverted),
}
const BY_INDEX: Query = {
  takes: [2, 2],
  single: true,
  select: (map, args) => mapIndex(map, args.integer(1)),
}
const BY_RANK: Query = {
  takes: [2, 2],
  single: true,
  select: (map, args) => mapRank(map, args.integer(1)),
}
const BY_FIRST_VALUE: Query = {
  takes: [2, 2],
  single: true,
  select: (map, args) => mapFirstValue(map, args.value(1)),
}
const BY_VALUE: Query = {
  takes: [2, 2],
  select: (map, args, inverted) => mapValue(map, args.value(1), inverted),
}
const BY_KEYS: Query = {
  takes: [2, 2],
  select: (map, args, inverted) => mapKeys(map, args.list(1).items, inverted),
}
const BY_VALUES: Query = {
  takes: [2, 2],
  select: (map, args, inverted) => mapValues(map, args.list(1).items, inverted),
}
const BY_KEY_INTERVAL: Query = {
  takes: [2, 3],
  select: (map, args, inverted) => mapKeyInterval(map, args.value(1), args.optionalValue(2), inverted),
}
const BY_INDEX_RANGE: Query = {
  takes: [2, 3],
  select: (map, args, inverted) => mapIndexRange(map, args.integer(1), args.count(2), inverted),
}
const BY_VALUE_INTERVAL: Query = {
  takes: [2, 3],
  select: (map, args, inverted) => mapValueInterval(map, args.value(1), args.optionalValue(2), inverted),
}
const BY_RANK_RANGE: Query = {
  takes: [2, 3],
  select: (map, args, inverted) => mapRankRange(map, args.integer(1), args.count(2), inverted),
}
const BY_RELATIVE_INDEX_RANGE: Query = {
  takes: [3, 4],
  select: (map, args, inverted) => mapRelativeIndexRange(map, args.value(1), args.integer(2), args.count(3), inverted),
}
const BY_RELATIVE_RANK_RANGE: Query = {
  takes: [3, 4],
  select: (map, args, inverted) => mapRelativeRankRange(map, args.value(1), args.integer(2), args.count(3), inverted),
}

function selectWith(query: Query, map: MapValue, args: Arguments): { chosen: Selection; result: Value } {
  const wanted = parseWanted(args.integer(0))
  // A key that an ordered map does not have is not found, inverted or not.
  if (query.single && query !== BY_KEY) requireNotInverted(wanted.inverted)
  const chosen = query.select(map, args, wanted.inverted)
  return { chosen, result: mapResult(map, chosen, wanted.type, query.single === true) }
}

function mapResult(map: MapValue, chosen: Selection, type: number, single: boolean): Value {
  const result = positionResult(chosen, type, map.keys.length, single)
  if (result !== undefined) return result
  switch (type) {
    case ReturnType.KEY:
      return elements(map.keys, chosen.elements, single)
    case ReturnType.VALUE:
      return elements(map.values, chosen.elements, single)
    case ReturnType.KEY_VALUE:
      return entries(map, chosen.elements, MAP_PRESERVE_ORDER)
    case ReturnType.UNORDERED_MAP:
      return entries(map, chosen.elements, 0)
    case ReturnType.ORDERED_MAP:
      return entries(map, chosen.positions, MAP_KEY_ORDERED)
  }
  throw badReturnType(type)
}

function elements(values: readonly Value[], positions: readonly number[], single: boolean): Value {
  if (!single) return new ListValue(at(values, positions))
  return positions.length === 0 ? null : values[positions[0]]
}

function entries(map: MapValue, positions: readonly number[], flags: number): MapValue {
  return new MapValue(at(map.keys, positions), at(map.values, positions), flags)
}

function mapWithout(map: MapValue, positions: readonly number[]): MapValue {
  if (positions.length === 0) return map
  const kept = new MapValue(without(map.keys, positions), without(map.values, positions), map.flags)
  return keepSize(map, kept, [...at(map.keys, positions), ...at(map.values, positions)], [])
}

function get(query: Query): Read<MapValue> {
  return { takes: query.takes, answer: (map, args) => selectWith(query, map, args).result }
}

function remove(query: Query): Change<MapValue> {
  return {
    takes: query.takes,
    run: (map, args) => {
      const { chosen, result } = selectWith(query, map, args)
      return { container: mapWithout(map, chosen.positions), result }
    },
  }
}

export const MAP_READS: Readonly<Record<number, Read<MapValue>>> = {
  [MapOpcode.SIZE]: { takes: [0, Infinity], answer: (map) => map.keys.length },
  [MapOpcode.GET_BY_KEY]: get(BY_KEY),
  [MapOpcode.GET_BY_INDEX]: get(BY_INDEX),
  [MapOpcode.GET_BY_FIRST_VALUE]: get(BY_FIRST_VALUE),
  [MapOpcode.GET_BY_RANK]: get(BY_RANK),
  [MapOpcode.GET_BY_VALUE]: get(BY_VALUE),
  [MapOpcode.GET_BY_KEY_INTERVAL]: get(BY_KEY_INTERVAL),
  [MapOpcode.GET_BY_INDEX_RANGE]: get(BY_INDEX_RANGE),
  [MapOpcode.GET_BY_VALUE_INTERVAL]: get(BY_VALUE_INTERVAL),
  [MapOpcode.GET_BY_RANK_RANGE]: get(BY_RANK_RANGE),
  [MapOpcode.GET_BY_KEY_LIST]: get(BY_KEYS),
  [MapOpcode.GET_BY_VALUE_LIST]: get(BY_VALUES),
  [MapOpcode.GET_BY_RELATIVE_INDEX_RANGE]: get(BY_RELATIVE_INDEX_RANGE),
  [MapOpcode.GET_BY_RELATIVE_RANK_RANGE]: get(BY_RELATIVE_RANK_RANGE),
}

export const MAP_REMOVALS: Readonly<Record<number, Change<MapValue>>> = {
  [MapOpcode.REMOVE_BY_KEY]: remove(BY_KEY),
  [MapOpcode.REMOVE_BY_INDEX]: remove(BY_INDEX),
  [MapOpcode.REMOVE_BY_FIRST_VALUE]: remove(BY_FIRST_VALUE),
  [MapOpcode.REMOVE_BY_RANK]: remove(BY_RANK),
  [MapOpcode.REMOVE_BY_KEY_LIST]: remove(BY_KEYS),
  [MapOpcode.REMOVE_BY_VALUE]: remove(BY_VALUE),
  [MapOpcode.REMOVE_BY_VALUE_LIST]: remove(BY_VALUES),
  [MapOpcode.REMOVE_BY_KEY_INTERVAL]: remove(BY_KEY_INTERVAL),
  [MapOpcode.REMOVE_BY_INDEX_RANGE]: remove(BY_INDEX_RANGE),
  [MapOpcode.REMOVE_BY_VALUE_INTERVAL]: remove(BY_VALUE_INTERVAL),
  [MapOpcode.REMOVE_BY_RANK_RANGE]: remove(BY_RANK_RANGE),
  [MapOpcode.REMOVE_BY_RELATIVE_INDEX_RANGE]: remove(BY_RELATIVE_INDEX_RANGE),
  [MapOpcode.REMOVE_BY_RELATIVE_RANK_RANGE]: remove(BY_RELATIVE_RANK_RANGE),
}
