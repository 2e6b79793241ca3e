import { ExpressionType } from './expression-type.js'
import { boolNode, expectAtLeast, expectCount, nodesOf } from './node.js'
import type { Builder, Builders, Node, Operands } from './node.js'
import { Opcode } from './opcode.js'

function unknown(_operands: Operands, count: number): Node {
  expectCount(count, 0)
  return { ...boolNode(() => undefined), isUnknown: true }
}

/** `and` ends at the first false, `or` at the first true; both look past what is unknown for it. */
function untilDecided(decisive: boolean): Builder {
  return (operands, count) => {
    expectAtLeast(count, 2)
    const evaluators = nodesOf(operands, count, ExpressionType.BOOL)
    return boolNode((frame) => {
      let result: boolean | undefined = !decisive
      for (const evaluate of evaluators) {
        const value = evaluate(frame)
        if (value === decisive) return decisive
        if (value === undefined) result = undefined
      }
      return result
    })
  }
}

function not(operands: Operands, count: number): Node {
  expectCount(count, 1)
  const operand = operands.nodeOf(ExpressionType.BOOL).evaluate
  return boolNode((frame) => {
    const value = operand(frame)
    return value === undefined ? undefined : value !== true
  })
}

/** True where exactly one operand is; decided by the second true, or unknown by the first unknown. */
function exclusive(operands: Operands, count: number): Node {
  expectAtLeast(count, 2)
  const evaluators = nodesOf(operands, count, ExpressionType.BOOL)
  return boolNode((frame) => {
    let found = false
    for (const evaluate of evaluators) {
      const value = evaluate(frame)
      if (value === undefined) return undefined
      if (value === true) {
        if (found) return false
        found = true
      }
    }
    return found
  })
}

export const logic: Builders = {
  [Opcode.UNKNOWN]: unknown,
  [Opcode.AND]: untilDecided(false),
  [Opcode.OR]: untilDecided(true),
  [Opcode.NOT]: not,
  [Opcode.EXCLUSIVE]: exclusive,
}
