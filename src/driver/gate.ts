/** Lets a bounded number in at a time; the others wait in the order they came. */
export class Gate {
  readonly #size: number
  readonly #waiting: (() => void)[] = []
  #inside = 0

  constructor(size: number) {
    this.#size = size
  }

  get isIdle(): boolean {
    return this.#inside === 0
  }

  /** Resolves when there is room. Each `enter` needs one `leave`. */
  enter(): Promise<void> {
    if (this.#inside < this.#size) {
      this.#inside++
      return Promise.resolve()
    }
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  leave(): void {
    // The place goes straight to the next in line, so nobody can slip in between.
    const next = this.#waiting.shift()
    if (next === undefined) this.#inside--
    else next()
  }
}
