import { equalValues } from '../value/compare.js'
import { ListValue, MapValue, type Value } from '../value/value.js'
import { workOn } from '../value/work-on.js'
import { ExpressionType } from './expression-type.js'
import { boolNode, constantNode, expectCount, invalid, valueNode } from './node.js'
import type { Builder, Builders, Node, Operands } from './node.js'
import { Opcode } from './opcode.js'

/** Lists stand quoted in an expression, because a plain list is an operator. */
function quote(operands: Operands, count: number): Node {
  expectCount(count, 1)
  if (!operands.atList()) throw invalid('only a list can be quoted')
  return constantNode(ExpressionType.LIST, operands.value())
}

function inList(operands: Operands, count: number): Node {
  expectCount(count, 2)
  const wanted = valueNode(operands).evaluate
  const list = operands.nodeOf(ExpressionType.LIST).evaluate
  return boolNode((frame) => {
    const value = wanted(frame)
    if (value === undefined) return undefined
    const container = list(frame)
    if (container === undefined) return undefined
    workOn(container)
    return (container as ListValue).items.some((item) => equalValues(value, item))
  })
}

function listOf(part: (map: MapValue) => readonly Value[]): Builder {
  return (operands, count) => {
    expectCount(count, 1)
    const operand = operands.node().evaluate
    return {
      type: ExpressionType.LIST,
      evaluate: (frame) => {
        const map = operand(frame)
        return map instanceof MapValue ? new ListValue(part(map)) : undefined
      },
    }
  }
}

export const collections: Builders = {
  [Opcode.QUOTE]: quote,
  [Opcode.IN_LIST]: inList,
  [Opcode.MAP_KEYS]: listOf((map) => map.keys),
  [Opcode.MAP_VALUES]: listOf((map) => map.values),
}
