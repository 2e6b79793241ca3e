import { blobOf, readBits } from '../bits/index.js'
import { parseCdt, readCdt, type CdtCall } from '../cdt/index.js'
import { readHll } from '../hll/index.js'
import { isPath, parsePathOperation, readExpression, runPath } from '../expression/index.js'
import type { RecordView } from '../expression/record-view.js'
import { OpCode } from '../protocol/constants.js'
import type { ReplyOp } from '../protocol/reply.js'
import { requestBudget } from '../protocol/request-budget.js'
import type { RequestOp } from '../protocol/request.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import type { Bins } from '../store/record-state.js'
import { Particle } from '../value/particle.js'
import type { Value } from '../value/value.js'

export function isReadOp(op: number): boolean {
  return (
    op === OpCode.READ ||
    op === OpCode.CDT_READ ||
    op === OpCode.EXP_READ ||
    op === OpCode.BITS_READ ||
    op === OpCode.HLL_READ
  )
}

export function allBins(bins: Bins): ReplyOp[] {
  const ops: ReplyOp[] = []
  for (const [name, particle] of bins) ops.push({ op: OpCode.READ, name, particle })
  return ops
}

/** Treatment of nil results: `all` sends every one, `write` sends those of existing bins, `read` none. */
type NilReplies = 'all' | 'write' | 'read'

/** Runs one reading operation and adds what it answers to `replies`. */
export function applyReadOp(op: RequestOp, bins: Bins, view: RecordView, nils: NilReplies, replies: ReplyOp[]): void {
  switch (op.op) {
    case OpCode.READ: {
      const particle = bins.get(op.name)
      if (particle) requestBudget.reply(particle.size)
      if (particle || nils === 'all') replies.push({ op: op.op, name: op.name, particle })
      return
    }
    case OpCode.CDT_READ:
    case OpCode.BITS_READ:
    case OpCode.HLL_READ: {
      const particle = bins.get(op.name)
      const read = parseRead(op)
      if (particle === undefined) {
        if (nils === 'all') replies.push({ op: op.op, name: op.name, particle: undefined })
        return
      }
      pushResult(op, read(particle.value), nils !== 'read', replies)
      return
    }
    case OpCode.EXP_READ:
      pushResult(op, readExpression(op.value, view), nils !== 'read', replies)
      return
  }
  throw new CommandError(ResultCode.PARAMETER, `operation ${op.op} is not supported`)
}

function parseRead({ op, value: payload }: RequestOp): (subject: Value) => Value {
  if (op === OpCode.BITS_READ) {
    const { opcode, args } = parseFlatCall(payload)
    return (subject) => readBits(opcode, args, blobOf(subject))
  }
  if (op === OpCode.HLL_READ) {
    const { opcode, args } = parseFlatCall(payload)
    return (subject) => readHll(opcode, args, subject)
  }
  if (isPath(payload)) {
    const path = parsePathOperation(payload, false)
    return (subject) => runPath(path, subject)
  }
  const call = parseCdt(payload)
  return (subject) => readCdt(call, subject)
}

/** A call on bits or a sketch; those stand in bins only, never inside lists and maps. */
export function parseFlatCall(payload: Buffer): CdtCall {
  const call = parseCdt(payload)
  if (call.context.length > 0) throw new CommandError(ResultCode.PARAMETER, 'a context leads to no such value')
  return call
}

export function pushResult(op: RequestOp, value: Value, withNil: boolean, replies: ReplyOp[]): void {
  if (value === null && !withNil) return
  const particle = value === null ? undefined : Particle.fromValue(value)
  if (particle) requestBudget.reply(particle.size)
  replies.push({ op: op.op, name: op.name, particle })
}
