import { nowMillis, nowSeconds, toUnixSeconds } from '../store/clock.js'
import { toInteger, type Value } from '../value/value.js'
import { ExpressionType } from './expression-type.js'
import { expectCount, integerNode, invalid, type Builder, type Builders, type Node, type Operands } from './node.js'
import { Opcode } from './opcode.js'
import type { RecordView } from './record-view.js'

function property(type: ExpressionType, read: (record: RecordView) => Value): Builder {
  return (_operands, count) => {
    expectCount(count, 0)
    return { type, evaluate: ({ record }) => record && read(record) }
  }
}

function integer(read: (record: RecordView) => number | bigint): Builder {
  return property(ExpressionType.INTEGER, read)
}

/** Seconds left to live, -1 = for ever. */
function ttl({ voidTime }: RecordView): number {
  if (voidTime === 0) return -1
  return Math.max(0, voidTime - nowSeconds())
}

/** Unix nanoseconds, -1 = never expires. */
function voidTimeNanoseconds({ voidTime }: RecordView): number | bigint {
  return voidTime === 0 ? -1 : toInteger(BigInt(toUnixSeconds(voidTime)) * 1_000_000_000n)
}

/** A cheap, even way to pick a share of all records: the digest's last four bytes, little endian. */
function digestModulo(operands: Operands, count: number): Node {
  expectCount(count, 1)
  const divisor = Number(BigInt.asIntN(32, BigInt(operands.integer())))
  if (divisor === 0) throw invalid('modulo by zero')
  return integerNode(({ record }) => record && record.digest.readUInt32LE(16) % divisor)
}

export const metadata: Builders = {
  [Opcode.DIGEST_MODULO]: digestModulo,
  // Records live in memory, so they take no space on a device.
  [Opcode.DEVICE_SIZE]: integer(() => 0),
  [Opcode.LAST_UPDATE]: integer((record) => toInteger(BigInt(Math.floor(record.lastUpdate)) * 1_000_000n)),
  [Opcode.SINCE_UPDATE]: integer((record) => Math.max(0, nowMillis() - Math.floor(record.lastUpdate))),
  [Opcode.VOID_TIME]: integer(voidTimeNanoseconds),
  [Opcode.TTL]: integer(ttl),
  [Opcode.SET_NAME]: property(ExpressionType.STRING, (record) => record.setName),
  [Opcode.KEY_EXISTS]: property(ExpressionType.BOOL, (record) => record.userKey !== undefined),
  // Deleted records are never evaluated.
  [Opcode.IS_TOMBSTONE]: property(ExpressionType.BOOL, () => false),
  [Opcode.MEMORY_SIZE]: integer((record) => record.size),
  [Opcode.RECORD_SIZE]: integer((record) => record.size),
}
