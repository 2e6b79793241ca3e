import type { Particle } from '../value/particle.js'
import type { ByteWriter } from './byte-writer.js'
import { FieldId, FRAME_HEADER, FrameType, Info3, MESSAGE_HEADER, PROTOCOL_VERSION } from './constants.js'
import { ResultCode } from './result-code.js'

export interface ReplyOp {
  readonly op: number
  readonly name: string
  /** undefined is a nil. */
  readonly particle: Particle | undefined
}

const NO_OPS: readonly ReplyOp[] = []

/** Reply to a record command, alone or as a row of a batch. */
export interface Outcome {
  readonly code: number
  readonly generation: number
  readonly voidTime: number
  readonly ops: readonly ReplyOp[]
  /** Sent to transactions that have to verify this read at commit. */
  readonly version?: number
  /** Sent when a transaction's monitor was written. */
  readonly deadline?: number
}

export function outcome(code: number, generation = 0, voidTime = 0, ops = NO_OPS, version?: number): Outcome {
  return { code, generation, voidTime, ops, version }
}

/** Starts a frame; `endFrame` fills in its length. */
export function beginFrame(writer: ByteWriter, type: number = FrameType.MESSAGE): number {
  const at = writer.length
  writer.u8(PROTOCOL_VERSION)
  writer.u8(type)
  writer.u16(0)
  writer.u32(0)
  return at
}

export function endFrame(writer: ByteWriter, at: number): void {
  writer.patchU32(at + 4, writer.length - at - FRAME_HEADER)
}

/** The 22 bytes before the fields of a reply. */
export function writeMessageHeader(
  writer: ByteWriter,
  header: {
    info3?: number
    code: number
    generation?: number
    voidTime?: number
    index?: number
    fields?: number
    ops?: number
  },
): void {
  writer.u8(MESSAGE_HEADER)
  writer.u8(0)
  writer.u8(0)
  writer.u8(header.info3 ?? 0)
  writer.u8(0)
  writer.u8(header.code)
  writer.u32(header.generation ?? 0)
  writer.u32(header.voidTime ?? 0)
  writer.u32(header.index ?? 0)
  writer.u16(header.fields ?? 0)
  writer.u16(header.ops ?? 0)
}

export function writeOutcome(writer: ByteWriter, result: Outcome, index = 0): void {
  const fields = (result.version === undefined ? 0 : 1) + (result.deadline === undefined ? 0 : 1)
  const { code, generation, voidTime, ops } = result
  writeMessageHeader(writer, { code, generation, voidTime, index, fields, ops: ops.length })
  if (result.version !== undefined) writeVersion(writer, result.version)
  if (result.deadline !== undefined) writeDeadline(writer, result.deadline)
  for (const op of ops) writeOp(writer, op.op, op.name, op.particle)
}

export function writeOp(writer: ByteWriter, op: number, name: string, particle: Particle | undefined): void {
  const at = writer.length
  writer.u32(0)
  writer.u8(op)
  writer.u8(particle?.type ?? 0)
  writer.u8(0)
  writer.name(name)
  if (particle) writer.bytes(particle.wire)
  writer.patchU32(at, writer.length - at - 4)
}

/** Tells the client to ask another node for that partition, or this one later. */
export function writePartitionUnavailable(writer: ByteWriter, partition: number): void {
  writeMessageHeader(writer, {
    info3: Info3.PARTITION_DONE,
    code: ResultCode.PARTITION_UNAVAILABLE,
    generation: partition,
  })
}

export function writeLast(writer: ByteWriter, code: number): void {
  writeMessageHeader(writer, { info3: Info3.LAST, code })
}

export function writeField(writer: ByteWriter, id: number, data: Buffer): void {
  writer.u32(data.length + 1)
  writer.u8(id)
  writer.bytes(data)
}

function writeVersion(writer: ByteWriter, version: number): void {
  const data = Buffer.alloc(7)
  data.writeUIntLE(version, 0, 6)
  writeField(writer, FieldId.RECORD_VERSION, data)
}

function writeDeadline(writer: ByteWriter, deadline: number): void {
  const data = Buffer.alloc(4)
  data.writeUInt32LE(deadline)
  writeField(writer, FieldId.TXN_DEADLINE, data)
}
