import { expectAtLeast, expectCount, invalid } from './node.js'
import type { Builders, Evaluate, Node, Operands } from './node.js'
import { ExpressionType } from './expression-type.js'
import { Opcode } from './opcode.js'

/** `test, value, test, value, …, default` */
function cond(operands: Operands, count: number): Node {
  expectAtLeast(count, 3)
  if (count % 2 === 0) throw invalid('a default is missing')
  const cases: { test: Evaluate; value: Evaluate }[] = []
  const values: Node[] = []
  for (let i = 1; i < count; i += 2) {
    const test = operands.nodeOf(ExpressionType.BOOL).evaluate
    const value = operands.node()
    values.push(value)
    cases.push({ test, value: value.evaluate })
  }
  const otherwise = operands.node()
  values.push(otherwise)
  return {
    type: commonType(values),
    evaluate: (frame) => {
      for (const { test, value } of cases) {
        const holds = test(frame)
        if (holds === undefined) return undefined
        if (holds === true) return value(frame)
      }
      return otherwise.evaluate(frame)
    },
  }
}

/** The literal `unknown` fits beside every type. */
function commonType(nodes: Node[]): ExpressionType {
  const known = nodes.filter((node) => !node.isUnknown)
  if (known.some((node) => node.type !== known[0].type)) throw invalid('the values have different types')
  return known.length > 0 ? known[0].type : ExpressionType.BOOL
}

/** `name, value, name, value, …, body`; a later value sees the earlier names, and an unused unknown does no harm. */
function letIn(operands: Operands, count: number): Node {
  expectAtLeast(count, 3)
  if (count % 2 === 0) throw invalid('a body is missing')
  return operands.scope.within(() => {
    const slots: number[] = []
    const values: Evaluate[] = []
    for (let i = 1; i < count; i += 2) {
      const variable = operands.scope.declare(operands.text())
      const value = operands.node()
      variable.define(value.type)
      slots.push(variable.slot)
      values.push(value.evaluate)
    }
    const body = operands.node()
    return {
      type: body.type,
      isUnknown: body.isUnknown,
      evaluate: (frame) => {
        for (let i = 0; i < slots.length; i++) frame.variables[slots[i]] = values[i](frame)
        return body.evaluate(frame)
      },
    }
  })
}

function variable(operands: Operands, count: number): Node {
  expectCount(count, 1)
  const { slot, type } = operands.scope.lookup(operands.text())
  return { type, evaluate: (frame) => frame.variables[slot] }
}

export const control: Builders = {
  [Opcode.COND]: cond,
  [Opcode.LET]: letIn,
  [Opcode.VARIABLE]: variable,
}
