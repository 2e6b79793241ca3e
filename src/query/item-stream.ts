const ENDED = Object.freeze({ value: undefined, done: true })

/**
 * Gives the items of steps one after the other. An async generator waits three times for each item; here an item of a step that has been
 * read costs one resolved promise.
 */
export class ItemStream<T> implements AsyncGenerator<T, void, undefined> {
  readonly #next: () => Promise<IteratorResult<readonly T[]>>
  readonly #close: () => Promise<unknown>
  readonly #signal: AbortSignal | undefined
  #items: readonly T[] = []
  #at = 0
  #isOver = false
  /** The last call that has to wait for a step; later ones wait for it. */
  #waiting: Promise<unknown> | undefined

  constructor(
    next: () => Promise<IteratorResult<readonly T[]>>,
    close: () => Promise<unknown>,
    signal: AbortSignal | undefined,
  ) {
    this.#next = next
    this.#close = close
    this.#signal = signal
  }

  next(): Promise<IteratorResult<T, void>> {
    const isHere = this.#waiting === undefined && this.#at < this.#items.length && this.#signal?.aborted !== true
    if (isHere) return Promise.resolve({ value: this.#items[this.#at++], done: false })
    return this.#inTurn(() => this.#advance())
  }

  return(): Promise<IteratorResult<T, void>> {
    this.#end()
    return this.#inTurn(async () => {
      await this.#close()
      return ENDED
    })
  }

  async throw(error: unknown): Promise<IteratorResult<T, void>> {
    await this.return()
    throw error
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return()
  }

  async #advance(): Promise<IteratorResult<T, void>> {
    try {
      while (!this.#isOver) {
        this.#signal?.throwIfAborted()
        if (this.#at < this.#items.length) return { value: this.#items[this.#at++], done: false }
        const step = await this.#next()
        if (step.done === true) this.#end()
        else [this.#items, this.#at] = [step.value, 0]
      }
      return ENDED
    } catch (error) {
      this.#end()
      await this.#close()
      throw error
    }
  }

  #end(): void {
    this.#isOver = true
    this.#items = []
    this.#at = 0
  }

  #inTurn<R>(work: () => Promise<R>): Promise<R> {
    const result = this.#waiting === undefined ? work() : this.#waiting.then(work, work)
    const settled = (): void => {
      if (this.#waiting === result) this.#waiting = undefined
    }
    this.#waiting = result
    result.then(settled, settled)
    return result
  }
}
