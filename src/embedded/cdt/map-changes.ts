import { ResultCode } from '../protocol/result-code.js'
import { requireKey } from '../value/storable.js'
import { MapValue } from '../value/value.js'
import type { Arguments } from './arguments.js'
import { increment } from './increment.js'
import { keepSize } from './keep-size.js'
import { MapWriteFlag, putEntries, putEntry } from './map-insertion.js'
import { MAP_REMOVALS } from './map-queries.js'
import { MapOpcode } from './opcode.js'
import type { Change, Outcome } from './operation.js'
import { changedMapFlags, createdMapFlags } from './order-flags.js'
import { findSorted } from './search.js'

const EMPTY = (): MapValue => new MapValue([], [])

function emptyWithOrder(argument: number): (args: Arguments) => MapValue {
  return (args) => new MapValue([], [], createdMapFlags(args.flags(argument)))
}

export const MAP_CHANGES: Readonly<Record<number, Change<MapValue>>> = {
  ...MAP_REMOVALS,
  [MapOpcode.SET_TYPE]: { takes: [1, 1], start: EMPTY, run: setType },
  [MapOpcode.ADD]: {
    takes: [2, 3],
    start: emptyWithOrder(2),
    run: (map, args) => put(map, args, MapWriteFlag.CREATE_ONLY),
  },
  [MapOpcode.ADD_ITEMS]: {
    takes: [1, 2],
    start: emptyWithOrder(1),
    run: (map, args) => putItems(map, args, MapWriteFlag.CREATE_ONLY),
  },
  [MapOpcode.PUT]: { takes: [2, 4], start: emptyWithOrder(2), run: (map, args) => put(map, args, args.flags(3)) },
  [MapOpcode.PUT_ITEMS]: {
    takes: [1, 3],
    start: emptyWithOrder(1),
    run: (map, args) => putItems(map, args, args.flags(2)),
  },
  [MapOpcode.REPLACE]: {
    takes: [2, 2],
    start: EMPTY,
    run: (map, args) => put(map, args, MapWriteFlag.UPDATE_ONLY),
  },
  [MapOpcode.REPLACE_ITEMS]: {
    takes: [1, 1],
    missingBin: ResultCode.ELEMENT_NOT_FOUND,
    missingElement: ResultCode.ELEMENT_NOT_FOUND,
    run: (map, args) => putItems(map, args, MapWriteFlag.UPDATE_ONLY),
  },
  [MapOpcode.INCREMENT]: { takes: [1, 3], start: emptyWithOrder(2), run: (map, args) => incrementEntry(map, args, 1) },
  [MapOpcode.DECREMENT]: { takes: [1, 3], start: emptyWithOrder(2), run: (map, args) => incrementEntry(map, args, -1) },
  [MapOpcode.CLEAR]: {
    takes: [0, Infinity],
    run: (map) => ({ container: new MapValue([], [], map.flags), result: null }),
  },
}

function put(map: MapValue, args: Arguments, flags: number): Outcome<MapValue> {
  const key = args.stored(0)
  requireKey(key)
  return sized(putEntry(map, key, args.stored(1), flags))
}

function putItems(map: MapValue, args: Arguments, flags: number): Outcome<MapValue> {
  return sized(putEntries(map, args.storedMap(0), flags))
}

function sized(map: MapValue): Outcome<MapValue> {
  return { container: map, result: map.keys.length }
}

function incrementEntry(map: MapValue, args: Arguments, sign: 1 | -1): Outcome<MapValue> {
  const key = args.stored(0)
  requireKey(key)
  const found = findSorted(map.keys, key)
  const result = increment(found < 0 ? undefined : map.values[found], args.optionalValue(1) ?? null, sign)
  return { container: putEntry(map, key, result, 0), result }
}

function setType(map: MapValue, args: Arguments): Outcome<MapValue> {
  const changed = new MapValue(map.keys, map.values, changedMapFlags(args.flags(0)))
  return { container: keepSize(map, changed, [], []), result: null }
}
