import { types } from 'node:util'
import { isInt64, isSafeText } from '../../keys/index.js'
import { DoubleValue, type Value } from '../../plan/value.js'
import type { TypeCodec } from '../type-codec.js'
import { ValueProblem, shown } from '../value-problem.js'

const DECLARE = 'Declare the type that is stored, or repair the record.'

const wrongValue = (value: unknown, wants: string, fix: string): ValueProblem =>
  new ValueProblem(`${shown(value)} is not ${wants}`, fix)
const wrongStored = (stored: unknown, wants: string, fix = DECLARE): ValueProblem =>
  new ValueProblem(`the stored value is ${shown(stored)}, not ${wants}`, fix)

const identity = (value: unknown): unknown => value
const isIdentical = (value: unknown, snapshot: unknown): boolean => value === snapshot

/** A number as the client keeps it a number: integral ones outside the safe range would come back as bigints, −0 as 0. */
export const encodeNumber = (value: number): number | DoubleValue =>
  Number.isInteger(value) && (!Number.isSafeInteger(value) || Object.is(value, -0)) ? new DoubleValue(value) : value

const TOO_BIG = "Declare the type 'bigint', or put a smaller number there."

export const intType: TypeCodec = {
  name: 'int',
  encode(value) {
    if (Number.isSafeInteger(value)) return value as number
    const fix = "Give an integer within ±(2^53 − 1), or declare the property 'double' or 'bigint'."
    throw wrongValue(value, 'an integer', fix)
  },
  decode(stored) {
    if (Number.isSafeInteger(stored)) return stored
    throw wrongStored(stored, 'an integer within ±(2^53 − 1)', typeof stored === 'bigint' ? TOO_BIG : undefined)
  },
  snapshot: identity,
  same: isIdentical,
}

export const doubleType: TypeCodec = {
  name: 'double',
  encode(value) {
    if (typeof value === 'number') return Number.isInteger(value) ? new DoubleValue(value) : value
    throw wrongValue(value, 'a number', 'Give a number.')
  },
  decode(stored) {
    if (typeof stored === 'number') return stored
    if (typeof stored === 'bigint') return Number(stored)
    throw wrongStored(stored, 'a number')
  },
  snapshot: identity,
  same: Object.is,
}

export const stringType: TypeCodec = {
  name: 'string',
  encode(value) {
    if (typeof value !== 'string') throw wrongValue(value, 'a string', 'Give a string.')
    if (isSafeText(value)) return value
    const what = value.includes('\0')
      ? 'NUL, where the client would cut it'
      : 'half of a surrogate pair, which cannot be stored'
    throw new ValueProblem(`the string contains ${what}`, "Remove it, or declare the property 'bytes'.")
  },
  decode(stored) {
    if (typeof stored === 'string') return stored
    throw wrongStored(stored, 'a string')
  },
  snapshot: identity,
  same: isIdentical,
}

export const booleanType: TypeCodec = {
  name: 'boolean',
  encode(value) {
    if (typeof value === 'boolean') return value
    throw wrongValue(value, 'a boolean', 'Give true or false.')
  },
  decode(stored) {
    if (typeof stored === 'boolean') return stored
    throw wrongStored(stored, 'a boolean')
  },
  snapshot: identity,
  same: isIdentical,
}

export const bigintType: TypeCodec = {
  name: 'bigint',
  encode(value) {
    if (typeof value === 'bigint' && isInt64(value)) return value
    throw wrongValue(value, 'a bigint of 64 bits', 'Give a bigint between -2^63 and 2^63 − 1.')
  },
  decode(stored) {
    if (typeof stored === 'bigint') return stored
    if (Number.isInteger(stored)) return BigInt(stored as number)
    throw wrongStored(stored, 'an integer')
  },
  snapshot: identity,
  same: isIdentical,
}

export const dateType: TypeCodec = {
  name: 'date',
  encode(value) {
    if (!types.isDate(value)) throw wrongValue(value, 'a Date', 'Give a Date.')
    const time = value.getTime()
    if (!Number.isNaN(time)) return time
    throw new ValueProblem('the Date is invalid', 'Give a valid one, or undefined.')
  },
  decode(stored) {
    const date = new Date(typeof stored === 'number' ? stored : NaN)
    if (!Number.isNaN(date.getTime())) return date
    throw wrongStored(stored, 'a time in milliseconds')
  },
  snapshot: (value) => (value as Date).getTime(),
  same: (value, snapshot) => types.isDate(value) && value.getTime() === snapshot,
}

export const bytesType: TypeCodec = {
  name: 'bytes',
  encode(value) {
    if (types.isUint8Array(value)) return asBuffer(value)
    throw wrongValue(value, 'a Buffer or Uint8Array', 'Give a Buffer.')
  },
  decode(stored) {
    if (types.isUint8Array(stored)) return asBuffer(stored)
    throw wrongStored(stored, 'bytes')
  },
  snapshot: (value) => Buffer.from(value as Uint8Array),
  same: (value, snapshot) => types.isUint8Array(value) && asBuffer(value).equals(snapshot as Buffer),
}

const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

export function enumType(values: readonly (string | number)[]): TypeCodec {
  const known = new Set<unknown>(values)
  const list = values.map((value) => JSON.stringify(value)).join(', ')
  return {
    name: `enum of ${list}`,
    encode(value) {
      if (known.has(value)) return typeof value === 'number' ? encodeNumber(value) : (value as Value)
      throw wrongValue(value, `one of ${list}`, 'Give one of them, or add it to the enum.')
    },
    decode(stored) {
      if (known.has(stored)) return stored
      throw wrongStored(stored, `one of ${list}`)
    },
    snapshot: identity,
    same: isIdentical,
  }
}
