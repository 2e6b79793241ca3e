import { compareValues } from '../value/compare.js'
import { Float, type Value } from '../value/value.js'
import { workOn } from '../value/work-on.js'
import { compareContainers } from './compare-containers.js'
import { ExpressionType } from './expression-type.js'
import { boolNode, expectCount, invalid, type Builder, type Builders } from './node.js'
import { Opcode } from './opcode.js'

/** The sign of the order of two values of one type; NaN where floats have none, undefined where it is unknown. */
type Order = (a: Value, b: Value) => number | undefined

function compareNumbers(a: number | bigint, b: number | bigint): number {
  return a < b ? -1 : a > b ? 1 : a == b ? 0 : NaN
}

/** Long values are compared at the cost of the request. */
function counted(order: Order): Order {
  return (a, b) => {
    workOn(a)
    return order(a, b)
  }
}

const ORDERS: Partial<Record<ExpressionType, Order>> = {
  [ExpressionType.NIL]: () => 0,
  [ExpressionType.BOOL]: (a, b) => Number(a) - Number(b),
  [ExpressionType.INTEGER]: (a, b) => compareNumbers(a as number, b as number),
  [ExpressionType.FLOAT]: (a, b) => compareNumbers((a as Float).value, (b as Float).value),
  [ExpressionType.STRING]: counted(compareValues),
  [ExpressionType.BLOB]: counted(compareValues),
  [ExpressionType.LIST]: counted(compareContainers),
  [ExpressionType.MAP]: counted(compareContainers),
}

function comparison(accept: (order: number) => boolean): Builder {
  return (operands, count) => {
    expectCount(count, 2)
    const left = operands.node()
    const right = operands.node()
    if (left.type !== right.type) throw invalid('only values of one type can be compared')
    const order = ORDERS[left.type]
    if (order === undefined) throw invalid('values of this type cannot be compared')
    return boolNode((frame) => {
      const a = left.evaluate(frame)
      if (a === undefined) return undefined
      const b = right.evaluate(frame)
      if (b === undefined) return undefined
      const result = order(a, b)
      return result === undefined ? undefined : accept(result)
    })
  }
}

export const comparisons: Builders = {
  [Opcode.EQUAL]: comparison((order) => order === 0),
  [Opcode.NOT_EQUAL]: comparison((order) => order !== 0),
  [Opcode.GREATER]: comparison((order) => order > 0),
  [Opcode.GREATER_OR_EQUAL]: comparison((order) => order >= 0),
  [Opcode.LESS]: comparison((order) => order < 0),
  [Opcode.LESS_OR_EQUAL]: comparison((order) => order <= 0),
}
