import type { Bytes } from '../value/value.js'
import { ExpressionType } from './expression-type.js'
import { shapeOf } from './geo-shape.js'
import { boolNode, expectCount, type Builders, type Node, type Operands } from './node.js'
import { Opcode } from './opcode.js'

/** True where one operand is a region and the other a point in it. */
function compareGeo(operands: Operands, count: number): Node {
  expectCount(count, 2)
  const left = operands.nodeOf(ExpressionType.GEOJSON).evaluate
  const right = operands.nodeOf(ExpressionType.GEOJSON).evaluate
  return boolNode((frame) => {
    const a = left(frame)
    const b = right(frame)
    const shapeA = a === undefined ? undefined : shapeOf(a as Bytes)
    const shapeB = b === undefined ? undefined : shapeOf(b as Bytes)
    if (shapeA === undefined || shapeB === undefined) return undefined
    if ('point' in shapeA) return 'region' in shapeB && shapeB.region(shapeA.point)
    return 'point' in shapeB && shapeA.region(shapeB.point)
  })
}

export const geo: Builders = {
  [Opcode.COMPARE_GEO]: compareGeo,
}
