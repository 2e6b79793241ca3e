/** Holds back the commands of a slow node; they keep their order when it becomes faster. */
export class Pace {
  readonly #waiting = new Map<() => void, NodeJS.Timeout>()
  #delay = 0

  get isSlow(): boolean {
    return this.#delay > 0
  }

  /** Resolves when the command may run; never, when the node is gone by then. */
  turn(): Promise<void> {
    return new Promise((resolve) => {
      const run = (): void => {
        this.#waiting.delete(run)
        resolve()
      }
      this.#waiting.set(run, setTimeout(run, this.#delay))
    })
  }

  /** Commands that wait go on at once: otherwise those that come later would run first. */
  set(delay: number): void {
    this.#delay = delay
    for (const [run, timer] of [...this.#waiting]) {
      clearTimeout(timer)
      run()
    }
  }

  /** Forgets the commands that wait. */
  drop(): void {
    for (const timer of this.#waiting.values()) clearTimeout(timer)
    this.#waiting.clear()
  }
}
