let databases = 0

/**
 * Runs the functions that a database waits for when it closes, and knows whether a call comes from within one of them. Following
 * asynchronous calls would slow down every promise of the process, so the stack is asked, and only by a call that has to know:
 * these functions have a name in it that no other database has.
 */
export class AwaitedWork {
  readonly #name = `skeinAwaits${++databases}_`
  readonly #named: Readonly<Record<string, <T>(work: () => Promise<T> | T) => Promise<T>>> = {
    // A plain return would leave no frame to be found once the work waits for something.
    [this.#name]: async (work) => await work(),
  }

  run<T>(work: () => Promise<T> | T): Promise<T> {
    return this.#named[this.#name](work)
  }

  /** True in what such a function calls and awaits; callbacks of others are not seen. */
  get isCalling(): boolean {
    const { stackTraceLimit } = Error
    Error.stackTraceLimit = Infinity
    const { stack } = new Error()
    Error.stackTraceLimit = stackTraceLimit
    return stack?.includes(this.#name) === true
  }
}
