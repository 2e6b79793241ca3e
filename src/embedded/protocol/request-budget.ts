import { CommandError, ResultCode } from './result-code.js'

/** Nils written before an element; no record can hold more bytes, and each nil takes one. */
const MAX_PADDING = 8 * 1024 * 1024
/** Bytes of values that a request makes beyond those it sent. */
const MAX_GROWTH = 64 * 1024 * 1024
/** Steps of about 15 ns that a request takes before other connections have their turn: about a second. */
const MAX_WORK = 64 * 1024 * 1024
/** Steps that each byte of a request may take beside those. */
const WORK_PER_BYTE = 16
/** Steps that a new byte of a value takes. */
const GROWTH_COST = 4
/** Bytes that a request may add to its values before copies of them count as padding, too. */
const FREE_COPIES = 1024 * 1024
/** Bytes of the answer of one record. */
const MAX_REPLY = 64 * 1024 * 1024

/** Raised for a request that costs too much; an expression never takes it for an unknown value. */
export class OverBudgetError extends CommandError {
  constructor(code: number, what: string) {
    super(code, `the request needs too much ${what}`)
  }
}

/** Cost so far of the request that is being run. Commands run one at a time, so that there is only one. */
class RequestBudget {
  #padding = MAX_PADDING
  #growth = Infinity
  #work = Infinity
  #reply = Infinity

  /** Starts a request of so many bytes. */
  begin(bytes: number): void {
    this.#padding = MAX_PADDING
    this.#growth = MAX_GROWTH + bytes
    this.#work = MAX_WORK + bytes * WORK_PER_BYTE
    this.#reply = MAX_REPLY
  }

  /** Lets other requests run; what it returns goes on with this one. */
  pause(): () => void {
    const padding = this.#padding
    const growth = this.#growth
    return () => {
      this.begin(0)
      this.#padding = padding
      this.#growth = growth
    }
  }

  /** Runs something whose values are gone when it ends, except for its result. */
  temporarily<T>(work: () => T): T {
    const growth = this.#growth
    const result = work()
    this.#growth = growth
    return result
  }

  nextRecord(): void {
    this.#reply = MAX_REPLY
  }

  pad(nils: number): void {
    if (nils > this.#padding) throw new OverBudgetError(ResultCode.RECORD_TOO_BIG, 'padding')
    this.#padding -= nils
  }

  grow(bytes: number): void {
    if (bytes <= 0) return
    this.work(bytes * GROWTH_COST)
    this.#growth -= bytes
    if (this.#growth < 0) throw new OverBudgetError(ResultCode.RECORD_TOO_BIG, 'memory')
  }

  /** Counts the copy of a value that grows further; each copy takes as much memory as padding it anew. */
  copy(bytes: number): void {
    const added = MAX_GROWTH - this.#growth
    if (added > FREE_COPIES) this.pad(Math.min(bytes, added))
  }

  work(steps: number): void {
    this.#work -= steps
    if (this.#work < 0) throw new OverBudgetError(ResultCode.PARAMETER, 'time')
  }

  reply(bytes: number): void {
    this.#reply -= bytes
    if (this.#reply < 0) throw new OverBudgetError(ResultCode.RECORD_TOO_BIG, 'room for its answer')
  }
}

export const requestBudget = new RequestBudget()
