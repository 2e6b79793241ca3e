import { CommandError, ResultCode } from '../protocol/result-code.js'
import { MsgpackReader } from '../value/msgpack-reader.js'
import { isInteger, type Value } from '../value/value.js'
import { BoundedCache } from './bounded-cache.js'
import { compileNext, evaluate, type CompiledExpression } from './compile.js'
import { invalid } from './node.js'
import type { RecordView } from './record-view.js'

const Flag = { CREATE_ONLY: 1, UPDATE_ONLY: 2, ALLOW_DELETE: 4, POLICY_NO_FAIL: 8, EVAL_NO_FAIL: 16 } as const
const READ_FLAGS = Flag.EVAL_NO_FAIL
const MODIFY_FLAGS = 31

/** Effect of an expression write on its bin. */
export type ExpressionChange = { value: Value } | { remove: true } | { unchanged: true }

interface ExpressionOperation {
  readonly expression: CompiledExpression
  readonly flags: number
}

const operations = new BoundedCache<ExpressionOperation>(1024)

/** Answers an expression read, whose payload is `[expression, flags]`. */
export function readExpression(payload: Buffer, record: RecordView): Value | null {
  const { expression, flags } = parse(payload, READ_FLAGS)
  const value = evaluate(expression, record)
  if (value !== undefined) return value
  if (flags & Flag.EVAL_NO_FAIL) return null
  throw unknownResult()
}

/** Decides what an expression write does to a bin; its payload is `[expression, flags]`. */
export function modifyExpression(payload: Buffer, record: RecordView, binName: string): ExpressionChange {
  const { expression, flags } = parse(payload, MODIFY_FLAGS)
  const exists = record.bin(binName) !== undefined
  if (flags & (exists ? Flag.CREATE_ONLY : Flag.UPDATE_ONLY)) {
    if (flags & Flag.POLICY_NO_FAIL) return { unchanged: true }
    throw new CommandError(exists ? ResultCode.BIN_EXISTS : ResultCode.BIN_NOT_FOUND)
  }
  const value = evaluate(expression, record)
  if (value === undefined) {
    if (flags & Flag.EVAL_NO_FAIL) return { unchanged: true }
    throw unknownResult()
  }
  if (value !== null) return { value }
  if (!exists) return { unchanged: true }
  if (flags & Flag.ALLOW_DELETE) return { remove: true }
  // The server lets every other flag pass here, not only POLICY_NO_FAIL.
  if (flags !== 0) return { unchanged: true }
  throw new CommandError(ResultCode.NOT_APPLICABLE, 'the expression would delete the bin')
}

function parse(payload: Buffer, allowed: number): ExpressionOperation {
  const operation = operations.getOrMake(payload, parseOperation)
  if (operation.flags & ~allowed) throw invalid('these flags are not allowed')
  return operation
}

function parseOperation(payload: Buffer): ExpressionOperation {
  const reader = new MsgpackReader(payload)
  const count = reader.listHeader()
  if (count !== 1 && count !== 2) throw invalid('an expression operation is an expression and its flags')
  const expression = compileNext(reader)
  const flags = count === 2 ? reader.read() : 0
  if (!isInteger(flags) || flags < 0 || flags > MODIFY_FLAGS) throw invalid('these flags are not known')
  return { expression, flags: Number(flags) }
}

function unknownResult(): CommandError {
  return new CommandError(ResultCode.NOT_APPLICABLE, 'the expression has no known value')
}
