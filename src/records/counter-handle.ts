import { addToBin } from '../plan/operations.js'
import { badArgument } from './handle-errors.js'
import { addNumbers } from './add-numbers.js'
import type { RecordTarget } from './record-target.js'

/**
 * A counter of a record that need not be loaded; concurrent adds of many sessions are all counted.
 *
 * @example
 * session.at(Page, '/home').counter('views').add(1)
 */
export class CounterHandle {
  readonly #target: RecordTarget
  readonly #property: string
  readonly #bin: string

  /** @internal */
  constructor(target: RecordTarget, property: string, bin: string) {
    this.#target = target
    this.#property = property
    this.#bin = bin
  }

  add(by: number | bigint = 1): void {
    if (typeof by !== 'bigint' && !Number.isSafeInteger(by))
      throw badArgument(this.#target, this.#property, `${String(by)} cannot be added`, 'Give a whole number.')
    this.#target.record({
      property: this.#property,
      operation: addToBin(this.#bin, by),
      apply: (value) => addNumbers(value, by),
    })
  }

  /** The stored value plus what this session has not sent yet. */
  value(): Promise<number | bigint> {
    return this.#target.count(this.#property)
  }
}
