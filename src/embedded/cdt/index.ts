import { requestBudget } from '../protocol/request-budget.js'
import { CommandError, ResultCode } from '../protocol/result-code.js'
import { encodedSize } from '../value/encoded-size.js'
import { ListValue, MapValue, type Value } from '../value/value.js'
import { workOn, workOnPlace, workOnSearch } from '../value/work-on.js'
import { Arguments } from './arguments.js'
import type { CdtCall } from './call.js'
import { changeAt, readAt, type Changed } from './context.js'
import { LIST_CHANGES } from './list-changes.js'
import { LIST_READS } from './list-queries.js'
import { MAP_CHANGES } from './map-changes.js'
import { MAP_READS } from './map-queries.js'
import { FIRST_MAP_OPCODE, ListOpcode, MapOpcode } from './opcode.js'
import type { Change, Container, Read } from './operation.js'

export { makeCdtCall, parseCdt, type CdtCall } from './call.js'
export { CreateMode, parseContext, parseLevel, type ContextLevel } from './context-level.js'
export { readAt } from './context.js'
export { isContainer } from './context-search.js'
export type { Container } from './operation.js'
export type { Loop, Path, PathStep } from './path.js'
export { REMOVED, modifyByPath } from './path-modify.js'
export { selectByPath } from './path-select.js'

/** Calls that find one element by its key or index, and touch no other. */
const AT_ONE_PLACE: ReadonlySet<number> = new Set([
  ListOpcode.SIZE,
  ListOpcode.GET,
  ListOpcode.GET_BY_INDEX,
  MapOpcode.ADD,
  MapOpcode.PUT,
  MapOpcode.REPLACE,
  MapOpcode.INCREMENT,
  MapOpcode.DECREMENT,
  MapOpcode.REMOVE_BY_KEY,
  MapOpcode.SIZE,
  MapOpcode.GET_BY_KEY,
  MapOpcode.GET_BY_INDEX,
])

export interface CdtChange {
  /** Value of the bin afterwards; undefined while it stays missing. */
  readonly subject: Value | undefined
  readonly result: Value
}

/** Answers a reading call on an existing bin. */
export function readCdt(call: CdtCall, subject: Value): Value {
  const container = readAt(subject, call.context)
  if (AT_ONE_PLACE.has(call.opcode)) workOnSearch(container)
  else workOn(container)
  if (call.opcode < FIRST_MAP_OPCODE) return read(call, LIST_READS, requireList(container))
  return read(call, MAP_READS, requireMap(container))
}

/** Answers a changing call; the subject is undefined where the bin is missing. */
export function modifyCdt(call: CdtCall, subject: Value | undefined): CdtChange {
  const sizeBefore = subject === undefined ? 0 : encodedSize(subject)
  const { value, result } = changeAt(subject, call.context, (container) => {
    if (container !== undefined) (AT_ONE_PLACE.has(call.opcode) ? workOnPlace : workOn)(container)
    return call.opcode < FIRST_MAP_OPCODE
      ? change(call, LIST_CHANGES, container === undefined ? undefined : requireList(container), subject)
      : change(call, MAP_CHANGES, container === undefined ? undefined : requireMap(container), subject)
  })
  if (value !== undefined && value !== subject) requestBudget.grow(encodedSize(value) - sizeBefore)
  return { subject: value, result }
}

function read<C extends Container>(call: CdtCall, reads: Readonly<Record<number, Read<C>>>, container: C): Value {
  const operation = known(call, reads)
  return operation.answer(container, new Arguments(call.args, operation.takes))
}

function change<C extends Container>(
  call: CdtCall,
  changes: Readonly<Record<number, Change<C>>>,
  container: C | undefined,
  bin: Value | undefined,
): Changed {
  const operation = known(call, changes)
  if (container === undefined) return begin(call, operation, bin)
  const outcome = operation.run(container, new Arguments(call.args, operation.takes))
  return { value: outcome.container, result: outcome.result }
}

/** A call where there is nothing yet: most removals do nothing, most additions start with an empty container. */
function begin<C extends Container>(call: CdtCall, operation: Change<C>, bin: Value | undefined): Changed {
  const code = bin === undefined ? operation.missingBin : operation.missingElement
  if (code !== undefined) throw new CommandError(code, 'there is nothing to change')
  if (operation.start === undefined) return { value: undefined, result: null }
  const args = new Arguments(call.args, operation.takes)
  const empty = operation.start(args)
  const outcome = operation.run(empty, args)
  // A bin stays created even where the flags left nothing to write; an element of a context does not.
  const isCreated = outcome.container !== empty || call.context.length === 0
  return { value: isCreated ? outcome.container : undefined, result: outcome.result }
}

function known<O>(call: CdtCall, operations: Readonly<Record<number, O>>): O {
  const operation = operations[call.opcode] as O | undefined
  if (operation === undefined) throw new CommandError(ResultCode.PARAMETER, `no such call: ${call.opcode}`)
  return operation
}

function requireList(value: Value): ListValue {
  if (value instanceof ListValue) return value
  throw new CommandError(ResultCode.INCOMPATIBLE_TYPE, 'not a list')
}

function requireMap(value: Value): MapValue {
  if (value instanceof MapValue) return value
  throw new CommandError(ResultCode.INCOMPATIBLE_TYPE, 'not a map')
}
