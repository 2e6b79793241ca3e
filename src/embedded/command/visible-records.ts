import { compileFilter, passesFilter } from '../expression/index.js'
import { MAX_SET_NAME } from '../protocol/constants.js'
import type { Request } from '../protocol/request.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { nowSeconds } from '../store/clock.js'
import type { Namespace } from '../store/namespace.js'
import type { RecordState } from '../store/record-state.js'
import type { Slot } from '../store/slot.js'

/** Answers what a query may see of a record: its committed state, if it is of the set and passes the filter. */
export function visibleTo(namespace: Namespace, request: Request): (slot: Slot) => RecordState | undefined {
  const { setName } = request
  if (Buffer.byteLength(setName) > MAX_SET_NAME) throw new CommandError(ResultCode.PARAMETER, 'set name')
  // Compiled once: the request's bytes may be gone by the time the last record is looked at.
  const filter = request.filter && compileFilter(request.filter)
  return (slot) => {
    const state = namespace.live(slot, nowSeconds())
    if (state === undefined || (setName !== '' && state.setName !== setName)) return undefined
    return filter === undefined || passesFilter(filter, state) ? state : undefined
  }
}
