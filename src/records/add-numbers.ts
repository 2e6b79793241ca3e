import { shown, type SkeinError } from '../errors/index.js'
import type { BinType } from '../model/index.js'
import { DoubleValue, type Value } from '../plan/value.js'

/** Value to send for an increment; to a double as a double, because the server stores it as it comes where there was nothing. */
export function deltaOf({ kind }: BinType, by: number | bigint, bad: (what: string, fix: string) => SkeinError): Value {
  if (typeof by !== 'bigint' && !Number.isFinite(by)) throw bad(`${shown(by)} cannot be added`, 'Give a finite number.')
  switch (kind) {
    case 'double':
      return new DoubleValue(Number(by))
    case 'int':
    case 'bigint':
    case 'json':
      // The server would cut off the fraction, or store a double that an integer cannot be read from.
      if (typeof by === 'number' && !Number.isInteger(by))
        throw bad(`${by} cannot be added to a whole number`, 'Give a whole number, or declare the type double.')
      checkFits(kind, by, bad)
      return by
    case 'custom':
      return by
    default:
      throw bad(`a value of type ${kind} is not a number`, 'Increment values of type int, double or bigint.')
  }
}

/** Throws where no value of the type can hold what is added; the client would cut it off at 64 bits. */
export function checkFits(
  kind: BinType['kind'],
  by: number | bigint,
  bad: (what: string, fix: string) => SkeinError,
): void {
  if (kind === 'bigint' ? BigInt.asIntN(64, BigInt(by)) === BigInt(by) : Number.isSafeInteger(Number(by))) return
  throw kind === 'bigint'
    ? bad(`${by} cannot be added`, 'Give a number within 64 bits.')
    : bad(`${by} cannot be added to an integer`, "Give a number within ±(2^53 − 1), or declare the type 'bigint'.")
}

/** True for what the server can add to; nothing counts as 0. */
export const isAddable = (value: unknown): boolean =>
  value === undefined || typeof value === 'number' || typeof value === 'bigint'

/** Adds as the server does; nothing counts as 0. */
export function addNumbers(value: unknown, by: number | bigint): number | bigint {
  if (typeof value === 'bigint') return value + BigInt(by)
  return typeof by === 'bigint' && (value === undefined || value === null) ? by : Number(value ?? 0) + Number(by)
}
