import { databaseClosed } from './session-errors.js'

/** Counter of work that begins and ends. */
export interface WorkCount {
  /** True when no more may begin. */
  readonly isClosing: boolean
  begin(): void
  end(): void
}

/** Work as a whole, whatever it begins on the way. */
export async function during<T>(activity: WorkCount, work: () => Promise<T>): Promise<T> {
  activity.begin()
  try {
    return await work()
  } finally {
    activity.end()
  }
}

/** Counts the work under way in all sessions of a database, so that closing can wait for it. */
export class Activity implements WorkCount {
  #count = 0
  #isClosing = false
  #onIdle: (() => void) | undefined

  /** For what belongs to work that is counted already, and waited for: it may begin also while the database closes. */
  readonly inside: WorkCount = { isClosing: false, begin: () => void this.#count++, end: () => this.end() }

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
