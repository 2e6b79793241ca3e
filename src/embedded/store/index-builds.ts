/** Lets the building of indexes be held at a share of the records, so that clients see an index that is not ready. */
export class IndexBuilds {
  #percent = 100
  readonly #waiting: (() => void)[] = []

  /** Builds go no further than this; those that are past it are not touched. */
  hold(percent: number): void {
    this.#percent = percent
  }

  release(): void {
    this.#percent = 100
    for (const go of this.#waiting.splice(0)) go()
  }

  /** Undefined where a build may go on; otherwise resolves when it may. */
  turn(percent: number): Promise<void> | undefined {
    return percent < this.#percent ? undefined : new Promise((resolve) => this.#waiting.push(resolve))
  }
}
