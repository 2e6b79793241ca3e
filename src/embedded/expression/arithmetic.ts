import { Float, type Value } from '../value/value.js'
import { ExpressionType } from './expression-type.js'
import * as int64 from './int64.js'
import type { Int64 } from './int64.js'
import { expectAtLeast, expectCount, integerNode, invalid, nodesOf } from './node.js'
import type { Builder, Builders, Evaluate, Node, Operands } from './node.js'
import { Opcode } from './opcode.js'

/** Numbers as the operators see them: floats unwrapped, undefined = unknown. */
type IntegerFold = (values: Int64[]) => Int64 | undefined
type FloatFold = (values: number[]) => number

/** Operators over one or more numbers that are all integers or all floats. */
function fold(ofIntegers: IntegerFold, ofFloats: FloatFold): Builder {
  return (operands, count) => {
    expectAtLeast(count, 1)
    const nodes = numbers(operands, count)
    const evaluators = nodes.map((node) => node.evaluate)
    if (nodes[0].type === ExpressionType.INTEGER) {
      return integerNode((frame) => {
        const values = evaluateAll(evaluators, frame)
        return values && ofIntegers(values as Int64[])
      })
    }
    return floatNode((frame) => {
      const values = evaluateAll(evaluators, frame)
      return values && new Float(ofFloats((values as Float[]).map((each) => each.value)))
    })
  }
}

function numbers(operands: Operands, count: number): Node[] {
  const nodes: Node[] = []
  for (let i = 0; i < count; i++) {
    const node = operands.node()
    if (node.type !== ExpressionType.INTEGER && node.type !== ExpressionType.FLOAT) throw invalid('not a number')
    if (i > 0 && node.type !== nodes[0].type) throw invalid('integers and floats do not mix')
    nodes.push(node)
  }
  return nodes
}

function evaluateAll(evaluators: Evaluate[], frame: Parameters<Evaluate>[0]): Value[] | undefined {
  const values: Value[] = []
  for (const evaluate of evaluators) {
    const value = evaluate(frame)
    if (value === undefined) return undefined
    values.push(value)
  }
  return values
}

function floatNode(evaluate: Evaluate): Node {
  return { type: ExpressionType.FLOAT, evaluate }
}

function oneFloat(apply: (value: number) => Value, type: ExpressionType = ExpressionType.FLOAT): Builder {
  return (operands, count) => {
    expectCount(count, 1)
    const operand = operands.nodeOf(ExpressionType.FLOAT).evaluate
    return {
      type,
      evaluate: (frame) => {
        const value = operand(frame)
        return value === undefined ? undefined : apply((value as Float).value)
      },
    }
  }
}

function twoFloats(apply: (a: number, b: number) => number): Builder {
  return (operands, count) => {
    expectCount(count, 2)
    const [first, second] = nodesOf(operands, 2, ExpressionType.FLOAT)
    return floatNode((frame) => {
      const a = first(frame)
      if (a === undefined) return undefined
      const b = second(frame)
      return b === undefined ? undefined : new Float(apply((a as Float).value, (b as Float).value))
    })
  }
}

/** Sums, products and the like go from left to right; one operand alone is the result. */
function chain<T>(step: (a: T, b: T) => T): (values: T[]) => T {
  return (values) => {
    let result = values[0]
    for (let i = 1; i < values.length; i++) result = step(result, values[i])
    return result
  }
}

/** All divisors are multiplied first, which matters for truncation and overflow. */
function divideIntegers(values: Int64[]): Int64 | undefined {
  const alone = values.length === 1
  const divisor = alone ? values[0] : chain(int64.multiply)(values.slice(1))
  if (divisor === 0) return undefined
  return int64.divide(alone ? 1 : values[0], divisor)
}

function divideFloats(values: number[]): number {
  if (values.length === 1) return 1 / values[0]
  return values[0] / values.slice(1).reduce((product, value) => product * value, 1)
}

const subtractFloats = chain((a: number, b: number) => a - b)
const subtractIntegers = chain(int64.subtract)

function modulo(operands: Operands, count: number): Node {
  expectCount(count, 2)
  const [dividend, divisor] = nodesOf(operands, 2, ExpressionType.INTEGER)
  return integerNode((frame) => {
    const a = dividend(frame)
    if (a === undefined) return undefined
    const b = divisor(frame)
    if (b === undefined || b === 0) return undefined
    return int64.remainder(a as Int64, b as Int64)
  })
}

function absolute(operands: Operands, count: number): Node {
  expectCount(count, 1)
  const [{ type, evaluate }] = numbers(operands, 1)
  return {
    type,
    evaluate: (frame) => {
      const value = evaluate(frame)
      if (value === undefined) return undefined
      return value instanceof Float ? new Float(Math.abs(value.value)) : int64.absolute(value as Int64)
    },
  }
}

function toFloat(operands: Operands, count: number): Node {
  expectCount(count, 1)
  const operand = operands.nodeOf(ExpressionType.INTEGER).evaluate
  return floatNode((frame) => {
    const value = operand(frame)
    return value === undefined ? undefined : new Float(Number(value))
  })
}

export const arithmetic: Builders = {
  [Opcode.ADD]: fold(
    chain(int64.add),
    chain((a, b) => a + b),
  ),
  [Opcode.SUBTRACT]: fold(
    (values) => (values.length === 1 ? int64.subtract(0, values[0]) : subtractIntegers(values)),
    (values) => (values.length === 1 ? 0 - values[0] : subtractFloats(values)),
  ),
  [Opcode.MULTIPLY]: fold(
    chain(int64.multiply),
    chain((a, b) => a * b),
  ),
  [Opcode.DIVIDE]: fold(divideIntegers, divideFloats),
  [Opcode.POWER]: twoFloats(Math.pow),
  [Opcode.LOGARITHM]: twoFloats((value, base) => Math.log(value) / Math.log(base)),
  [Opcode.MODULO]: modulo,
  [Opcode.ABSOLUTE]: absolute,
  [Opcode.FLOOR]: oneFloat((value) => new Float(Math.floor(value))),
  [Opcode.CEILING]: oneFloat((value) => new Float(Math.ceil(value))),
  [Opcode.TO_INTEGER]: oneFloat((value) => int64.fromFloat(value), ExpressionType.INTEGER),
  [Opcode.TO_FLOAT]: toFloat,
  [Opcode.MINIMUM]: fold(
    chain((a, b) => (a > b ? b : a)),
    chain((a, b) => (a > b ? b : a)),
  ),
  [Opcode.MAXIMUM]: fold(
    chain((a, b) => (a < b ? b : a)),
    chain((a, b) => (a < b ? b : a)),
  ),
}
