import { blobOf, modifyBits } from '../bits/index.js'
import { modifyCdt, parseCdt, type CdtChange } from '../cdt/index.js'
import { isPath, modifyExpression, parsePathOperation, runPath } from '../expression/index.js'
import { modifyHll } from '../hll/index.js'
import { Info1, Info2, Info3, MAX_OPS, OpCode } from '../protocol/constants.js'
import type { ReplyOp } from '../protocol/reply.js'
import { requestBudget } from '../protocol/request-budget.js'
import type { Request, RequestOp } from '../protocol/request.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { storable } from '../value/storable.js'
import { Particle } from '../value/particle.js'
import { Bytes, Float, isInteger, ParticleType, toInteger, type Value } from '../value/value.js'
import type { Draft } from './draft.js'
import { checkBinName } from './checks.js'
import { allBins, applyReadOp, isReadOp, parseFlatCall, pushResult } from './read-ops.js'

const REPLACE = Info3.CREATE_OR_REPLACE | Info3.REPLACE_ONLY

/** The checks a server makes before it looks for the record. */
export function checkWriteOps(request: Request): void {
  const { ops, info1, info2 } = request
  if (ops.length === 0) throw new CommandError(ResultCode.PARAMETER, 'a write without operations')
  if (ops.length > MAX_OPS) throw new CommandError(ResultCode.PARAMETER, 'too many operations')
  const replacing = (request.info3 & REPLACE) !== 0
  let readsAll = 0
  let answers = (info2 & Info2.RESPOND_ALL) !== 0
  for (const op of ops) {
    checkBinName(op.name)
    if (isReadAll(op, request)) readsAll++
    else if (op.op === OpCode.CDT_MODIFY || op.op === OpCode.HLL_MODIFY || isReadOp(op.op)) answers = true
    if (isReadOp(op.op)) {
      if (!(info1 & Info1.READ)) throw new CommandError(ResultCode.PARAMETER, 'a read in a pure write')
    } else if (replacing && !mayReplace(op)) {
      throw new CommandError(ResultCode.PARAMETER, 'a replace may only write bins')
    }
  }
  if (readsAll > 1 || (readsAll > 0 && answers)) throw new CommandError(ResultCode.PARAMETER, 'read all and more')
  if (info1 & Info1.GET_ALL && !readsAll) throw new CommandError(ResultCode.PARAMETER, 'read all without its operation')
}

function isReadAll(op: RequestOp, request: Request): boolean {
  return op.op === OpCode.READ && op.name === '' && (request.info1 & Info1.GET_ALL) !== 0
}

function mayReplace(op: RequestOp): boolean {
  return op.op === OpCode.EXP_MODIFY || (op.op === OpCode.WRITE && op.type !== ParticleType.NIL)
}

/** Runs the operations of a write in order on the draft, and returns what they answer. */
export function applyWriteOps(request: Request, draft: Draft): ReplyOp[] {
  const replies: ReplyOp[] = []
  const respondAll = (request.info2 & Info2.RESPOND_ALL) !== 0
  for (const op of request.ops) {
    if (isReadAll(op, request)) replies.push(...allBins(draft.bins))
    else if (isReadOp(op.op)) applyReadOp(op, draft.bins, draft, respondAll ? 'all' : 'write', replies)
    else applyWriteOp(op, draft, respondAll, replies)
  }
  return replies
}

