import { CommandError, ResultCode } from '../protocol/result-code.js'
import { Float, isInteger, toInteger, type Value } from '../value/value.js'

/**
 * Adds to a number, which keeps its type: a fraction added to an integer is cut off. A missing number takes the type of
 * what is added; nothing to add means one.
 */
export function increment(current: Value | undefined, delta: Value, sign: 1 | -1): number | bigint | Float {
  const step = delta === null ? 1 : delta
  if (step instanceof Float) {
    if (current === undefined) return new Float(sign * step.value)
    if (isInteger(current)) return addIntegers(current, wholePart(step.value), sign)
    if (current instanceof Float) return new Float(current.value + sign * step.value)
  }
  if (isInteger(step)) {
    if (current === undefined) return addIntegers(0, step, sign)
    if (isInteger(current)) return addIntegers(current, step, sign)
    if (current instanceof Float) return new Float(current.value + sign * Number(step))
  }
  throw new CommandError(ResultCode.PARAMETER, 'only numbers can be incremented')
}

function addIntegers(current: number | bigint, step: number | bigint, sign: 1 | -1): number | bigint {
  if (typeof current === 'number' && typeof step === 'number') {
    const sum = current + sign * step
    if (Number.isSafeInteger(sum)) return sum
  }
  return toInteger(BigInt(current) + BigInt(sign) * BigInt(step))
}

/** Doubles beyond the range of an int64 become its smallest value, as the conversion does on x86. */
function wholePart(value: number): number | bigint {
  if (Math.abs(value) < 2 ** 63) return toInteger(BigInt(Math.trunc(value)))
  return -(2n ** 63n)
}
