import { hasFeature } from '../build.js'
import { Info1, Info2 } from '../protocol/constants.js'
import { outcome, type Outcome } from '../protocol/reply.js'
import type { Request } from '../protocol/request.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import type { Store } from '../store/store.js'
import { readRecord } from './read.js'
import { isTransactionVerb, MONITOR_SET, runMonitorCommand, runTransactionVerb } from './transaction-commands.js'
import { deleteRecord, writeRecord } from './write.js'

/** Runs a command on one record, alone or as a row of a batch. */
export function runRecordCommand(store: Store, request: Request): Outcome {
  try {
    const namespace = store.namespace(request.namespace)
    if (!hasFeature('transactions')) ignoreTransaction(request)
    else if (isTransactionVerb(request)) return runTransactionVerb(namespace, request)
    else if (request.setName === MONITOR_SET) return runMonitorCommand(namespace, request)
    if (request.fields?.size && hasUnsupportedField(request)) return outcome(ResultCode.UNSUPPORTED)
    if (request.info2 & Info2.DELETE) return deleteRecord(namespace, request)
    if (request.info2 & Info2.WRITE) return writeRecord(namespace, request)
    if (request.info1 & Info1.READ) return readRecord(namespace, request)
    return outcome(ResultCode.PARAMETER)
  } catch (error) {
    if (error instanceof CommandError) return outcome(error.code)
    throw error
  }
}

/** Older servers do not know the fields of transactions and write as if there were none; monitors are records to them. */
function ignoreTransaction(request: Request): void {
  request.transactionId = undefined
  request.recordVersion = undefined
}

const UDF_FIELDS = [30, 31, 32, 33]

function hasUnsupportedField(request: Request): boolean {
  return UDF_FIELDS.some((id) => request.fields!.has(id))
}
