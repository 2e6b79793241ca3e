import { CommandError, ResultCode } from '../protocol/result-code.js'
import { decodeMsgpack } from '../value/msgpack-reader.js'
import { ListValue, type Value } from '../value/value.js'
import { PATH_OPCODE } from './opcode.js'
import { parseContext, type ContextLevel } from './context-level.js'

/** A list or map operation: what to do, with which arguments, and to which nested container. */
export interface CdtCall {
  readonly opcode: number
  readonly args: readonly Value[]
  /** The way from the bin to the container; empty for the bin itself. */
  readonly context: readonly ContextLevel[]
}

/** Stands where an opcode would, and says that a context list and the actual call follow. */
const WITH_CONTEXT = 0xff

/** Reads `[opcode, …args]` or `[0xff, context, [opcode, …args]]`. */
export function parseCdt(payload: Buffer): CdtCall {
  const { items } = expectList(decodeMsgpack(payload))
  if (items[0] !== WITH_CONTEXT) return makeCdtCall(items[0], items.slice(1))
  if (items.length !== 3) throw new CommandError(ResultCode.PARAMETER, 'a context must be followed by one call')
  const [opcode, ...args] = expectList(items[2]).items
  return makeCdtCall(opcode, args, items[1])
}

/** A call from values that are already decoded; `context` is the list `[type, value, type, value, …]`. */
export function makeCdtCall(opcode: Value | undefined, args: readonly Value[], context?: Value): CdtCall {
  if (typeof opcode !== 'number') throw new CommandError(ResultCode.PARAMETER, 'a call must start with its opcode')
  if (opcode === PATH_OPCODE) throw new CommandError(ResultCode.PARAMETER, 'a path stands for itself')
  return { opcode, args, context: context === undefined ? [] : parseContext(context) }
}

function expectList(value: Value): ListValue {
  if (value instanceof ListValue) return value
  throw new CommandError(ResultCode.PARAMETER, 'a list or map call must be a list')
}
