import { equalValues } from '../value/compare.js'
import type { Value } from '../value/value.js'
import { workOnOrder } from '../value/work-on.js'
import { sortedPositions, upperBound } from './search.js'
import { gapsBetween, inside, oneByOne, type Span } from './span.js'

/** The elements that equal one of the items of a list. */
interface FoundItems {
  /** Positions of the elements found, ascending. */
  readonly positions: number[]
  /** Ranks of the elements of each item, in the order of the items; of equal items the last one has them all. */
  readonly ranks: Span[]
}

/** Looks every element up in the sorted items, so that neither side is searched from end to end. */
export function findItems(elements: readonly Value[], items: readonly Value[]): FoundItems {
  const order = sortedPositions(items)
  const sorted = order.map((i) => items[i])
  workOnOrder(sorted, elements.length)
  const counts = new Array<number>(items.length).fill(0)
  const below = new Array<number>(items.length + 1).fill(0)
  const positions: number[] = []
  for (let i = 0; i < elements.length; i++) {
    const above = upperBound(sorted, elements[i])
    below[above]++
    if (above === 0 || !equalValues(sorted[above - 1], elements[i])) continue
    counts[above - 1]++
    positions.push(i)
  }
  const ranks = new Array<Span>(items.length)
  let start = 0
  for (let i = 0; i < order.length; i++) {
    start += below[i]
    ranks[order[i]] = { start, count: counts[i] }
  }
  return { positions, ranks }
}

/** The ranks of what was found, or of everything else. */
export function itemRanks(ranks: readonly Span[], size: number, inverted: boolean): readonly Span[] {
  const found = ranks.filter((span) => span.count > 0)
  return inverted ? gapsBetween(found, size) : found.flatMap((span) => oneByOne(inside(span)))
}
