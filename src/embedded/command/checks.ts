import { compileExpression, passesFilter } from '../expression/index.js'
import { Info2, MAX_BIN_NAME } from '../protocol/constants.js'
import type { Request } from '../protocol/request.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import type { RecordState } from '../store/record-state.js'
import { Particle } from '../value/particle.js'

/** A missing record counts as generation 0. */
export function checkGeneration(request: Request, state: RecordState | undefined): void {
  const stored = state?.generation ?? 0
  if (request.info2 & Info2.GENERATION && request.generation !== stored) throw new CommandError(ResultCode.GENERATION)
  if (request.info2 & Info2.GENERATION_GT && request.generation <= stored) throw new CommandError(ResultCode.GENERATION)
}

/** A record belongs to one set. An empty name is a mistake in a write only: a delete may leave it out. */
export function checkSetName(request: Request, state: RecordState): void {
  const leftOut = request.setName === '' && (request.info2 & Info2.DELETE) !== 0
  if (request.setName !== state.setName && !leftOut) throw new CommandError(ResultCode.PARAMETER, 'set name mismatch')
}

export function checkFilter(request: Request, state: RecordState): void {
  if (request.filter !== undefined && !passesFilter(compileExpression(request.filter), state)) {
    throw new CommandError(ResultCode.FILTERED_OUT)
  }
}

export function checkUserKey(request: Request, state: RecordState): void {
  const sent = request.userKey
  const stored = state.storedKey
  if (sent === undefined || stored === undefined) return
  if (sent[0] !== stored.type || !sent.subarray(1).equals(stored.wire)) throw new CommandError(ResultCode.KEY_MISMATCH)
}

export function userKeyOf(request: Request): Particle | undefined {
  const sent = request.userKey
  return sent && Particle.fromWire(sent[0], Buffer.from(sent.subarray(1)))
}

/** The name is measured in bytes. */
export function checkBinName(name: string): void {
  if (name.length > MAX_BIN_NAME || Buffer.byteLength(name) > MAX_BIN_NAME) throw new CommandError(ResultCode.BIN_NAME)
}
