import { decodeMsgpack } from '../value/msgpack-reader.js'
import { Bytes, ListValue, type Value } from '../value/value.js'
import { Info2, Info4, OpCode } from '../protocol/constants.js'
import { outcome, type Outcome } from '../protocol/reply.js'
import type { Request } from '../protocol/request.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import type { Namespace } from '../store/namespace.js'
import type { Transaction } from '../store/slot.js'

/** The set in which clients keep the monitor of each transaction. */
export const MONITOR_SET = '<ERO~MRT'

const LIST_APPEND = 1
const LIST_APPEND_ITEMS = 2

export function isTransactionVerb(request: Request): boolean {
  return (request.info4 & (Info4.VERIFY_READ | Info4.ROLL_FORWARD | Info4.ROLL_BACK)) !== 0
}

/** Verify, roll forward or roll back one record. */
export function runTransactionVerb(namespace: Namespace, request: Request): Outcome {
  if (!namespace.strong) throw new CommandError(ResultCode.ENTERPRISE_ONLY)
  if (request.info4 & Info4.VERIFY_READ) return verifyRead(namespace, request)
  const id = request.transactionId
  if (id === undefined) throw new CommandError(ResultCode.PARAMETER, 'a roll without a transaction')
  const transaction = namespace.transactions.byId(id.toString('latin1'))
  const slot = namespace.find(request.digest!)
  if (transaction && slot) {
    if (request.info4 & Info4.ROLL_FORWARD) namespace.transactions.rollForward(transaction, slot)
    else namespace.transactions.rollBack(transaction, slot)
  }
  return outcome(ResultCode.OK)
}

function verifyRead(namespace: Namespace, request: Request): Outcome {
  const slot = namespace.find(request.digest!)
  if (namespace.transactions.holder(slot)) throw new CommandError(ResultCode.TXN_BLOCKED)
  const version = namespace.live(slot)?.version ?? 0
  const expected = request.recordVersion?.readUIntLE(0, 6) ?? 0
  return outcome(version === expected ? ResultCode.OK : ResultCode.TXN_VERSION_MISMATCH)
}

/** The monitor is not kept as a record: what a client writes to it steers the transaction it stands for. */
export function runMonitorCommand(namespace: Namespace, request: Request): Outcome {
  if (!namespace.strong) throw new CommandError(ResultCode.ENTERPRISE_ONLY)
  const monitorKey = request.digest!.toString('latin1')
  const transaction = namespace.transactions.byMonitor(monitorKey)
  if (request.info2 & Info2.DELETE) {
    if (transaction) namespace.transactions.close(transaction)
    return outcome(ResultCode.OK)
  }
  if (!(request.info2 & Info2.WRITE)) throw new CommandError(ResultCode.NOT_FOUND)
  const op = (name: string) => request.ops.find((candidate) => candidate.name === name)
  if (op('fwd')) return markCommitting(namespace, transaction)
  const digests = op('keyds')
  if (digests?.op !== OpCode.CDT_MODIFY) throw new CommandError(ResultCode.UNSUPPORTED)
  const id = op('id')
  const current = id ? namespace.transactions.begin(idFromBin(id.value), monitorKey, request.ttl) : transaction
  return announce(namespace, current, digestsIn(digests.value))
}

function markCommitting(namespace: Namespace, transaction: Transaction | undefined): Outcome {
  if (transaction === undefined) throw new CommandError(ResultCode.TXN_ABORTED)
  if (transaction.committing) throw new CommandError(ResultCode.TXN_COMMITTED)
  // From here on it is committed, also when the server ends before the records are rolled forward.
  namespace.journal?.records(namespace, transaction.changes)
  transaction.committing = true
  return outcome(ResultCode.OK, 2)
}

function announce(namespace: Namespace, transaction: Transaction | undefined, digests: readonly string[]): Outcome {
  if (transaction === undefined) throw new CommandError(ResultCode.TXN_EXPIRED)
  if (transaction.committing) throw new CommandError(ResultCode.TXN_COMMITTED)
  const added = digests.filter((digest) => !transaction.announced.has(digest))
  if (transaction.announced.size + added.length > namespace.limits.maxTransactionWrites) {
    throw new CommandError(ResultCode.TXN_TOO_MANY_WRITES)
  }
  for (const digest of added) transaction.announced.add(digest)
  return { ...outcome(ResultCode.OK, 1), deadline: transaction.deadline }
}

/** The monitor's `id` bin is big-endian, the transaction field little-endian. */
function idFromBin(value: Buffer): string {
  if (value.length !== 8) throw new CommandError(ResultCode.PARAMETER, 'a transaction id has 8 bytes')
  return Buffer.from(value).reverse().toString('latin1')
}

function digestsIn(payload: Buffer): string[] {
  const call = decodeMsgpack(payload)
  const [code, argument] = call instanceof ListValue ? call.items : []
  let found: readonly Value[] = []
  if (code === LIST_APPEND) found = [argument]
  else if (code === LIST_APPEND_ITEMS && argument instanceof ListValue) found = argument.items
  else throw new CommandError(ResultCode.UNSUPPORTED)
  return found.map((digest) => {
    if (!(digest instanceof Bytes)) throw new CommandError(ResultCode.PARAMETER)
    return digest.bytes.toString('latin1')
  })
}
