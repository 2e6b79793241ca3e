import { MsgpackReader } from '../value/msgpack-reader.js'
import type { Value } from '../value/value.js'
import { BoundedCache } from './bounded-cache.js'
import { invalid } from './node.js'
import { parsePath, type PathCall } from './path.js'
import { ExpressionParser } from './parser.js'

/** A selection or change by path, ready to run on any bin. */
interface PathOperation {
  readonly call: PathCall
  readonly variableCount: number
}

const MAX_BYTES = 1 << 20

const operations = new BoundedCache<PathOperation>(1024)

export function parsePathOperation(payload: Buffer, modifies: boolean): PathOperation {
  const operation = operations.getOrMake(payload, parse)
  if (operation.call.modifies !== modifies) throw invalid('a change by path is not a read')
  return operation
}

function parse(payload: Buffer): PathOperation {
  if (payload.length > MAX_BYTES) throw invalid('the path is too long')
  const reader = new MsgpackReader(payload)
  const parser = new ExpressionParser(reader)
  const call = parsePath(parser)
  if (!reader.done) throw invalid('something follows the path')
  return { call, variableCount: parser.scope.slots }
}

/** The value that a selection answers, or that the bin holds after a change. */
export function runPath({ call, variableCount }: PathOperation, subject: Value | undefined): Value {
  return call.run(subject, new Array<undefined>(variableCount))
}
