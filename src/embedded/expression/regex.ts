import { compileRegex } from '../regex/index.js'
import { Bytes } from '../value/value.js'
import { ExpressionType } from './expression-type.js'
import { boolNode, expectCount, type Builders, type Node, type Operands } from './node.js'
import { Opcode } from './opcode.js'

const EXTENDED = 1
const IGNORE_CASE = 2
const NEWLINE = 4

/** `options, pattern, string`: a POSIX search anywhere in the string. */
function match(operands: Operands, count: number): Node {
  expectCount(count, 3)
  const options = Number(operands.integer())
  const search = compileRegex(operands.text(), {
    extended: (options & EXTENDED) !== 0,
    ignoreCase: (options & IGNORE_CASE) !== 0,
    newline: (options & NEWLINE) !== 0,
  })
  const subject = operands.nodeOf(ExpressionType.STRING).evaluate
  return boolNode((frame) => {
    const text = subject(frame)
    if (text === undefined) return undefined
    return search.test(text instanceof Bytes ? text.bytes : Buffer.from(text as string))
  })
}

export const regex: Builders = {
  [Opcode.REGEX]: match,
}
