import { ExpressionType } from './expression-type.js'
import * as int64 from './int64.js'
import type { Int64 } from './int64.js'
import { expectAtLeast, expectCount, integerNode, nodesOf, type Builder, type Builders } from './node.js'
import { Opcode } from './opcode.js'

function many(step: (a: Int64, b: Int64) => Int64): Builder {
  return (operands, count) => {
    expectAtLeast(count, 1)
    const evaluators = nodesOf(operands, count, ExpressionType.INTEGER)
    return integerNode((frame) => {
      let result = evaluators[0](frame)
      for (let i = 1; i < evaluators.length && result !== undefined; i++) {
        const value = evaluators[i](frame)
        result = value === undefined ? undefined : step(result as Int64, value as Int64)
      }
      return result
    })
  }
}

function one(apply: (value: Int64) => Int64): Builder {
  return (operands, count) => {
    expectCount(count, 1)
    const operand = operands.nodeOf(ExpressionType.INTEGER).evaluate
    return integerNode((frame) => {
      const value = operand(frame)
      return value === undefined ? undefined : apply(value as Int64)
    })
  }
}

function shift(apply: (value: Int64, by: Int64) => Int64): Builder {
  return (operands, count) => {
    expectCount(count, 2)
    return many(apply)(operands, 2)
  }
}

/** Looks for a 1, or for a 0 where the second operand is false. */
function scan(find: (value: Int64) => number): Builder {
  return (operands, count) => {
    expectCount(count, 2)
    const operand = operands.nodeOf(ExpressionType.INTEGER).evaluate
    const forOne = operands.nodeOf(ExpressionType.BOOL).evaluate
    return integerNode((frame) => {
      const value = operand(frame)
      if (value === undefined) return undefined
      const one = forOne(frame)
      if (one === undefined) return undefined
      return find(one === true ? (value as Int64) : int64.not(value as Int64))
    })
  }
}

export const integerBits: Builders = {
  [Opcode.BITS_AND]: many(int64.and),
  [Opcode.BITS_OR]: many(int64.or),
  [Opcode.BITS_XOR]: many(int64.xor),
  [Opcode.BITS_NOT]: one(int64.not),
  [Opcode.SHIFT_LEFT]: shift(int64.shiftLeft),
  [Opcode.SHIFT_RIGHT]: shift(int64.shiftRight),
  [Opcode.SHIFT_RIGHT_SIGNED]: shift(int64.shiftRightSigned),
  [Opcode.COUNT_ONES]: one(int64.countOnes),
  [Opcode.SCAN_FROM_LEFT]: scan(int64.firstOneFromLeft),
  [Opcode.SCAN_FROM_RIGHT]: scan(int64.firstOneFromRight),
}
