import { setTimeout as pause } from 'node:timers/promises'
import type { Driver } from '../../driver/driver.js'
import { VersionConflictError } from '../../errors/index.js'
import type { DeleteCommand, ReadCommand, WriteCommand } from '../../plan/command.js'
import type { Outcome, StoredRecord } from '../../plan/outcome.js'
import { showKey, type RecordKey } from '../../plan/record-key.js'
import { flushFailure } from '../flush/execute/flush-failure.js'

/** Times that a record is read again because others have written to it meanwhile. */
export const ATTEMPTS = 8

/** Sends the commands of a move. What others have changed meanwhile is an outcome; anything else ends the move. */
export class MoveAccess {
  readonly #driver: Driver
  readonly #className: string
  readonly #signal: AbortSignal | undefined

  constructor(driver: Driver, className: string, signal: AbortSignal | undefined) {
    this.#driver = driver
    this.#className = className
    this.#signal = signal
  }

  read(commands: readonly ReadCommand[]): Promise<(StoredRecord | null)[]> {
    return commands.length === 0 ? Promise.resolve([]) : this.#driver.read(commands, { signal: this.#signal })
  }

  /** Reads records, and others with them; a record that seems to be missing may be about to come by a transaction that is not completed. */
  async readSettled(records: readonly ReadCommand[], others: readonly ReadCommand[]): Promise<(StoredRecord | null)[]> {
    const commands = [...records, ...others]
    const found = await this.read(commands)
    for (let attempt = 1; ; attempt++) {
      const missing = records.flatMap(({ key }, i) => (found[i] === null && this.#mayBeHeld(key) ? [i] : []))
      if (missing.length === 0) return found
      const held = await this.#driver.areHeld(missing.map((i) => commands[i]))
      // A record that is not held any more shows the result of the transaction.
      const again = await this.read(missing.map((i) => commands[i]))
      missing.forEach((i, n) => (found[i] = again[n]))
      if (!held.some((isHeld, n) => isHeld && again[n] === null)) return found
      if (attempt === ATTEMPTS) throw this.overtaken(commands[missing[held.indexOf(true)]].key)
      await pause(2 ** attempt)
    }
  }

  #mayBeHeld({ namespace }: RecordKey): boolean {
    return this.#driver.capabilities.namespaces[namespace]?.transactions === true
  }

  async run(commands: readonly (WriteCommand | DeleteCommand)[]): Promise<Outcome[]> {
    if (commands.length === 0) return []
    const outcomes = await this.#driver.run(commands, { signal: this.#signal })
    const failed = outcomes.filter(({ state, reason }) => state !== 'written' && !OVERTAKEN.includes(reason!))
    if (failed.length > 0) throw flushFailure({ outcomes, failed }, this.#signal)
    return outcomes
  }

  overtaken(key: RecordKey): VersionConflictError {
    return new VersionConflictError(
      `${this.#className} ${showKey(key)} was changed by others while it was being moved.`,
      {
        className: this.#className,
        key: key.key,
        fix: 'Nothing is lost. Move it again when nobody writes to it.',
      },
    )
  }
}

const OVERTAKEN: readonly string[] = ['generation', 'guard', 'missing', 'exists']
