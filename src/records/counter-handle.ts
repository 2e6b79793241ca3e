import { shown, type SkeinError } from '../errors/index.js'
import type { BinType, PropertyModel } from '../model/index.js'
import { addToBin } from '../plan/operations.js'
import { badArgument } from './handle-errors.js'
import { addNumbers, checkFits } from './add-numbers.js'
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
  readonly #kind: BinType['kind']

  /** @internal */
  constructor(target: RecordTarget, { name, bin, type }: PropertyModel) {
    this.#target = target
    this.#property = name
    this.#bin = bin
    this.#kind = type.kind
  }

  add(by: number | bigint = 1): void {
    const bad = (what: string, fix: string): SkeinError => badArgument(this.#target, this.#property, what, fix)
    if (typeof by !== 'bigint' && !Number.isSafeInteger(by))
      throw bad(`${shown(by)} cannot be added`, 'Give a whole number.')
    if (typeof by === 'bigint') checkFits(this.#kind, by, bad)
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
