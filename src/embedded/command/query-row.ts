import type { ByteWriter } from '../protocol/byte-writer.js'
import { FieldId, Info1 } from '../protocol/constants.js'
import { writeField, writeMessageHeader, writeOp, type ReplyOp } from '../protocol/reply.js'
import type { Request } from '../protocol/request.js'
import { OverBudgetError } from '../protocol/request-budget.js'
import { CommandError } from '../protocol/result-code.js'
import type { RecordState } from '../store/record-state.js'
import type { Candidate } from './query-candidates.js'
import { allBins } from './read-ops.js'
import { readOpsOf } from './read.js'

/**
 * Answer of a query about a record, or undefined where the record is left out: it has none of the bins asked for, or an
 * operation fails on it.
 */
export function projectRecord(request: Request, state: RecordState): readonly ReplyOp[] | undefined {
  if (request.info1 & Info1.NO_BINS) return []
  if (request.ops.length === 0) return allBins(state.bins)
  try {
    const ops = readOpsOf(request, state)
    return ops.length > 0 ? ops : undefined
  } catch (error) {
    if (error instanceof CommandError && !(error instanceof OverBudgetError)) return undefined
    throw error
  }
}

/** Writes one row; the fields let the client know the key and resume after it. */
export function writeRow(
  writer: ByteWriter,
  namespaceName: Buffer,
  { value }: Candidate,
  state: RecordState,
  ops: readonly ReplyOp[],
): void {
  const { generation, voidTime, setName, storedKey } = state
  const fields = 2 + (setName === '' ? 0 : 1) + (storedKey ? 1 : 0) + (value === undefined ? 0 : 1)
  writeMessageHeader(writer, { code: 0, generation, voidTime, fields, ops: ops.length })
  writeField(writer, FieldId.NAMESPACE, namespaceName)
  writeField(writer, FieldId.DIGEST, state.digest)
  if (setName !== '') writeField(writer, FieldId.SET, Buffer.from(setName))
  if (storedKey) writeUserKey(writer, storedKey.type, storedKey.wire)
  if (value !== undefined) writeValue(writer, value)
  for (const op of ops) writeOp(writer, op.op, op.name, op.particle)
}

function writeUserKey(writer: ByteWriter, type: number, wire: Buffer): void {
  writer.u32(wire.length + 2)
  writer.u8(FieldId.KEY)
  writer.u8(type)
  writer.bytes(wire)
}

function writeValue(writer: ByteWriter, value: bigint): void {
  const data = Buffer.allocUnsafe(8)
  data.writeBigInt64LE(value)
  writeField(writer, FieldId.BVAL_ARRAY, data)
}
