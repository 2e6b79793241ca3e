/** Longer work than this would be felt by the other connections. */
const SLICE_MS = 4
/** Looking at the clock costs more than most steps. */
const STEPS_PER_LOOK = 16

/** Lets long work give way to others now and then. */
export class TimeSlice {
  #started = performance.now()
  #steps = 0

  /** True when it is time to pause; call it once for each step. */
  over(): boolean {
    return ++this.#steps % STEPS_PER_LOOK === 0 && performance.now() - this.#started > SLICE_MS
  }

  async pause(): Promise<void> {
    await new Promise<void>((resolve) => setImmediate(resolve))
    this.#started = performance.now()
  }
}
