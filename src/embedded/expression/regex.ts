import { Bytes } from '../value/value.js'
import { ExpressionType } from './expression-type.js'
import { boolNode, expectCount, type Builders, type Node, type Operands } from './node.js'
import { Opcode } from './opcode.js'
import { compilePosixRegex, toByteUnits } from './posix-regex.js'

const EXTENDED = 1
const IGNORE_CASE = 2
const NEWLINE = 4

/** `options, pattern, string`: a POSIX search anywhere in the string. */
function match(operands: Operands, count: number): Node {
  expectCount(count, 3)
  const options = Number(operands.integer())
  const pattern = compilePosixRegex(operands.text(), {
    extended: (options & EXTENDED) !== 0,
    ignoreCase: (options & IGNORE_CASE) !== 0,
    newline: (options & NEWLINE) !== 0,
  })
  const subject = operands.nodeOf(ExpressionType.STRING).evaluate
  return boolNode((frame) => {
    const text = subject(frame)
    if (text === undefined) return undefined
    return search(pattern, toByteUnits(text instanceof Bytes ? text.bytes : (text as string)))
  })
}

/** A pattern that runs out of memory on a text has no known result. */
function search(pattern: RegExp, text: string): boolean | undefined {
  try {
    return pattern.test(text)
  } catch {
    return undefined
  }
}

export const regex: Builders = {
  [Opcode.REGEX]: match,
}
