import { compareValues } from '../value/compare.js'
import type { Value } from '../value/value.js'
import { workOnOrder } from '../value/work-on.js'
import type { Span } from './span.js'

/** A heap compares two children, and one of them with their parent. */
const COMPARISONS_PER_LEVEL = 2

interface RankSelection {
  /** Positions in ascending order of rank. */
  readonly positions: number[]
  /** True when the ranks were taken from the low end; lists return their values away from the end they were taken from. */
  readonly fromLowEnd: boolean
}

/**
 * The positions whose values have the ranks of `span`, without sorting the rest. Which of several equal values gets which
 * rank is visible in the answer. In maps they are ranked by their positions. In lists the heap moves its elements exactly
 * like the server's: a parent gives way only to a child that stands strictly nearer to the end that is taken from, and of
 * two equal children to the left one.
 */
export function selectRanks(values: readonly Value[], span: Span, ties: 'heap' | 'position'): RankSelection {
  const after = values.length - span.start - span.count
  const fromLowEnd = span.start <= after
  const skipped = fromLowEnd ? span.start : after
  workOnHeap(values, skipped + span.count)
  const heap = new PositionHeap(values, fromLowEnd ? 1 : -1, ties)
  for (let i = 0; i < skipped; i++) heap.pop()
  const positions = Array.from({ length: span.count }, () => heap.pop())
  return { positions: fromLowEnd ? positions : positions.reverse(), fromLowEnd }
}

/** The position of the value that has a rank, always found from the high end, as paths do in lists. */
export function rankFromHighEnd(values: readonly Value[], rank: number): number {
  workOnHeap(values, values.length - rank)
  const heap = new PositionHeap(values, -1, 'heap')
  for (let i = values.length - 1; i > rank; i--) heap.pop()
  return heap.pop()
}

/** Counts making a heap, which takes about as long as a quarter of its searches, and taking values from it. */
function workOnHeap(values: readonly Value[], taken: number): void {
  workOnOrder(values, taken * COMPARISONS_PER_LEVEL + values.length / 4)
}

class PositionHeap {
  readonly #values: readonly Value[]
  readonly #direction: 1 | -1
  readonly #isStable: boolean
  readonly #heap: Uint32Array
  #size: number

  constructor(values: readonly Value[], direction: 1 | -1, ties: 'heap' | 'position') {
    this.#values = values
    this.#direction = direction
    this.#isStable = ties === 'position'
    this.#size = values.length
    this.#heap = Uint32Array.from({ length: values.length }, (_, i) => i)
    for (let i = (this.#size >>> 1) - 1; i >= 0; i--) this.#sink(i)
  }

  pop(): number {
    const top = this.#heap[0]
    this.#heap[0] = this.#heap[--this.#size]
    this.#sink(0)
    return top
  }

  #sink(parent: number): void {
    const heap = this.#heap
    for (;;) {
      let child = 2 * parent + 1
      if (child >= this.#size) return
      if (child + 1 < this.#size && this.#order(heap[child + 1], heap[child]) < 0) child++
      if (this.#order(heap[child], heap[parent]) >= 0) return
      const moved = heap[child]
      heap[child] = heap[parent]
      heap[parent] = moved
      parent = child
    }
  }

  #order(a: number, b: number): number {
    const order = compareValues(this.#values[a], this.#values[b])
    return this.#direction * (order === 0 && this.#isStable ? a - b : order)
  }
}
