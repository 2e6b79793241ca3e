import { Info1, Info2, Info4, OpCode } from '../protocol/constants.js'
import type { Request } from '../protocol/request.js'
import { MONITOR_SET } from './transaction-commands.js'

/** Kinds of commands that a fault can be put on. The `txn-…` kinds are what the client sends to drive a transaction. */
export const FAULT_KINDS = [
  'read',
  'write',
  'delete',
  'batch',
  'query',
  'txn-monitor',
  'txn-verify',
  'txn-commit',
  'txn-roll-forward',
  'txn-roll-back',
  'txn-close',
] as const

export type FaultKind = (typeof FAULT_KINDS)[number]

/** Kinds of commands. Info requests are only counted: clients send them by themselves, once a second. */
export type CommandKind = FaultKind | 'info'

export function commandKind(request: Request): FaultKind {
  if (request.info1 & Info1.BATCH) return 'batch'
  if (request.digest === undefined) return 'query'
  if (request.info4 & Info4.VERIFY_READ) return 'txn-verify'
  if (request.info4 & Info4.ROLL_FORWARD) return 'txn-roll-forward'
  if (request.info4 & Info4.ROLL_BACK) return 'txn-roll-back'
  if (request.setName === MONITOR_SET) return monitorKind(request)
  if (request.info2 & Info2.DELETE || request.ops.some(({ op }) => op === OpCode.DELETE)) return 'delete'
  return request.info2 & Info2.WRITE ? 'write' : 'read'
}

function monitorKind(request: Request): FaultKind {
  if (request.info2 & Info2.DELETE) return 'txn-close'
  return request.ops.some((op) => op.name === 'fwd') ? 'txn-commit' : 'txn-monitor'
}
