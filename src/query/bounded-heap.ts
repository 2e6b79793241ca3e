/** Keeps the first `size` of any number of items in an order; the last of them stands on top. */
export class BoundedHeap<T> {
  readonly #size: number
  readonly #compare: (a: T, b: T) => number
  readonly #items: T[] = []

  constructor(size: number, compare: (a: T, b: T) => number) {
    this.#size = size
    this.#compare = compare
  }

  add(item: T): void {
    const items = this.#items
    if (items.length < this.#size) {
      items.push(item)
      this.#rise(items.length - 1)
    } else if (this.#compare(item, items[0]) < 0) {
      items[0] = item
      this.#sink(0)
    }
  }

  /** The kept items in their order. */
  sorted(): T[] {
    return this.#items.toSorted(this.#compare)
  }

  #rise(at: number): void {
    const items = this.#items
    for (let i = at; i > 0;) {
      const parent = (i - 1) >> 1
      if (this.#compare(items[i], items[parent]) <= 0) return
      this.#swap(i, parent)
      i = parent
    }
  }

  #sink(at: number): void {
    const items = this.#items
    for (let i = at; ;) {
      const left = 2 * i + 1
      if (left >= items.length) return
      const right = left + 1
      const larger = right < items.length && this.#compare(items[right], items[left]) > 0 ? right : left
      if (this.#compare(items[larger], items[i]) <= 0) return
      this.#swap(i, larger)
      i = larger
    }
  }

  #swap(i: number, j: number): void {
    const items = this.#items
    ;[items[i], items[j]] = [items[j], items[i]]
  }
}
