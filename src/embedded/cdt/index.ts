import { CommandError, ResultCode } from '../protocol/result-code.js'
import type { Value } from '../value/value.js'
import type { CdtCall } from './call.js'

export { makeCdtCall, parseCdt, type CdtCall } from './call.js'
export { parseContext, type ContextLevel } from './context-level.js'

export interface CdtChange {
  /** What the bin holds afterwards; undefined while it stays missing. */
  readonly subject: Value | undefined
  readonly result: Value
}

/** Answers a reading call on an existing bin. */
export function readCdt(call: CdtCall, _subject: Value): Value {
  throw unknownCall(call)
}

/** Answers a changing call; the subject is undefined where the bin is missing. */
export function modifyCdt(call: CdtCall, _subject: Value | undefined): CdtChange {
  throw unknownCall(call)
}

function unknownCall(call: CdtCall): CommandError {
  return new CommandError(ResultCode.PARAMETER, `there is no list or map call ${call.opcode}`)
}
