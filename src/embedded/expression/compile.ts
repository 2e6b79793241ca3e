import { requestBudget } from '../protocol/request-budget.js'
import { MsgpackReader } from '../value/msgpack-reader.js'
import type { Value } from '../value/value.js'
import { BoundedCache } from './bounded-cache.js'
import { ExpressionType } from './expression-type.js'
import { invalid, type Evaluate } from './node.js'
import { ExpressionParser } from './parser.js'
import type { RecordView } from './record-view.js'

/** A type-checked expression, ready to be evaluated on any record. */
export interface CompiledExpression {
  readonly type: ExpressionType
  readonly evaluate: Evaluate
  readonly variableCount: number
}

const MAX_BYTES = 1 << 20

const compiled = new BoundedCache<CompiledExpression>(1024)

/** Compiles the wire form of an expression; whatever is wrong with it is result code 4. */
export function compileExpression(bytes: Buffer): CompiledExpression {
  return compiled.getOrMake(bytes, compileAll)
}

function compileAll(bytes: Buffer): CompiledExpression {
  const reader = new MsgpackReader(bytes)
  const expression = compileNext(reader)
  if (!reader.done) throw invalid('something follows the expression')
  return expression
}

/** Compiles the expression that stands next in a longer payload. */
export function compileNext(reader: MsgpackReader): CompiledExpression {
  if (reader.end - reader.position > MAX_BYTES) throw invalid('the expression is too long')
  const parser = new ExpressionParser(reader)
  const { type, evaluate } = parser.node()
  return { type, evaluate, variableCount: parser.scope.slots }
}

const NO_VARIABLES: undefined[] = []

/** The value of an expression on a record, or undefined where it is unknown. */
export function evaluate(expression: CompiledExpression, record: RecordView): Value | undefined {
  const variables = expression.variableCount === 0 ? NO_VARIABLES : new Array<undefined>(expression.variableCount)
  return requestBudget.temporarily(() => expression.evaluate({ record, variables, loop: undefined }))
}

/** Compiles a filter, which must be boolean. */
export function compileFilter(bytes: Buffer): CompiledExpression {
  return requireBoolean(compileExpression(bytes))
}

/** Only true passes; false and unknown do not. A filter that is not boolean is an invalid request. */
export function passesFilter(expression: CompiledExpression, record: RecordView): boolean {
  return evaluate(requireBoolean(expression), record) === true
}

function requireBoolean(expression: CompiledExpression): CompiledExpression {
  if (expression.type !== ExpressionType.BOOL) throw invalid('a filter must be boolean')
  return expression
}