function applyWriteOp(op: RequestOp, draft: Draft, respondAll: boolean, replies: ReplyOp[]): void {
  switch (op.op) {
    case OpCode.CDT_MODIFY:
    case OpCode.HLL_MODIFY: {
      const before = draft.bins.get(op.name)?.size ?? 0
      const changed = change(op, draft)
      setBin(draft, op.name, changed.subject)
      if ((draft.bins.get(op.name)?.size ?? 0) > before) requestBudget.copy(before)
      pushResult(op, changed.result, respondAll, replies)
      return
    }
    case OpCode.TOUCH:
      return
    case OpCode.WRITE:
      if (op.type === ParticleType.NIL) draft.bins.delete(op.name)
      else draft.bins.set(op.name, Particle.fromWire(op.type, Buffer.from(op.value)))
      break
    case OpCode.INCREMENT:
      draft.bins.set(op.name, increment(op, draft.bins.get(op.name)))
      break
    case OpCode.APPEND:
    case OpCode.PREPEND:
      draft.bins.set(op.name, extend(op, draft.bins.get(op.name)))
      break
    case OpCode.BITS_MODIFY:
      setBin(draft, op.name, changeBits(op, draft))
      break
    case OpCode.DELETE:
      draft.bins.clear()
      break
    case OpCode.EXP_MODIFY:
      modifyByExpression(op, draft)
      break
    default:
      throw new CommandError(ResultCode.PARAMETER, `operation ${op.op} is not supported`)
  }
  if (respondAll) replies.push({ op: op.op, name: op.name, particle: undefined })
}

function change(op: RequestOp, draft: Draft): CdtChange {
  const subject = draft.bins.get(op.name)?.value
  if (op.op === OpCode.HLL_MODIFY) {
    const { opcode, args } = parseFlatCall(op.value)
    return modifyHll(opcode, args, subject)
  }
  if (!isPath(op.value)) return modifyCdt(parseCdt(op.value), subject)
  return { subject: runPath(parsePathOperation(op.value, true), subject), result: null }
}

function changeBits(op: RequestOp, draft: Draft): Value | undefined {
  const { opcode, args } = parseFlatCall(op.value)
  const subject = draft.bins.get(op.name)?.value
  const changed = modifyBits(opcode, args, subject === undefined ? undefined : blobOf(subject))
  return changed && new Bytes(ParticleType.BLOB, changed)
}

function setBin(draft: Draft, name: string, value: Value | undefined): void {
  if (value === undefined) draft.bins.delete(name)
  else if (draft.bins.get(name)?.value !== value) draft.bins.set(name, Particle.fromValue(value))
}

function increment(op: RequestOp, bin: Particle | undefined): Particle {
  const delta = Particle.fromWire(op.type, Buffer.from(op.value))
  if (op.type !== ParticleType.INTEGER && op.type !== ParticleType.DOUBLE) throw new CommandError(ResultCode.PARAMETER)
  if (bin === undefined) return delta
  if (bin.type !== op.type) throw new CommandError(ResultCode.INCOMPATIBLE_TYPE)
  const before = bin.value
  const change = delta.value
  if (before instanceof Float && change instanceof Float)
    return Particle.fromValue(new Float(before.value + change.value))
  if (!isInteger(before) || !isInteger(change)) throw new CommandError(ResultCode.INCOMPATIBLE_TYPE)
  return Particle.fromValue(toInteger(BigInt(before) + BigInt(change)))
}

function extend(op: RequestOp, bin: Particle | undefined): Particle {
  const added = Buffer.from(op.value)
  if (op.type !== ParticleType.STRING && op.type !== ParticleType.BLOB) throw new CommandError(ResultCode.PARAMETER)
  if (bin === undefined) return Particle.fromWire(op.type, added)
  if (bin.type !== op.type) throw new CommandError(ResultCode.INCOMPATIBLE_TYPE)
  const parts = op.op === OpCode.APPEND ? [bin.wire, added] : [added, bin.wire]
  return Particle.fromWire(op.type, Buffer.concat(parts))
}

function modifyByExpression(op: RequestOp, draft: Draft): void {
  const change = modifyExpression(op.value, draft, op.name)
  if ('value' in change) {
    const particle = Particle.fromValue(storable(change.value))
    requestBudget.grow(particle.size - (draft.bins.get(op.name)?.size ?? 0))
    draft.bins.set(op.name, particle)
  } else if ('remove' in change) draft.bins.delete(op.name)
}
