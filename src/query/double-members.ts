import type { Expression } from '../plan/expression.js'
import { DoubleValue, isDouble, type Value } from '../plan/value.js'
import { typeOf } from './field.js'

type Count = (subject: Expression, member: Value) => Expression
type CountBetween = (subject: Expression, from: Value, to: Value) => Expression

/**
 * Counts members by value, doubles by the interval that holds only this one: as a value, the server takes a stored NaN for equal to
 * every double, but it is not below the end of an interval. No interval ends after infinity.
 */
export function countMember(count: Count, between: CountBetween): Count {
  return (subject, member) => {
    const double = typeOf(member) === 'float' ? Number(isDouble(member) ? member.value : member) : Infinity
    return double === Infinity ? count(subject, member) : between(subject, member, new DoubleValue(nextUp(double)))
  }
}

const bytes = new DataView(new ArrayBuffer(8))

/** The next larger double. */
function nextUp(value: number): number {
  if (value === 0) return Number.MIN_VALUE
  bytes.setFloat64(0, value)
  bytes.setBigInt64(0, bytes.getBigInt64(0) + (value > 0 ? 1n : -1n))
  return bytes.getFloat64(0)
}
