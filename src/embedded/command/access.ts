import { Info4 } from '../protocol/constants.js'
import type { Request } from '../protocol/request.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import type { Namespace } from '../store/namespace.js'
import type { RecordState } from '../store/record-state.js'
import type { Slot, Transaction } from '../store/slot.js'

/** Record as a command may see it, and the transaction under which it acts. */
export interface Access {
  readonly state: RecordState | undefined
  readonly transaction: Transaction | undefined
  /** Version that a transaction must verify at commit; undefined outside one and for records it holds itself. */
  readonly version: number | undefined
}

const PLAIN_MISSING: Access = { state: undefined, transaction: undefined, version: undefined }

export function accessForRead(namespace: Namespace, request: Request, slot: Slot | undefined): Access {
  const id = request.transactionId
  if (id === undefined) {
    const state = namespace.live(slot)
    return state === undefined ? PLAIN_MISSING : { state, transaction: undefined, version: undefined }
  }
  requireStrong(namespace)
  const holder = namespace.transactions.holder(slot)
  if (holder?.id === id.toString('latin1')) return held(slot!, holder)
  if (holder) throw new CommandError(ResultCode.TXN_BLOCKED)
  const state = namespace.live(slot)
  const version = state?.version ?? 0
  checkVersion(request, version)
  return { state, transaction: undefined, version }
}

export function accessForWrite(namespace: Namespace, request: Request, slot: Slot | undefined): Access {
  const id = request.transactionId?.toString('latin1')
  if (id !== undefined) requireStrong(namespace)
  const holder = namespace.transactions.holder(slot)
  if (id === undefined) {
    if (holder) throw new CommandError(ResultCode.TXN_BLOCKED)
    return { state: namespace.live(slot), transaction: undefined, version: undefined }
  }
  const transaction = namespace.transactions.byId(id)
  if (transaction === undefined) throw new CommandError(ResultCode.TXN_EXPIRED)
  if (transaction.committing) throw new CommandError(ResultCode.TXN_COMMITTED)
  if (holder === transaction) {
    if (request.info4 & Info4.ON_LOCKING_ONLY) throw new CommandError(ResultCode.TXN_ALREADY_LOCKED)
    return held(slot!, transaction)
  }
  if (holder) throw new CommandError(ResultCode.TXN_BLOCKED)
  const state = namespace.live(slot)
  const version = state?.version ?? 0
  checkVersion(request, version)
  return { state, transaction, version }
}

/** A record that is read again, or written after it was read, must still be the one that was read. */
function checkVersion(request: Request, version: number): void {
  const expected = request.recordVersion
  if (expected !== undefined && expected.readUIntLE(0, 6) !== version) {
    throw new CommandError(ResultCode.TXN_VERSION_MISMATCH)
  }
}

function held(slot: Slot, transaction: Transaction): Access {
  return { state: slot.provisional!.state, transaction, version: undefined }
}

function requireStrong(namespace: Namespace): void {
  if (!namespace.strong) throw new CommandError(ResultCode.ENTERPRISE_ONLY)
}
