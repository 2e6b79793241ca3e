import { compareValues, equalValues } from '../value/compare.js'
import type { ListValue, Value } from '../value/value.js'
import { workOnOrder } from '../value/work-on.js'
import { findItems, itemRanks } from './item-search.js'
import { selectRanks } from './rank-selection.js'
import { countBelow, equalSpan, intervalSpan, lowerBound, sortedCopy } from './search.js'
import { selection, type Selection } from './selection.js'
import { clip, clipFrom, complement, inside, insideOrOutside, oneByOne, positionOf, runsOf, type Span } from './span.js'

export function listIndex(list: ListValue, index: number): Selection {
  return indexSpan(list, { start: positionOf(index, list.items.length), count: 1 }, false)
}

export function listIndexRange(list: ListValue, index: number, count: number, inverted: boolean): Selection {
  return indexSpan(list, clip(index, count, list.items.length), inverted)
}

function indexSpan(list: ListValue, span: Span, inverted: boolean): Selection {
  const size = list.items.length
  if (inverted && span.count === 0) return indexSpan(list, { start: 0, count: size }, false)
  const positions = insideOrOutside(span, size, inverted)
  const runs = () => runsOf(span, size, inverted)
  if (list.ordered) return selection(positions, runs, { indexes: runs })
  return selection(positions, () => ranksOf(list, positions), { indexes: runs })
}

/** Equal elements share the lowest of their ranks here, unless everything is selected. */
function ranksOf(list: ListValue, positions: readonly number[]): readonly Span[] {
  if (positions.length === list.items.length) return [{ start: 0, count: positions.length }]
  if (positions.length === 1) return oneByOne([countBelow(list.items, list.items[positions[0]])])
  const sorted = sortedCopy(list.items)
  workOnOrder(sorted, positions.length)
  return oneByOne(positions.map((position) => lowerBound(sorted, list.items[position])))
}

export function listRank(list: ListValue, rank: number): Selection {
  if (list.ordered) return listIndex(list, rank)
  return rankSpan(list, { start: positionOf(rank, list.items.length), count: 1 }, false)
}

export function listRankRange(list: ListValue, rank: number, count: number, inverted: boolean): Selection {
  return rankSpan(list, clip(rank, count, list.items.length), inverted)
}

export function listRelativeRankRange(
  list: ListValue,
  value: Value,
  rank: number,
  count: number,
  inverted: boolean,
): Selection {
  const origin = list.ordered ? lowerBound(list.items, value) : countBelow(list.items, value)
  return rankSpan(list, clipFrom(origin, rank, count, list.items.length), inverted)
}

function rankSpan(list: ListValue, span: Span, inverted: boolean): Selection {
  if (list.ordered) return indexSpan(list, span, inverted)
  const size = list.items.length
  const selected = selectRanks(list.items, span, 'heap')
  const found = selected.positions.slice().sort((a, b) => a - b)
  const ranks = () => runsOf(span, size, inverted)
  if (!inverted) {
    return selection(found, ranks, {
      elements: selected.fromLowEnd ? selected.positions.slice().reverse() : selected.positions,
    })
  }
  return selection(complement(found, size), ranks, { exists: size > 0 && span.count === 0 })
}

/** The first element that equals the value. */
export function listFirstValue(list: ListValue, value: Value): Selection {
  if (list.ordered) {
    const span = equalSpan(list.items, value)
    return indexSpan(list, { start: span.start, count: Math.min(1, span.count) }, false)
  }
  const position = list.items.findIndex((item) => equalValues(item, value))
  if (position < 0) return selection([], () => [])
  return selection([position], () => oneByOne([countBelow(list.items, value)]))
}

export function listValue(list: ListValue, value: Value, inverted: boolean): Selection {
  if (list.ordered) return indexSpan(list, equalSpan(list.items, value), inverted)
  return scan(list, value, inverted, (item) => equalValues(item, value))
}

export function listInterval(list: ListValue, begin: Value, end: Value | undefined, inverted: boolean): Selection {
  if (list.ordered) return indexSpan(list, intervalSpan(list.items, begin, end), inverted)
  return scan(list, begin, inverted, (item) => end === undefined || compareValues(item, end) < 0)
}

/** Selects by looking at each element: those not below `begin` that satisfy `matches`, or all others. */
function scan(list: ListValue, begin: Value, inverted: boolean, matches: (item: Value) => boolean): Selection {
  const positions: number[] = []
  const size = list.items.length
  let below = 0
  for (let i = 0; i < size; i++) {
    const item = list.items[i]
    const isBelow = compareValues(item, begin) < 0
    if (isBelow) below++
    if ((!isBelow && matches(item)) !== inverted) positions.push(i)
  }
  const count = inverted ? size - positions.length : positions.length
  return selection(positions, () => runsOf({ start: below, count }, size, inverted), {
    exists: inverted ? count === 0 : count > 0,
  })
}

export function listValues(list: ListValue, items: readonly Value[], inverted: boolean): Selection {
  const size = list.items.length
  if (items.length === 0) return indexSpan(list, { start: 0, count: 0 }, inverted)
  if (list.ordered) return orderedValues(list, items, inverted)
  const found = findItems(list.items, items)
  const positions = inverted ? complement(found.positions, size) : found.positions
  return selection(positions, () => itemRanks(found.ranks, size, inverted))
}

/** In an ordered list each item is looked up by itself, so an item given twice comes back twice. */
function orderedValues(list: ListValue, items: readonly Value[], inverted: boolean): Selection {
  const spans = items.map((item) => equalSpan(list.items, item))
  const elements = spans.flatMap(inside)
  const positions = [...new Set(elements)].sort((a, b) => a - b)
  if (!inverted) return selection(positions, () => spans, { elements, indexes: () => spans })
  const others = complement(positions, list.items.length)
  return selection(others, () => oneByOne(others))
}
