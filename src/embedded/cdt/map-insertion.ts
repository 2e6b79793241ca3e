import { CommandError, ResultCode } from '../protocol/result-code.js'
import { equalValues } from '../value/compare.js'
import { MapValue, type Value } from '../value/value.js'
import { keepSize } from './keep-size.js'
import { findSorted, lowerBound } from './search.js'

export const MapWriteFlag = {
  CREATE_ONLY: 1,
  UPDATE_ONLY: 2,
  NO_FAIL: 4,
  PARTIAL: 8,
} as const

/** Puts one entry; the map itself where the flags leave nothing to do. */
export function putEntry(map: MapValue, key: Value, value: Value, flags: number): MapValue {
  const found = findSorted(map.keys, key)
  if (isRefused(found >= 0, flags)) {
    if (flags & MapWriteFlag.NO_FAIL) return map
    throw refusal(found >= 0)
  }
  if (found >= 0) {
    const changed = new MapValue(map.keys, map.values.with(found, value), map.flags)
    return keepSize(map, changed, [map.values[found]], [value])
  }
  const at = -1 - found
  const grown = new MapValue(map.keys.toSpliced(at, 0, key), map.values.toSpliced(at, 0, value), map.flags)
  return keepSize(map, grown, [], [key, value])
}

/** Puts many entries in one pass over both maps. */
export function putEntries(map: MapValue, entries: MapValue, flags: number): MapValue {
  if (entries.keys.length === 0) return new MapValue(map.keys, map.values, map.flags)
  if (map.keys.length === 0) return fillEmpty(map, entries, flags)
  const keys: Value[] = []
  const values: Value[] = []
  let from = 0
  for (let i = 0; i < entries.keys.length; i++) {
    const to = lowerBound(map.keys, entries.keys[i], from)
    while (from < to) {
      keys.push(map.keys[from])
      values.push(map.values[from++])
    }
    const exists = from < map.keys.length && equalValues(map.keys[from], entries.keys[i])
    if (isRefused(exists, flags)) {
      if (!(flags & MapWriteFlag.NO_FAIL)) throw refusal(exists)
      if (!(flags & MapWriteFlag.PARTIAL)) return map
      continue
    }
    keys.push(entries.keys[i])
    values.push(entries.values[i])
    if (exists) from++
  }
  while (from < map.keys.length) {
    keys.push(map.keys[from])
    values.push(map.values[from++])
  }
  return new MapValue(keys, values, map.flags)
}

/** An empty map takes everything as it comes; UPDATE_ONLY, asked to go on where it fails, takes it all the same. */
function fillEmpty(map: MapValue, entries: MapValue, flags: number): MapValue {
  if (flags & MapWriteFlag.UPDATE_ONLY) {
    if (!(flags & MapWriteFlag.NO_FAIL)) throw refusal(false)
    if (!(flags & MapWriteFlag.PARTIAL)) return map
  }
  return new MapValue(entries.keys, entries.values, map.flags)
}

function isRefused(exists: boolean, flags: number): boolean {
  return (flags & (exists ? MapWriteFlag.CREATE_ONLY : MapWriteFlag.UPDATE_ONLY)) !== 0
}

function refusal(exists: boolean): CommandError {
  return new CommandError(exists ? ResultCode.ELEMENT_EXISTS : ResultCode.ELEMENT_NOT_FOUND)
}
