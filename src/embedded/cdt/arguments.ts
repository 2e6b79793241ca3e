import { CommandError, ResultCode } from '../protocol/result-code.js'
import { storable } from '../value/storable.js'
import { ListValue, MapValue, isInteger, type Value } from '../value/value.js'

/** The arguments of a call, read by position and checked as they are read. */
export class Arguments {
  readonly #values: readonly Value[]

  constructor(values: readonly Value[], [fewest, most]: readonly [number, number]) {
    if (values.length < fewest || values.length > most) throw wrong('number of arguments')
    this.#values = values
  }

  value(at: number): Value {
    return this.#values[at]
  }

  optionalValue(at: number): Value | undefined {
    return this.#values[at]
  }

  /** An index or a rank, counted from the end where it is negative. */
  integer(at: number): number {
    const value = this.#values[at]
    if (!isInteger(value)) throw wrong('index')
    return Number(value)
  }

  /** Number of elements; all of them where it is absent. A negative one is a huge unsigned one on the wire. */
  count(at: number): number {
    if (at >= this.#values.length) return Infinity
    const count = this.integer(at)
    return count < 0 ? Infinity : count
  }

  flags(at: number): number {
    return at < this.#values.length ? this.integer(at) : 0
  }

  list(at: number): ListValue {
    const value = this.#values[at]
    if (!(value instanceof ListValue)) throw wrong('list')
    return value
  }

  /** A value that is to be stored. */
  stored(at: number): Value {
    return storable(this.#values[at])
  }

  storedList(at: number): ListValue {
    const value = this.stored(at)
    if (!(value instanceof ListValue)) throw wrong('list')
    return value
  }

  storedMap(at: number): MapValue {
    const value = this.stored(at)
    if (!(value instanceof MapValue)) throw wrong('map')
    return value
  }
}

function wrong(what: string): CommandError {
  return new CommandError(ResultCode.PARAMETER, `wrong ${what}`)
}
