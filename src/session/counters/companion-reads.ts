import { ReceivedRead, type Receiver } from '../../driver/read-request.js'
import type { ReadCommand } from '../../plan/command.js'
import type { StoredRecord } from '../../plan/outcome.js'

/** Reads of the companions of one record, which leave together with the read of the record itself. */
export class CompanionReads {
  readonly requests: readonly ReceivedRead[]
  readonly #found: (StoredRecord | null)[]
  #left: number
  #failure: { readonly error: unknown } | undefined
  #then: ((companions: readonly (StoredRecord | null)[]) => void) | undefined
  #failed: ((error: unknown) => void) | undefined

  constructor(commands: readonly ReadCommand[]) {
    this.#left = commands.length
    this.#found = new Array<StoredRecord | null>(commands.length)
    this.requests = commands.map((command, i) => new ReceivedRead(command, this.#receiver(i)))
  }

  /** Calls back once, when all of them are there or have failed. */
  whenRead(then: (companions: readonly (StoredRecord | null)[]) => void, failed: (error: unknown) => void): void {
    this.#then = then
    this.#failed = failed
    if (this.#left === 0) this.#tell()
  }

  #receiver(at: number): Receiver {
    return {
      found: (record) => {
        this.#found[at] = record
        this.#answered()
      },
      failed: (error) => {
        this.#failure ??= { error }
        this.#answered()
      },
    }
  }

  #answered(): void {
    if (--this.#left === 0) this.#tell()
  }

  #tell(): void {
    if (this.#failure !== undefined) this.#failed?.(this.#failure.error)
    else this.#then?.(this.#found)
  }
}
