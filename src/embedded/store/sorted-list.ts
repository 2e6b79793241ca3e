/** Chunks are split beyond this length, so that an insertion moves little. */
const MAX_CHUNK = 512

/** Items in order, without duplicates, with fast insertion, removal and range iteration. */
export class SortedList<T> {
  readonly #compare: (a: T, b: T) => number
  /** Never an empty one. */
  readonly #chunks: T[][] = []
  #size = 0
  /** Changes with the content, so that a cursor knows when to look for its place again. */
  #version = 0

  constructor(compare: (a: T, b: T) => number) {
    this.#compare = compare
  }

  get size(): number {
    return this.#size
  }

  /** False when it is there already. */
  add(item: T): boolean {
    if (this.#chunks.length === 0) this.#chunks.push([])
    const [chunkIndex, at] = this.#position((other) => this.#compare(other, item))
    // Past the end, the item belongs to the last chunk.
    const last = chunkIndex === this.#chunks.length
    const chunk = this.#chunks[last ? chunkIndex - 1 : chunkIndex]
    if (last) chunk.push(item)
    else if (at < chunk.length && this.#compare(chunk[at], item) === 0) return false
    else chunk.splice(at, 0, item)
    if (chunk.length > MAX_CHUNK) this.#split(last ? chunkIndex - 1 : chunkIndex)
    this.#size++
    this.#version++
    return true
  }

  /** False when it is not there. */
  delete(item: T): boolean {
    const [chunkIndex, at] = this.#position((other) => this.#compare(other, item))
    const chunk = this.#chunks[chunkIndex] as T[] | undefined
    if (chunk === undefined || at >= chunk.length || this.#compare(chunk[at], item) !== 0) return false
    chunk.splice(at, 1)
    if (chunk.length === 0) this.#chunks.splice(chunkIndex, 1)
    this.#size--
    this.#version++
    return true
  }

  /**
   * The items from the first for which `order` is not negative. The list may change between two steps: what stays in
   * it is given exactly once.
   */
  *from(order: (item: T) => number): Generator<T, void> {
    let [chunkIndex, at] = this.#position(order)
    let version = this.#version
    for (;;) {
      if (at >= (this.#chunks[chunkIndex]?.length ?? 0)) {
        chunkIndex++
        at = 0
        if (chunkIndex >= this.#chunks.length) return
      }
      const item = this.#chunks[chunkIndex][at++]
      yield item
      if (version === this.#version) continue
      ;[chunkIndex, at] = this.#position((other) => (this.#compare(other, item) > 0 ? 0 : -1))
      version = this.#version
    }
  }

  #split(chunkIndex: number): void {
    const chunk = this.#chunks[chunkIndex]
    this.#chunks.splice(chunkIndex + 1, 0, chunk.splice(chunk.length >> 1))
  }

  /** Chunk and place of the first item for which `order` is not negative. */
  #position(order: (item: T) => number): [number, number] {
    const chunkIndex = lowerBound(this.#chunks, (chunk) => (chunk.length === 0 ? 0 : order(chunk[chunk.length - 1])))
    if (chunkIndex === this.#chunks.length) return [chunkIndex, 0]
    return [chunkIndex, lowerBound(this.#chunks[chunkIndex], order)]
  }
}

function lowerBound<T>(items: readonly T[], order: (item: T) => number): number {
  let low = 0
  let high = items.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (order(items[middle]) < 0) low = middle + 1
    else high = middle
  }
  return low
}
