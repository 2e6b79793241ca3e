import { Arguments } from '../cdt/arguments.js'
import { requestBudget } from '../protocol/request-budget.js'
import { Bytes, ParticleType, toInteger, type Value } from '../value/value.js'
import { readInteger } from './bit-integer.js'
import { bitRange, extractBits, type BitRange } from './bit-range.js'
import { integerSize, malformed, sizeOf } from './bit-arguments.js'

const ReadOpcode = { GET: 50, COUNT: 51, SCAN_LEFT: 52, SCAN_RIGHT: 53, GET_INTEGER: 54 } as const

const SIGNED = 1
const ONES = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length)

type Read = (blob: Buffer, range: BitRange, args: Arguments) => Value

interface BitRead {
  readonly takes: readonly [number, number]
  /** Checks what can be checked without the blob. */
  readonly check?: (args: Arguments) => void
  readonly answer: Read
}

const READS: Readonly<Record<number, BitRead>> = {
  [ReadOpcode.GET]: {
    takes: [2, 2],
    answer: (blob, range) => new Bytes(ParticleType.BLOB, extractBits(blob, range)),
  },
  [ReadOpcode.COUNT]: {
    takes: [2, 2],
    answer: (blob, range) => extractBits(blob, range).reduce((count, byte) => count + ONES[byte], 0),
  },
  [ReadOpcode.SCAN_LEFT]: { takes: [3, 3], answer: (blob, range, args) => scan(blob, range, args, 'left') },
  [ReadOpcode.SCAN_RIGHT]: { takes: [3, 3], answer: (blob, range, args) => scan(blob, range, args, 'right') },
  [ReadOpcode.GET_INTEGER]: {
    takes: [2, 3],
    check: integerSize,
    answer: (blob, range, args) => toInteger(readInteger(blob, range, (args.flags(2) & SIGNED) !== 0)),
  },
}

/** Answers a reading call on a blob. */
export function readBits(opcode: number, values: readonly Value[], blob: Buffer): Value {
  if (!Object.hasOwn(READS, opcode)) throw malformed('no such call')
  const { takes, check, answer } = READS[opcode]
  const args = new Arguments(values, takes)
  check?.(args)
  const range = bitRange(blob, args.integer(0), sizeOf(args, 1), false)
  requestBudget.work(range.size / 8)
  return answer(blob, range, args)
}

/** The first or the last bit of a kind, counted from the start of the range; -1 where there is none. */
function scan(blob: Buffer, range: BitRange, args: Arguments, from: 'left' | 'right'): number {
  const wanted = args.value(2)
  if (typeof wanted !== 'boolean') throw malformed('not a bit')
  const bits = extractBits(blob, range)
  const isThere = (at: number): boolean => ((bits[at >>> 3] >>> (7 - (at & 7))) & 1) === Number(wanted)
  const none = wanted ? 0 : 0xff
  const step = from === 'left' ? 1 : -1
  for (let at = from === 'left' ? 0 : range.size - 1; at >= 0 && at < range.size; at += step) {
    const isByteStart = (at & 7) === (from === 'left' ? 0 : 7)
    if (isByteStart && bits[at >>> 3] === none) at += 7 * step
    else if (isThere(at)) return at
  }
  return -1
}
