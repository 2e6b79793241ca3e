import { Info2, Info3, MAX_SET_NAME, OpCode } from '../protocol/constants.js'
import { outcome, type Outcome } from '../protocol/reply.js'
import type { Request } from '../protocol/request.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { nowMillis, nowSeconds } from '../store/clock.js'
import type { Namespace } from '../store/namespace.js'
import { RecordState } from '../store/record-state.js'
import { type Access, accessForWrite } from './access.js'
import { checkFilter, checkGeneration, checkSetName, checkUserKey, userKeyOf } from './checks.js'
import { Draft } from './draft.js'
import { applyWriteOps, checkWriteOps } from './write-ops.js'

const MUST_EXIST = Info3.UPDATE_ONLY | Info3.REPLACE_ONLY
const REPLACE = Info3.CREATE_OR_REPLACE | Info3.REPLACE_ONLY
const MAX_TTL = 10 * 365 * 24 * 3600
const TTL_NEVER = 0xffffffff
const TTL_KEEP = 0xfffffffe
const MAX_GENERATION = 0xffff

/** Put, operate with writes, touch. Either everything it asks for happens, or nothing. */
export function writeRecord(namespace: Namespace, request: Request): Outcome {
  checkWriteOps(request)
  if (Buffer.byteLength(request.setName) > MAX_SET_NAME) throw new CommandError(ResultCode.PARAMETER, 'set name')
  return changing(namespace, request, (access) => write(namespace, request, access))
}

export function deleteRecord(namespace: Namespace, request: Request): Outcome {
  checkDurability(namespace, request)
  return changing(namespace, request, ({ state }) => {
    if (state === undefined) throw new CommandError(ResultCode.NOT_FOUND)
    checkSetName(request, state)
    checkGeneration(request, state)
    checkFilter(request, state)
    checkUserKey(request, state)
    return { state: undefined, result: outcome(ResultCode.OK) }
  })
}

interface Change {
  readonly state: RecordState | undefined
  readonly result: Outcome
}

/** Finds the record, makes the change and keeps it, committed or held by its transaction. */
function changing(namespace: Namespace, request: Request, change: (access: Access) => Change): Outcome {
  const digest = request.digest!
  const access = accessForWrite(namespace, request, namespace.find(digest))
  let made: Change
  try {
    made = change(access)
  } catch (error) {
    if (!(error instanceof CommandError)) throw error
    const told = request.info2 & Info2.DELETE ? undefined : access.state
    return outcome(error.code, told?.generation, told?.voidTime, undefined, access.version)
  }
  const slot = namespace.slot(digest)
  if (access.transaction) namespace.transactions.hold(access.transaction, slot, made.state)
  else namespace.commit(slot, made.state)
  return made.result
}

function write(namespace: Namespace, request: Request, access: Access): Change {
  const { state } = access
  if (state === undefined) {
    const mustExist = request.info3 & MUST_EXIST || request.ops.some((op) => op.op === OpCode.TOUCH)
    if (mustExist) throw new CommandError(ResultCode.NOT_FOUND)
  } else if (request.info2 & Info2.CREATE_ONLY) throw new CommandError(ResultCode.EXISTS)
  checkGeneration(request, state)
  if (state !== undefined) {
    checkSetName(request, state)
    checkFilter(request, state)
    checkUserKey(request, state)
  }
  const voidTime = voidTimeFor(namespace, request.ttl, state)
  const storedKey = state?.storedKey ?? userKeyOf(request)
  const digest = state?.digest ?? Buffer.from(request.digest!)
  const setName = state?.setName ?? request.setName
  const replace = (request.info3 & REPLACE) !== 0
  const draft = new Draft(digest, setName, state, storedKey, voidTime, nowMillis(), replace)
  const ops = applyWriteOps(request, draft)
  if (draft.bins.size === 0) {
    // A replace cannot delete: where it leaves nothing, the stored record stays.
    if (state === undefined || replace) throw new CommandError(ResultCode.NOT_FOUND)
    checkDurability(namespace, request)
    return { state: undefined, result: outcome(ResultCode.OK, 0, 0, ops) }
  }
  if (draft.sizeAfter > namespace.limits.maxRecordSize) throw new CommandError(ResultCode.RECORD_TOO_BIG)
  const generation = nextGeneration(state)
  const version = namespace.nextVersion()
  const { bins, lastUpdate } = draft
  const after = new RecordState(digest, setName, bins, generation, voidTime, lastUpdate, version, storedKey)
  return { state: after, result: outcome(ResultCode.OK, generation, voidTime, ops) }
}

/** The generation wraps around and skips 0, which stands for a missing record. */
function nextGeneration(state: RecordState | undefined): number {
  if (state === undefined) return 1
  return state.generation >= MAX_GENERATION ? 1 : state.generation + 1
}

function voidTimeFor(namespace: Namespace, ttl: number, state: RecordState | undefined): number {
  if (ttl === TTL_NEVER) return 0
  if (ttl === TTL_KEEP && state !== undefined) return state.voidTime
  if (ttl === 0 || ttl === TTL_KEEP) {
    const { defaultTtl } = namespace.options
    return defaultTtl === 0 ? 0 : nowSeconds() + defaultTtl
  }
  if (ttl > MAX_TTL) throw new CommandError(ResultCode.PARAMETER, 'a TTL above 10 years')
  if (namespace.options.nsupPeriod === 0)
    throw new CommandError(ResultCode.FORBIDDEN, 'the namespace does not expire records')
  return nowSeconds() + ttl
}

/** A strongly consistent namespace wants durable deletes, an available one cannot make them. */
function checkDurability(namespace: Namespace, request: Request): void {
  const durable = (request.info2 & Info2.DURABLE_DELETE) !== 0
  if (!namespace.strong) {
    if (durable) throw new CommandError(ResultCode.ENTERPRISE_ONLY)
  } else if (!durable && (!namespace.options.allowExpunge || request.transactionId !== undefined)) {
    throw new CommandError(ResultCode.FORBIDDEN)
  }
}
