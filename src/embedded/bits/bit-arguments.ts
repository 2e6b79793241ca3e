import type { Arguments } from '../cdt/arguments.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { Bytes, isInteger, ParticleType } from '../value/value.js'
import { MAX_INTEGER_BITS } from './bit-integer.js'

export function malformed(message: string): CommandError {
  return new CommandError(ResultCode.PARAMETER, message)
}

/** A size in bits or bytes; there is no range of nothing. */
export function sizeOf(args: Arguments, at: number): number {
  const size = args.integer(at)
  if (size <= 0 || size > Number.MAX_SAFE_INTEGER) throw malformed('wrong size')
  return size
}

/** The size of a range that holds an integer; it is always the second argument. */
export function integerSize(args: Arguments): number {
  const size = sizeOf(args, 1)
  if (size > MAX_INTEGER_BITS) throw malformed('an integer has at most 64 bits')
  return size
}

export function bytesOf(args: Arguments, at: number): Buffer {
  const value = args.value(at)
  if (!(value instanceof Bytes) || value.tag !== ParticleType.BLOB) throw malformed('not bytes')
  return value.bytes
}

export function bigintOf(args: Arguments, at: number): bigint {
  const value = args.value(at)
  if (!isInteger(value)) throw malformed('not an integer')
  return BigInt(value)
}
