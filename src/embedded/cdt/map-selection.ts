import { compareValues, equalValues } from '../value/compare.js'
import type { MapValue, Value } from '../value/value.js'
import { findItems, itemRanks } from './item-search.js'
import { selectRanks } from './rank-selection.js'
import { countBelow, equalSpan, findSorted, intervalSpan, lowerBound, sortedPositions } from './search.js'
import { badReturnType, requireNotInverted, selection, type Selection } from './selection.js'
import { ReturnType } from './return-type.js'
import { clip, clipFrom, complement, inside, insideOrOutside, oneByOne, positionOf, runsOf, type Span } from './span.js'

// The index of an entry is its position in key order, its rank the position in value order. Maps keep their entries in key
// order whatever their flags say, but a few answers differ between maps with and without an order; those ask `isOrdered`.

function isOrdered(map: MapValue): boolean {
  return map.flags !== 0
}

export function mapKey(map: MapValue, key: Value, inverted: boolean): Selection {
  if (!isOrdered(map)) requireNotInverted(inverted)
  const position = findSorted(map.keys, key)
  if (position < 0) return nothing()
  requireNotInverted(inverted)
  return oneEntry(map, position)
}

export function mapIndex(map: MapValue, index: number): Selection {
  return oneEntry(map, positionOf(index, map.keys.length))
}

function oneEntry(map: MapValue, position: number): Selection {
  return selection([position], () => oneByOne([rankOf(map, position)]))
}

/** The rank of one entry; entries with equal values are ranked by their keys. */
function rankOf({ values }: MapValue, position: number): number {
  let rank = 0
  for (let i = 0; i < values.length; i++) {
    const order = compareValues(values[i], values[position])
    if (order < 0 || (order === 0 && i < position)) rank++
  }
  return rank
}

function nothing(): Selection {
  return selection([], () => [])
}

/** Everything; the ranks come back ascending, not in key order. */
function everything(map: MapValue): Selection {
  const all = [{ start: 0, count: map.keys.length }]
  return selection(inside(all[0]), () => all, { indexes: () => all })
}

export function mapIndexRange(map: MapValue, index: number, count: number, inverted: boolean): Selection {
  return indexSpan(map, clip(index, count, map.keys.length), inverted)
}

export function mapRelativeIndexRange(
  map: MapValue,
  key: Value,
  index: number,
  count: number,
  inverted: boolean,
): Selection {
  return indexSpan(map, clipFrom(lowerBound(map.keys, key), index, count, map.keys.length), inverted)
}

export function mapKeyInterval(map: MapValue, begin: Value, end: Value | undefined, inverted: boolean): Selection {
  const span = intervalSpan(map.keys, begin, end)
  if (isOrdered(map)) return indexSpan(map, span, inverted)
  const size = map.keys.length
  const positions = insideOrOutside(span, size, inverted)
  return selection(positions, () => ranksOf(map, positions), {
    indexes: () => runsOf(span, size, inverted),
    exists: inverted ? span.count === 0 : span.count > 0,
  })
}

function indexSpan(map: MapValue, span: Span, inverted: boolean): Selection {
  const size = map.keys.length
  const positions = insideOrOutside(span, size, inverted)
  if (positions.length === size) return everything(map)
  const hole = inverted && span.start > 0 && span.start + span.count < size
  return selection(positions, () => ranksOf(map, positions), {
    indexes: () => runsOf(span, size, inverted),
    exists: positions.length > 0 && (isOrdered(map) || !hole),
  })
}

function ranksOf(map: MapValue, positions: readonly number[]): readonly Span[] {
  const ranks = new Uint32Array(map.values.length)
  sortedPositions(map.values).forEach((position, rank) => (ranks[position] = rank))
  return oneByOne(positions.map((position) => ranks[position]))
}

export function mapRank(map: MapValue, rank: number): Selection {
  return rankSpan(map, { start: positionOf(rank, map.values.length), count: 1 })
}

export function mapRankRange(map: MapValue, rank: number, count: number, inverted: boolean): Selection {
  return maybeInvertedRankSpan(map, clip(rank, count, map.values.length), inverted)
}

export function mapRelativeRankRange(
  map: MapValue,
  value: Value,
  rank: number,
  count: number,
  inverted: boolean,
): Selection {
  const span = clipFrom(countBelow(map.values, value), rank, count, map.values.length)
  return maybeInvertedRankSpan(map, span, inverted)
}

/** The rest of a range at either end is itself a range, and answers as one. */
function maybeInvertedRankSpan(map: MapValue, span: Span, inverted: boolean): Selection {
  const size = map.values.length
  const end = span.start + span.count
  if (!inverted) return rankSpan(map, span)
  if (span.count === 0) return rankSpan(map, { start: 0, count: size })
  if (span.start === 0) return rankSpan(map, { start: end, count: size - end })
  if (end === size) return rankSpan(map, { start: 0, count: span.start })
  const { positions } = rankSpan(map, span)
  return selection(complement(positions, size), () => runsOf(span, size, true), { exists: false })
}

function rankSpan(map: MapValue, span: Span): Selection {
  const byRank = selectRanks(map.values, span, 'position').positions
  const positions = byRank.slice().sort((a, b) => a - b)
  return selection(positions, () => [span], { elements: byRank, indexes: () => oneByOne(byRank) })
}

/** The first entry, in key order, whose value equals the given one. */
export function mapFirstValue(map: MapValue, value: Value): Selection {
  const position = map.values.findIndex((other) => equalValues(other, value))
  return position < 0 ? nothing() : oneEntry(map, position)
}

export function mapValue(map: MapValue, value: Value, inverted: boolean): Selection {
  return scan(map, value, inverted, (other) => equalValues(other, value))
}

export function mapValueInterval(map: MapValue, begin: Value, end: Value | undefined, inverted: boolean): Selection {
  return scan(map, begin, inverted, (value) => end === undefined || compareValues(value, end) < 0)
}

function scan(map: MapValue, begin: Value, inverted: boolean, matches: (value: Value) => boolean): Selection {
  const size = map.values.length
  const found: number[] = []
  let below = 0
  for (let i = 0; i < size; i++) {
    if (compareValues(map.values[i], begin) < 0) below++
    else if (matches(map.values[i])) found.push(i)
  }
  if (found.length === 0) return inverted ? everything(map) : nothing()
  const span = { start: below, count: found.length }
  return selection(inverted ? complement(found, size) : found, () => runsOf(span, size, inverted), {
    exists: !inverted,
  })
}

export function mapKeys(map: MapValue, keys: readonly Value[], inverted: boolean): Selection {
  const size = map.keys.length
  const noRanks = () => {
    throw badReturnType(ReturnType.RANK)
  }
  if (isOrdered(map)) {
    const given = keys.flatMap((key) => inside(equalSpan(map.keys, key)))
    const positions = [...new Set(given)].sort((a, b) => a - b)
    if (inverted) return selection(complement(positions, size), noRanks)
    return selection(positions, noRanks, { indexes: () => oneByOne(given) })
  }
  const found = findItems(map.keys, keys)
  const positions = inverted ? complement(found.positions, size) : found.positions
  return selection(positions, noRanks, { indexes: () => itemRanks(found.ranks, size, inverted) })
}

export function mapValues(map: MapValue, values: readonly Value[], inverted: boolean): Selection {
  const size = map.values.length
  if (values.length === 0) return inverted ? everything(map) : nothing()
  const found = findItems(map.values, values)
  const positions = inverted ? complement(found.positions, size) : found.positions
  return selection(positions, () => itemRanks(found.ranks, size, inverted))
}
