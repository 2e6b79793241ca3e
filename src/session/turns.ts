import type { Activity } from './activity.js'
import type { Managed } from './managed.js'

/** Keeps work apart: work on one entity waits for earlier work on it, and a flush waits for all and lets all wait. */
export class Turns {
  readonly #activity: Activity
  #barrier: Promise<unknown> | undefined
  readonly #running = new Set<Promise<unknown>>()

  constructor(activity: Activity) {
    this.#activity = activity
  }

  /** Work on the whole session. */
  all<T>(work: () => Promise<T>): Promise<T> {
    this.#activity.begin()
    const before = [...this.#running]
    const result = before.length === 0 ? work() : Promise.all(before).then(work)
    const done = this.#track(result, () => {
      if (this.#barrier === done) this.#barrier = undefined
    })
    this.#barrier = done
    return result
  }

  /** Work on one entity. */
  one<T>(managed: Managed, work: () => Promise<T>): Promise<T> {
    this.#activity.begin()
    const before = this.#barrier === undefined ? managed.turn : Promise.all([this.#barrier, managed.turn])
    const result = before === undefined ? work() : before.then(work)
    const done = this.#track(result, () => {
      if (managed.turn === done) managed.turn = undefined
    })
    managed.turn = done
    return result
  }

  /** Resolves when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  #track(result: Promise<unknown>, finish: () => void): Promise<unknown> {
    const end = (): void => {
      this.#running.delete(done)
      this.#activity.end()
      finish()
    }
    const done = result.then(end, end)
    this.#running.add(done)
    return done
  }
}
