import type { RetryOptions } from './options.js'

/** Counts the tries of one command and says how long to wait before the next; made when the first one has failed. */
export class Tries {
  #count = 1
  /** Time of the first failure; the deadline counts from it. */
  readonly began: number

  constructor(began = performance.now()) {
    this.began = began
  }

  get count(): number {
    return this.#count
  }

  /**
   * Milliseconds to wait before another try, or undefined when the number or the time is used up.
   * The wait is drawn between half and one and a half of its mean, so that callers who collided do not collide again.
   */
  next(options: RetryOptions): number | undefined {
    if (this.#count >= options.attempts) return undefined
    const mean = Math.min(options.backoff * 2 ** (this.#count - 1), options.longestWait)
    const wait = mean * (0.5 + Math.random())
    if (performance.now() - this.began + wait > options.deadline) return undefined
    this.#count++
    return wait
  }
}

/** Waits between tries; a database that closes must know about them. */
export class Rest {
  #resting = 0

  get isIdle(): boolean {
    return this.#resting === 0
  }

  after(milliseconds: number, work: () => unknown): void {
    this.#resting++
    setTimeout(() => {
      this.#resting--
      work()
    }, milliseconds)
  }
}
