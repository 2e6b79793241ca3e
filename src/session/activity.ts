import { databaseClosed } from './session-errors.js'

/** Counts the work under way in all sessions of a database, so that closing can wait for it. */
export class Activity {
  #count = 0
  #isClosing = false
  #onIdle: (() => void) | undefined

  get isClosing(): boolean {
    return this.#isClosing
  }

  begin(): void {
    if (this.#isClosing) throw databaseClosed()
    this.#count++
  }

  end(): void {
    if (--this.#count === 0) this.#onIdle?.()
  }

  /** Lets nothing new begin; resolves when everything has ended. */
  close(): Promise<void> {
    this.#isClosing = true
    return this.#count === 0 ? Promise.resolve() : new Promise((resolve) => (this.#onIdle = resolve))
  }
}
