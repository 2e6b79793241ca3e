import type { Arguments } from '../cdt/arguments.js'
import { requestBudget } from '../protocol/request-budget.js'
import { bigintOf, bytesOf, integerSize, malformed, sizeOf } from './bit-arguments.js'
import { addIntegers, Overflow, readInteger, writeInteger } from './bit-integer.js'
import { bitRange, extractBits, storeBits, type BitRange } from './bit-range.js'
import { byteChanges, type BitChange } from './byte-changes.js'
import { shiftLeft, shiftRight } from './bit-shift.js'
import { WriteFlag } from './write-flag.js'

const ChangeOpcode = {
  SET: 3,
  OR: 4,
  XOR: 5,
  AND: 6,
  NOT: 7,
  SHIFT_LEFT: 8,
  SHIFT_RIGHT: 9,
  ADD: 10,
  SUBTRACT: 11,
  SET_INTEGER: 12,
} as const

type InPlace = (copy: Buffer, range: BitRange, args: Arguments) => void

/** Steps for each changed bit, beside those for the copy of the blob. */
const STEPS_PER_BIT = 1 / 12
const RANGE_FLAGS = WriteFlag.UPDATE_ONLY | WriteFlag.NO_FAIL | WriteFlag.PARTIAL
const INTEGER_FLAGS = WriteFlag.UPDATE_ONLY | WriteFlag.NO_FAIL

/** A change of some bits: `[offset, size, …]`. */
function change(flagsAt: number, apply: InPlace, more: Partial<BitChange> = {}): BitChange {
  return {
    takes: [flagsAt, flagsAt + 1],
    flagsAt,
    flags: RANGE_FLAGS,
    creates: false,
    check: (args) => void sizeOf(args, 1),
    run: (blob, args, partial) => {
      const range = bitRange(blob, args.integer(0), args.integer(1), partial)
      requestBudget.work(range.size * STEPS_PER_BIT)
      const copy = Buffer.from(blob)
      apply(copy, range, args)
      return copy
    },
    ...more,
  }
}

/** `[offset, size, bytes, flags]`, with what becomes of a byte and the one given for it. */
function combine(of: (old: number, given: number) => number): BitChange {
  const apply: InPlace = (copy, range, args) => {
    const given = bytesOf(args, 2)
    storeBits(copy, range, extractBits(copy, range).map((old, i) => of(old, given[i])) as Buffer)
  }
  const check = (args: Arguments): void => {
    if (sizeOf(args, 1) > bytesOf(args, 2).length * 8) throw malformed('there are fewer bits than are to be written')
  }
  return change(3, apply, { check })
}

function shift(move: (bits: Buffer, by: number) => void): BitChange {
  const check = (args: Arguments): void => {
    sizeOf(args, 1)
    if (args.integer(2) < 0) throw malformed('wrong shift')
  }
  return change(
    3,
    (copy, range, args) => {
      const bits = extractBits(copy, range)
      move(bits, Math.min(args.integer(2), range.size))
      storeBits(copy, range, bits)
    },
    { check },
  )
}

const SIGNED = 1

/** `[offset, size, value, flags, how]` */
function add(sign: 1n | -1n): BitChange {
  const check = (args: Arguments): void => {
    integerSize(args)
    bigintOf(args, 2)
    const how = args.flags(4)
    const overflow = how & ~SIGNED
    if (overflow !== Overflow.FAIL && overflow !== Overflow.SATURATE && overflow !== Overflow.WRAP) {
      throw malformed('wrong overflow action')
    }
  }
  const apply: InPlace = (copy, range, args) => {
    const how = args.flags(4)
    const signed = (how & SIGNED) !== 0
    const current = readInteger(copy, range, signed)
    const options = { bits: range.size, signed, overflow: how & ~SIGNED }
    writeInteger(copy, range, addIntegers(current, bigintOf(args, 2), sign, options))
  }
  return change(3, apply, { takes: [3, 5], flags: INTEGER_FLAGS, check })
}

export const BIT_CHANGES: Readonly<Record<number, BitChange>> = {
  ...byteChanges,
  [ChangeOpcode.SET]: combine((_, given) => given),
  [ChangeOpcode.OR]: combine((old, given) => old | given),
  [ChangeOpcode.XOR]: combine((old, given) => old ^ given),
  [ChangeOpcode.AND]: combine((old, given) => old & given),
  [ChangeOpcode.NOT]: change(2, (copy, range) => {
    storeBits(copy, range, extractBits(copy, range).map((byte) => ~byte) as Buffer)
  }),
  [ChangeOpcode.SHIFT_LEFT]: shift(shiftLeft),
  [ChangeOpcode.SHIFT_RIGHT]: shift(shiftRight),
  [ChangeOpcode.ADD]: add(1n),
  [ChangeOpcode.SUBTRACT]: add(-1n),
  [ChangeOpcode.SET_INTEGER]: change(3, (copy, range, args) => writeInteger(copy, range, bigintOf(args, 2)), {
    flags: INTEGER_FLAGS,
    check: (args) => {
      integerSize(args)
      bigintOf(args, 2)
    },
  }),
}
