import { hasFeature } from '../build.js'
import { Info1, Info2, MAX_OPS } from '../protocol/constants.js'
import { outcome, type Outcome, type ReplyOp } from '../protocol/reply.js'
import type { Request } from '../protocol/request.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { nowMillis, nowSeconds, toUnixSeconds } from '../store/clock.js'
import type { Namespace } from '../store/namespace.js'
import { RecordState } from '../store/record-state.js'
import type { Slot } from '../store/slot.js'
import { accessForRead } from './access.js'
import { checkBinName, checkFilter, checkUserKey } from './checks.js'
import { allBins, applyReadOp, isReadOp } from './read-ops.js'

/** Get, select, exists and a reading operate. */
export function readRecord(namespace: Namespace, request: Request): Outcome {
  const slot = namespace.find(request.digest!)
  const { state, version } = accessForRead(namespace, request, slot)
  if (state === undefined) return outcome(ResultCode.NOT_FOUND, 0, 0, undefined, version)
  try {
    checkFilter(request, state)
    checkUserKey(request, state)
    const ops = readOps(request, state)
    touchOnRead(namespace, request, slot!, state)
    return outcome(ResultCode.OK, state.generation, state.voidTime, ops, version)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    return outcome(error.code, state.generation, state.voidTime, undefined, version)
  }
}

function readOps(request: Request, state: RecordState): readonly ReplyOp[] {
  if (request.info1 & Info1.NO_BINS) return []
  if (request.info1 & Info1.GET_ALL) return allBins(state.bins)
  if (request.ops.length === 0) throw new CommandError(ResultCode.PARAMETER, 'a read of nothing')
  if (request.ops.length > MAX_OPS) throw new CommandError(ResultCode.PARAMETER, 'too many operations')
  for (const op of request.ops) checkBinName(op.name)
  return readOpsOf(request, state)
}

/** The answers of reading operations on a record; queries project records with it too. */
export function readOpsOf(request: Request, state: RecordState): ReplyOp[] {
  const nils = request.info2 & Info2.RESPOND_ALL ? 'all' : 'read'
  const replies: ReplyOp[] = []
  for (const op of request.ops) {
    if (!isReadOp(op.op)) throw new CommandError(ResultCode.PARAMETER, 'a write in a pure read')
    applyReadOp(op, state.bins, state, nils, replies)
  }
  return replies
}

/** A read may extend the life of a record that is near its end; the generation stays, and the next read tells. */
function touchOnRead(namespace: Namespace, request: Request, slot: Slot, state: RecordState): void {
  const percent = hasFeature('readTouch') ? request.ttl | 0 : 0
  if (percent <= 0 || state.voidTime === 0 || request.transactionId !== undefined) return
  if (percent > 100) throw new CommandError(ResultCode.PARAMETER, 'read touch above 100 percent')
  const now = nowSeconds()
  const life = toUnixSeconds(state.voidTime) - Math.floor(state.lastUpdate / 1000)
  if (slot.provisional || now < state.voidTime - (life * percent) / 100) return
  const { digest, setName, bins, generation, version, storedKey } = state
  const voidTime = now + life
  namespace.commit(slot, new RecordState(digest, setName, bins, generation, voidTime, nowMillis(), version, storedKey))
}
